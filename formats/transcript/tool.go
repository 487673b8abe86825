package transcript

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Called is the turn of a call of a tool that a client's hook tells of: the tool's arguments, which are JSON, what it gave,
// and whether it succeeded, if the hook says so.
func Called(id, tool string, arguments []byte, gave string, ok *bool) Turn {
	c := newCall(id, tool, arguments)
	c.OK = ok
	return c.turn(gave)
}

// newCall is a call of a tool with these arguments, which are JSON.
func newCall(id, tool string, arguments jsontext.Value) Call {
	c := Call{ID: id, Tool: tool}
	var args map[string]any
	if decode(arguments, &args) != nil {
		var text string // an argument that is one text, such as a patch
		if decode(arguments, &text) == nil {
			args = map[string]any{"input": text}
		}
	}
	name := strings.ToLower(tool)
	if i := strings.LastIndex(name, "ctx_"); i >= 0 && slices.Contains(ownTools, name[i:]) {
		c.Own, c.Input = true, ownCall(args)
		return c
	}
	for _, member := range pathMembers {
		c.Files = append(c.Files, texts(args[member])...)
	}
	c.Files = c.Files[:min(len(c.Files), maxFiles)]
	c.Edits = len(c.Files) > 0 && hasAny(name, "edit", "write", "replace", "create", "insert", "patch")
	c.Reads = hasAny(name, "read", "view") && !hasAny(name, "thread", "already")
	c.Todos = todos(name, args)
	command := first(args, "command", "cmd", "script")
	if command == "" {
		command = first(args, "input", "patch")
		if !strings.Contains(command, patchHead) {
			command = ""
		}
	}
	switch {
	case c.Todos != nil:
	case strings.Contains(command, patchHead):
		for _, m := range patched().FindAllStringSubmatch(command, maxFiles) {
			c.Files = append(c.Files, strings.TrimSpace(m[1]))
		}
		c.Edits, c.Input = true, "apply_patch"
	case command != "":
		c.Input = command
		if program, rest, _ := strings.Cut(strings.TrimSpace(command), " "); program == "lean-ctx" || strings.HasSuffix(program, "/lean-ctx") {
			action, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			c.Own, c.Input = true, "lean-ctx "+action
		}
	default:
		c.Input = first(args, "pattern", "query", "url", "prompt", "objective", "message", "description", "skill", "name")
	}
	return c
}

// maxFiles is the most files that one call names here.
const maxFiles = 50

var (
	pathMembers = []string{"file_path", "filePath", "notebook_path", "absolute_path", "target_file", "path", "paths", "files"}
	ownTools    = []string{"ctx_knowledge", "ctx_recall", "ctx_agent", "ctx_task", "ctx_share", "ctx_cost", "ctx_overview"}
)

const patchHead = "*** Begin Patch"

// patched matches the files in a patch of Codex.
var patched = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\*\*\* (?:Add|Update|Delete) File: (.+)$`)
})

// ownCall is what is kept of a call of ours: never a value.
func ownCall(args map[string]any) string {
	var parts []string
	if action := first(args, "action"); action != "" {
		parts = append(parts, action)
	}
	switch category, key := first(args, "category"), first(args, "key"); {
	case category != "" && key != "":
		parts = append(parts, category+"/"+key)
	case category+key != "":
		parts = append(parts, category+key)
	}
	return strings.Join(parts, " ")
}

func hasAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
}

// first is the first of the named members that is a text. A command may be a list of words: bash -lc "…".
func first(args map[string]any, names ...string) string {
	for _, name := range names {
		switch x := args[name].(type) {
		case string:
			if x != "" {
				return x
			}
		case []any:
			words := texts(x)
			if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
				return words[2]
			}
			if len(words) > 0 {
				return strings.Join(words, " ")
			}
		}
	}
	return ""
}

// texts are the texts of a member that is one, or a list of them.
func texts(x any) (list []string) {
	switch x := x.(type) {
	case string:
		if x != "" {
			list = append(list, x)
		}
	case []any:
		for _, y := range x {
			if s, ok := y.(string); ok && s != "" {
				list = append(list, s)
			}
		}
	}
	return list
}

// todos is what a call changes in the client's list of what is to do; nil: nothing.
func todos(tool string, args map[string]any) *Todos {
	switch tool {
	case "taskcreate":
		return &Todos{Items: []Todo{{Text: first(args, "subject", "description"), State: "pending"}}}
	case "taskupdate":
		return &Todos{Items: []Todo{{ID: first(args, "taskId", "id"), Text: first(args, "subject"), State: first(args, "status")}}}
	}
	list, ok := args["todos"].([]any)
	if !ok {
		if list, ok = args["plan"].([]any); !ok || !strings.Contains(tool, "plan") {
			return nil
		}
	}
	t := &Todos{All: true}
	for _, x := range list {
		if item, ok := x.(map[string]any); ok {
			t.Items = append(t.Items, Todo{ID: first(item, "id"), Text: first(item, "content", "step", "description", "text"), State: first(item, "status", "state")})
		}
	}
	return t
}
