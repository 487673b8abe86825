package hook

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
)

// maxInput is the most bytes that a client may send. They may include the whole output of
// a tool.
const maxInput = 32 << 20

// input is the JSON that a client sent. Any member may be missing or of another type.
type input map[string]any

// read reads one JSON object. It does not wait for the end of the input, since some clients
// leave it open. Empty input is an empty object. Windows shells may add a byte order mark.
func read(in io.Reader) (input, error) {
	if in == nil {
		return input{}, nil
	}
	limited := &io.LimitedReader{R: in, N: maxInput}
	text := bufio.NewReader(limited)
	if b, err := text.Peek(1); err == nil && b[0] == bom[0] { // to peek at more could block
		if b, err := text.Peek(len(bom)); err == nil && string(b) == bom {
			_, _ = text.Discard(len(b))
		}
	}
	var x input
	err := json.NewDecoder(text).Decode(&x)
	switch {
	case errors.Is(err, io.EOF) && limited.N == maxInput:
		return input{}, nil
	case limited.N == 0:
		return nil, fmt.Errorf("input of more than %d MiB", maxInput>>20)
	case err != nil:
		return nil, fmt.Errorf("input is not a JSON object: %w", err)
	}
	return x, nil
}

// text is the first of the named members that is a non-empty string.
func (in input) text(names ...string) string {
	for _, n := range names {
		if s, _ := in[n].(string); s != "" {
			return s
		}
	}
	return ""
}

// session is the client's name of the session, cut to what a log can hold.
func (in input) session() string {
	return prose.Clip(in.text("session_id", "sessionId", "conversation_id", "sessionID", "taskId"), 200)
}

// prompt is the user's prompt without the context that hooks added. Gemini CLI sends the
// briefing with the prompt, and the briefing would find its own facts.
func (in input) prompt() string {
	prompt := in.text("prompt", "user_prompt", "userPrompt", "task", "description")
	if inner, ok := in["userPromptSubmit"].(map[string]any); ok && prompt == "" {
		prompt = input(inner).text("prompt")
	}
	return hookContext().ReplaceAllString(prompt, "")
}

var hookContext = formats.Regexp(`(?s)<(?:hook_context|system-reminder)>.*?</(?:hook_context|system-reminder)>`)

// dir is where the client works.
func (in input) dir() string {
	roots, _ := in["workspace_roots"].([]any)
	more, _ := in["workspaceRoots"].([]any)
	for _, d := range slices.Concat([]any{in.text("cwd", "directory")}, roots, more) {
		if d, ok := d.(string); ok && filepath.IsAbs(d) {
			return d
		}
	}
	return ""
}

// client is the client that calls. Other clients run Claude Code's hooks too.
func (in input) client(named string) string {
	switch {
	case named != "claude-code":
	case in.text("session_id") == "" && in.text("sessionId") != "":
		return "copilot"
	case strings.Contains(filepath.ToSlash(in.text("transcript_path")), "/.codex/"):
		return "codex"
	}
	return named
}

// event is the client's name of the event, at most 40 letters.
func (in input) event() string {
	e := in.text("hook_event_name", "hookEventName")
	if len(e) > 40 || strings.ContainsFunc(e, func(r rune) bool { return (r|0x20) < 'a' || (r|0x20) > 'z' }) {
		return ""
	}
	return e
}

// The names of members in which clients say what a tool did.
var (
	toolMembers  = []string{"tool_input", "toolArgs", "toolInput", "input", "args", "postToolUse", "parameters"}
	pathMembers  = []string{"file_path", "filePath", "notebook_path", "absolute_path", "target_file", "path", "files", "paths", "file_paths"}
	patchMembers = []string{"command", "patch", "input"}
)

// command is the shell command that a tool runs.
func (in input) command() string {
	for _, name := range toolMembers {
		x := in[name]
		if text, ok := x.(string); ok {
			var inner map[string]any
			if json.Unmarshal([]byte(text), &inner) == nil {
				x = inner
			}
		}
		tool, ok := x.(map[string]any)
		if !ok {
			continue
		}
		switch c := tool["command"].(type) {
		case string:
			if !patched().MatchString(c) {
				return c
			}
		case []any: // bash -lc "…"
			if len(c) == 0 {
				continue
			}
			if last, ok := c[len(c)-1].(string); ok && !patched().MatchString(last) {
				return last
			}
		}
	}
	return ""
}

// edits reports whether a tool changes the files that it names.
func (in input) edits() bool {
	name := strings.ToLower(in.text("tool_name", "toolName", "tool"))
	return slices.ContainsFunc([]string{"edit", "write", "patch", "replace", "create", "insert"}, func(verb string) bool { return strings.Contains(name, verb) })
}

// assertion is the name of the fact that a call of our own tool stored, if it is one.
func (in input) assertion() (category, key string, ok bool) {
	tool, _ := in["tool_input"].(map[string]any)
	if !strings.HasSuffix(in.text("tool_name"), "ctx_knowledge") || !slices.Contains([]string{"remember", "pattern", "gotcha"}, input(tool).text("action")) {
		return "", "", false
	}
	x := input(tool)
	category, key = x.text("category"), x.text("key")
	switch x.text("action") {
	case "pattern":
		category, key = fact.RoomPattern, x.text("pattern_type")
	case "gotcha":
		category, key = fact.RoomGotcha, fact.Slug(x.text("trigger"))
	}
	if key == "" {
		key = fact.Slug(x.text("value"))
	}
	return category, key, true
}

// patched matches the files in a patch of Codex.
var patched = formats.Regexp(`(?m)^\*\*\* (?:Add|Update|Delete) File: (.+)$`)

// maxFiles is the most files that we look at in one call of a tool.
const maxFiles = 20

// files lists the files that a tool read or edited, as absolute paths.
func (in input) files(dir string) (files []string) {
	add := func(f string) {
		if f = strings.TrimSpace(f); f == "" {
			return
		}
		if !filepath.IsAbs(f) {
			f = filepath.Join(dir, f)
		}
		if f = filepath.Clean(f); !slices.Contains(files, f) && len(files) < maxFiles {
			files = append(files, f)
		}
	}
	var look func(name string, x any)
	look = func(name string, x any) {
		tool, path := slices.Contains(toolMembers, name), slices.Contains(pathMembers, name)
		switch x := x.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(x)) {
				if inner := x[name]; tool || path {
					look(name, inner)
				}
			}
		case []any:
			for _, inner := range x {
				look(name, inner)
			}
		case string:
			var inner any
			if (tool || path) && strings.ContainsAny(x[:min(1, len(x))], "{[") && json.Unmarshal([]byte(x), &inner) == nil {
				look(name, inner) // an object, or a list, as text
				return
			}
			if path {
				add(x)
			}
			if slices.Contains(patchMembers, name) {
				for _, m := range patched().FindAllStringSubmatch(x, -1) {
					add(m[1])
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		look(name, in[name])
	}
	return files
}
