package hook

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// pair is a member of an object.
type pair struct {
	key   string
	value any
}

// object is a JSON object whose members keep their order.
type object []pair

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, p := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(compact(p.key))
		b.WriteByte(':')
		b.Write(compact(p.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// compact is a value of the table as JSON, which can always be written.
func compact(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("hook: a value of the table: " + err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}

// plain is the entry that most clients want.
func plain(command string) any {
	return object{{"command", command}, {"args", []string{"mcp"}}}
}

// typed is an entry that says how the server is reached.
func typed(kind string) func(string) any {
	return func(command string) any {
		return object{{"type", kind}, {"command", command}, {"args", []string{"mcp"}}}
	}
}

// line is the command line of a hook. It must stay the same from version to
// version: Codex asks for approval again when it changes.
func line(command, client, event string) string {
	return fmt.Sprintf("%s hook %s %s", Shell(command), client, event)
}

// Shell is the path of a program as a shell reads it.
func Shell(command string) string {
	if strings.ContainsAny(command, " \t'&()$;") {
		return strconv.Quote(command)
	}
	return command
}

// grouped is the form of Claude Code's hooks, which others took over: a group
// with a matcher, and in it the hooks. unit is what a second is in its timeout.
func grouped(name string, unit int) func(event, string) any {
	return func(e event, command string) any {
		h := object{{"type", "command"}, {"command", line(command, name, e.ours)}, {"timeout", e.seconds * unit}}
		if e.matcher == "" {
			return object{{"hooks", []any{h}}}
		}
		return object{{"matcher", e.matcher}, {"hooks", []any{h}}}
	}
}

func copilotEntry(e event, command string) any {
	l := line(command, "copilot", e.ours)
	return object{{"type", "command"}, {"bash", l}, {"powershell", l}, {"timeoutSec", e.seconds}}
}

func cursorEntry(e event, command string) any {
	return object{{"command", line(command, "cursor", e.ours)}, {"timeout", e.seconds}}
}

// flat is Claude Code's form of a hook without a group around it.
func flat(name string) func(event, string) any {
	return func(e event, command string) any {
		return object{{"type", "command"}, {"command", line(command, name, e.ours)}, {"timeout", e.seconds}}
	}
}

// The events that are asked for. Where a client tells of the end of a session,
// it is not asked to tell of the end of each answer.

func claudeEvents() []event {
	return []event{
		{"SessionStart", SessionStart, "startup|resume|clear|compact", 10},
		{"UserPromptSubmit", UserPrompt, "", 5},
		{"PostToolUse", PostTool, "Read|Edit|MultiEdit|Write|NotebookEdit", 5},
		{"PreCompact", PreCompact, "manual|auto", 10},
		{"SubagentStart", SubagentStart, "", 5},
		{"SessionEnd", SessionEnd, "", 10},
	}
}

func codexEvents() []event {
	return []event{
		{"SessionStart", SessionStart, "startup|resume|clear|compact", 10},
		{"UserPromptSubmit", UserPrompt, "", 5},
		{"PostToolUse", PostTool, "apply_patch|Edit|Write", 5},
		{"PreCompact", PreCompact, "", 10},
		{"SubagentStart", SubagentStart, "", 5},
		{"SessionEnd", SessionEnd, "", 3},
	}
}

func geminiEvents() []event {
	return []event{
		{"SessionStart", SessionStart, "", 10},
		{"BeforeAgent", UserPrompt, "", 5},
		{"AfterTool", PostTool, "read_file|write_file|replace", 5},
		{"PreCompress", PreCompact, "", 10},
		{"SessionEnd", SessionEnd, "", 10},
	}
}

func copilotEvents() []event {
	return []event{
		{"sessionStart", SessionStart, "", 10},
		{"userPromptSubmitted", UserPrompt, "", 5},
		{"postToolUse", PostTool, "", 5},
		{"sessionEnd", SessionEnd, "", 10},
	}
}

func cursorEvents() []event {
	return []event{
		{"sessionStart", SessionStart, "", 10},
		{"postToolUse", PostTool, "", 5},
		{"preCompact", PreCompact, "", 10},
		{"sessionEnd", SessionEnd, "", 10},
	}
}

func vscodeEvents() []event {
	return []event{
		{"SessionStart", SessionStart, "", 10},
		{"UserPromptSubmit", UserPrompt, "", 5},
		{"PostToolUse", PostTool, "", 5},
		{"PreCompact", PreCompact, "", 10},
		{"SubagentStart", SubagentStart, "", 5},
		{"Stop", Stop, "", 10},
	}
}

func devinEvents() []event {
	return []event{
		{"SessionStart", SessionStart, "", 10},
		{"UserPromptSubmit", UserPrompt, "", 5},
		{"PostToolUse", PostTool, "read|edit|write", 5},
		{"SessionEnd", SessionEnd, "", 10},
	}
}

func clineEvents() []event {
	return []event{
		{"TaskStart", SessionStart, "", 0},
		{"TaskResume", SessionStart, "", 0},
		{"UserPromptSubmit", UserPrompt, "", 0},
		{"PostToolUse", PostTool, "", 0},
		{"PreCompact", PreCompact, "", 0},
		{"TaskComplete", Stop, "", 0},
	}
}
