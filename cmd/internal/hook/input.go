package hook

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// mostInput is the most bytes that a client may send. They may include the whole output of
// a tool.
const mostInput = 32 << 20

// input is the JSON that a client sent. Its members are decoded one by one,
// since each may be missing or of another type.
type input map[string]json.RawMessage

// read reads one JSON object. It does not wait for the end of the input, since some clients
// leave it open. Empty input is an empty object. Windows shells may add a byte order mark.
func read(in io.Reader) (input, error) {
	if in == nil {
		return input{}, nil
	}
	limited := &io.LimitedReader{R: in, N: mostInput}
	text := bufio.NewReader(limited)
	if b, err := text.Peek(1); err == nil && b[0] == bom[0] { // to peek at more could block
		if b, err := text.Peek(len(bom)); err == nil && string(b) == bom {
			_, _ = text.Discard(len(b))
		}
	}
	var x input
	err := json.NewDecoder(text).Decode(&x)
	switch {
	case errors.Is(err, io.EOF) && limited.N == mostInput:
		return input{}, nil
	case limited.N == 0:
		return nil, fmt.Errorf("input of more than %d MiB", mostInput>>20)
	case err != nil:
		return nil, fmt.Errorf("input is not a JSON object: %w", err)
	}
	return x, nil
}

// text is the first of the named members that is a non-empty string.
func (in input) text(names ...string) string {
	for _, n := range names {
		var s string
		if json.Unmarshal(in[n], &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// texts is a member that is a list of strings, or one string.
func (in input) texts(name string) (list []string) {
	if json.Unmarshal(in[name], &list) != nil {
		list = nil
	}
	if s := in.text(name); s != "" {
		list = append(list, s)
	}
	return list
}

// inner is the first of the named members that is an object, or a string that
// holds one.
func (in input) inner(names ...string) (x input) {
	for _, n := range names {
		raw := in[n]
		if s := in.text(n); strings.HasPrefix(strings.TrimSpace(s), "{") {
			raw = json.RawMessage(s)
		}
		if json.Unmarshal(raw, &x) == nil && x != nil {
			return x
		}
	}
	return nil
}

// inners is a member that is a list of objects, or a string that holds one.
func (in input) inners(name string) (list []input) {
	raw := in[name]
	if s := in.text(name); strings.HasPrefix(strings.TrimSpace(s), "[") {
		raw = json.RawMessage(s)
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

func (in input) session() string {
	return in.text("session_id", "sessionId", "conversation_id", "sessionID", "taskId")
}

// prompt is the user's prompt without the context that hooks added. Gemini CLI sends the
// briefing with the prompt, and the briefing would find its own facts.
func (in input) prompt() string {
	prompt := in.text("prompt", "user_prompt", "userPrompt", "task", "description")
	if prompt == "" {
		prompt = in.inner("userPromptSubmit").text("prompt")
	}
	return hookContext().ReplaceAllString(prompt, "")
}

var hookContext = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<(?:hook_context|system-reminder)>.*?</(?:hook_context|system-reminder)>`)
})

// dir is where the client works.
func (in input) dir() string {
	if d := in.text("cwd", "directory"); filepath.IsAbs(d) {
		return d
	}
	for _, d := range append(in.texts("workspace_roots"), in.texts("workspaceRoots")...) {
		if filepath.IsAbs(d) {
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

// patched matches the files in a patch of Codex.
var patched = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\*\*\* (?:Add|Update|Delete) File: (.+)$`) })

// files lists the files that a tool read or edited, as absolute paths.
func (in input) files(dir string) (files []string) {
	add := func(f string) {
		if f = strings.TrimSpace(f); f == "" {
			return
		}
		if !filepath.IsAbs(f) {
			f = filepath.Join(dir, f)
		}
		if f = filepath.Clean(f); !slices.Contains(files, f) && len(files) < mostFiles {
			files = append(files, f)
		}
	}
	tool := in.inner("tool_input", "toolArgs", "toolInput", "input", "args")
	if tool == nil {
		tool = in.inner("postToolUse").inner("parameters")
	}
	for _, x := range []input{tool, in} {
		for _, name := range []string{"file_path", "filePath", "notebook_path", "absolute_path", "target_file", "path"} {
			add(x.text(name))
		}
		for _, name := range []string{"files", "paths", "file_paths"} {
			list := x.inners(name)
			for _, f := range list {
				add(f.text("path"))
			}
			if list == nil {
				for _, f := range x.texts(name) {
					add(f)
				}
			}
		}
		for _, name := range []string{"command", "patch", "input"} {
			for _, text := range x.texts(name) {
				for _, m := range patched().FindAllStringSubmatch(text, -1) {
					add(m[1])
				}
			}
		}
	}
	return files
}

// mostFiles is the most files that we look at in one call of a tool.
const mostFiles = 20
