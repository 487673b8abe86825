package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// codex reads the transcripts of Codex: ~/.codex/sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl. Both kinds of threads are
// read: legacy ones, in which an event tells what user and agent said, and paginated ones, in which a completed item
// does. The same messages stand there once more as response items, beside much that the client put in; so those are
// read for calls of tools alone.
func codex() *client {
	return &client{
		name: "codex", line: codexLine, folder: ".codex/sessions", below: "sessions",
		matches: func(rel string) bool { return strings.HasSuffix(Plain(rel), ".jsonl") }, // those of a week ago are compressed
	}
}

type codexEntry struct {
	Timestamp string       `json:"timestamp"`
	Type      string       `json:"type"`
	Payload   codexPayload `json:"payload"`
}

type codexPayload struct {
	Type string `json:"type"`

	// session_meta
	ID      string         `json:"id"`
	Forked  string         `json:"forked_from_id"`
	Parent  string         `json:"parent_thread_id"`
	CWD     string         `json:"cwd"`
	Version string         `json:"cli_version"`
	Ran     string         `json:"originator"` // codex_cli_rs, codex_vscode; codex_exec: a program ran it
	Source  jsontext.Value `json:"source"`     // "cli", "vscode", "exec", "mcp"; of a subagent an object
	Git     struct {
		Branch string `json:"branch"`
	} `json:"git"`

	Message string    `json:"message"` // user_message, agent_message
	Item    codexItem `json:"item"`    // item_completed

	// a call and its output
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
	Input     jsontext.Value `json:"input"`
	Action    jsontext.Value `json:"action"`
	Output    jsontext.Value `json:"output"`

	// token_count
	Info struct {
		Window int `json:"model_context_window"`
		Last   struct {
			Input int `json:"input_tokens"`
		} `json:"last_token_usage"`
	} `json:"info"`
}

type codexItem struct {
	Type    string                    `json:"type"`
	ID      string                    `json:"id"`
	Content jsontext.Value            `json:"content"`
	Exit    *int                      `json:"exit_code"`
	Status  string                    `json:"status"`
	Changes map[string]jsontext.Value `json:"changes"`
	Parsed  []struct {
		Type string `json:"type"`
	} `json:"parsed_cmd"`
}

func codexLine(r *reading, line []byte) {
	var e codexEntry
	if decode(line, &e) != nil {
		r.counts.Skipped++
		return
	}
	at, p := instant(e.Timestamp), &e.Payload
	switch {
	case e.Type == "session_meta":
		// A fork of a legacy thread repeats its parent's line after its own. The first counts.
		s := Session{ID: p.ID, Parent: p.Forked, Dir: p.CWD, Branch: p.Git.Branch, Version: p.Version, Began: at}
		if s.Parent == "" {
			s.Parent = p.Parent
		}
		s.Subagent = p.Parent != ""
		var source string
		_ = decode(p.Source, &source) // an object is no text
		s.Program = slices.Contains([]string{"exec", "mcp"}, source) || hasAny(p.Ran, "exec", "sdk")
		r.begin(s)
	case p.Type == "user_message":
		r.give(Turn{ID: codexID(e.Timestamp, User, p.Message), At: at, Role: User, Text: said(p.Message)})
	case p.Type == "agent_message":
		r.give(Turn{ID: codexID(e.Timestamp, Agent, p.Message), At: at, Role: Agent, Text: p.Message})
	case p.Type == "item_completed":
		r.codexItem(&e)
	case p.Type == "token_count":
		r.begin(Session{Context: p.Info.Last.Input, Window: p.Info.Window})
	case p.Type == "function_call", p.Type == "custom_tool_call", p.Type == "local_shell_call":
		c := newCall(p.CallID, codexTool(p), codexArguments(p))
		c.At = at
		r.call(c)
	case p.Type == "function_call_output", p.Type == "custom_tool_call_output":
		r.codexOutput(&e)
	default:
		r.counts.Skipped++
	}
}

// codexID is the id of a message of a legacy thread, which has none: its time and what it says.
func codexID(timestamp, role, text string) string {
	h := sha256.Sum256([]byte(timestamp + "\x00" + role + "\x00" + text))
	return hex.EncodeToString(h[:16])
}

func codexTool(p *codexPayload) string {
	if p.Name == "" {
		return "local_shell"
	}
	return p.Name
}

// codexArguments are the arguments of a call, which are JSON within a text, or for some tools just a text.
func codexArguments(p *codexPayload) jsontext.Value {
	for _, raw := range []jsontext.Value{p.Arguments, p.Input} {
		var text string
		if decode(raw, &text) == nil && strings.HasPrefix(strings.TrimSpace(text), "{") && complete([]byte(text)) {
			return jsontext.Value(text)
		}
		if len(raw) > 0 {
			return raw
		}
	}
	return p.Action
}

// codexItem reads an item of a paginated thread.
func (r *reading) codexItem(e *codexEntry) {
	item, at := &e.Payload.Item, instant(e.Timestamp)
	switch item.Type {
	case "UserMessage":
		r.give(Turn{ID: item.ID, At: at, Role: User, Text: said(textOf(item.Content))})
	case "AgentMessage":
		// The model numbers its messages anew in each answer of some providers.
		r.give(Turn{ID: item.ID + " " + e.Timestamp, At: at, Role: Agent, Text: textOf(item.Content)})
	case "CommandExecution", "FileChange":
		c := r.waiting(item.ID)
		if c == nil {
			return
		}
		if item.Exit != nil {
			ok := *item.Exit == 0
			c.OK = &ok
		} else if item.Status != "" {
			ok := item.Status == "completed"
			c.OK = &ok
		}
		if len(item.Changes) > 0 {
			c.Files, c.Edits = slices.Sorted(maps.Keys(item.Changes)), true
		}
		c.Reads = c.Reads || len(item.Parsed) > 0 && !slices.ContainsFunc(item.Parsed, func(p struct {
			Type string `json:"type"`
		}) bool {
			return p.Type != "read"
		})
	default:
		r.counts.Skipped++
	}
}

// codexOutput reads what a tool gave.
func (r *reading) codexOutput(e *codexEntry) {
	text := textOf(e.Payload.Output)
	var inner struct {
		Output   string `json:"output"`
		Metadata struct {
			Exit *int `json:"exit_code"`
		} `json:"metadata"`
	}
	exit := -1
	if strings.HasPrefix(text, "{") && decode([]byte(text), &inner) == nil && inner.Output != "" {
		text = inner.Output
		if inner.Metadata.Exit != nil {
			exit = *inner.Metadata.Exit
		}
	} else if m := codexExit().FindStringSubmatch(text[:min(len(text), 1000)]); m != nil {
		exit, _ = strconv.Atoi(m[1])
	}
	for range 2 { // a patch by the shell has two heads
		if head, body, ok := strings.Cut(text, "\nOutput:\n"); ok && len(head) < 400 && strings.Contains(head, "Wall time:") {
			text = body
		}
	}
	if c := r.waiting(e.Payload.CallID); c != nil {
		if c.OK == nil && exit >= 0 {
			ok := exit == 0
			c.OK = &ok
		}
		if c.OK == nil && strings.HasPrefix(text, "unsupported ") {
			c.OK = new(bool)
		}
	}
	r.result(e.Payload.CallID, text, instant(e.Timestamp))
}

// codexExit matches the exit code that the client writes before what a command gave.
var codexExit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:Process exited with code|Exit code:) (\d+)$`)
})
