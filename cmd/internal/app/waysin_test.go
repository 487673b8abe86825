package app

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"leanctx/cmd/internal/op"
)

// ways gives a secret of its own to each way in, so that one that is found names its way.
type ways struct {
	*testing.T
	names []string
}

var waySecret = regexp.MustCompile(`ghp_w(\d{5})[A-Za-z0-9]{30}`)

// text is a text with a secret.
func (w *ways) text(way string) string {
	w.names = append(w.names, way)
	return fmt.Sprintf("see ghp_w%05dabcdefghijABCDEFGHIJ0123456789 there", len(w.names)-1)
}

// name is a secret without blanks.
func (w *ways) name(way string) string { return strings.Fields(w.text(way))[1] }

// found are the ways whose secrets stand in a text.
func (w *ways) found(text string) (names []string) {
	for _, m := range waySecret.FindAllStringSubmatch(text, -1) {
		i, _ := strconv.Atoi(m[1])
		names = append(names, w.names[i])
	}
	return slices.Compact(names)
}

// in looks through all files of a directory, and their names.
func (w *ways) in(dir string) {
	w.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, way := range w.found(strings.TrimPrefix(path, dir) + "\n" + string(data)) {
			w.Errorf("%s: its secret is in %s", way, strings.TrimPrefix(path, dir))
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
}

// A secret that comes in by any way is in no file of the data directory, nor in what a project
// shares: every text of every action over MCP, /api and A2A, every import, every member of what
// hooks are given, the repository that an overview reads.
func TestNoWayInStoresASecret(t *testing.T) {
	dir := home(t)
	project, data := filepath.Join(dir, "my-app"), filepath.Join(dir, "data")
	w := &ways{T: t}
	write := func(name, text string) string {
		path := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	output(t, "git", os.Environ(), "-C", project, "init", "-q")
	write("src/auth.ts", "// "+w.text("shared file")+"\nexport function "+w.name("definition")+"() {}\n")
	write("src/middleware.ts", "// "+w.text("another shared file")+"\n")
	a := serveHTTP(t, serveArgs{})
	c := dial(t, a.run.stores, "")
	c.register("cursor", "dev")
	for _, name := range []string{"architecture/auth", "architecture/db", "security/auth"} {
		category, key, _ := strings.Cut(name, "/")
		c.must("ctx_knowledge", fmt.Sprintf(`{"action":"remember","category":%q,"key":%q,"value":"JWT RS256 of %s"}`, category, key, name))
	}
	var task struct {
		Task struct {
			ID string `json:"id"`
		} `json:"task"`
	}
	c.into(&task, "ctx_task", `{"action":"create","title":"Fix auth middleware"}`)
	if task.Task.ID == "" {
		t.Fatal("no task")
	}

	calls := 0
	each := func(tool *op.Tool, o op.Operation, send func(args map[string]any)) {
		for _, p := range append(slices.Clone(o.Params), op.Param{Name: "agent", Type: op.TypeString}) {
			if p.Type != op.TypeString && p.Type != op.TypeArray || len(p.Enum) > 0 || slices.Contains([]string{"file", "project", "output"}, p.Name) {
				continue
			}
			args := maps.Clone(o.Example)
			if args == nil {
				args = map[string]any{}
			}
			way := fmt.Sprintf("%s %s %s", tool.Name, o.Name, p.Name)
			if args[p.Name] = w.text(way); strings.HasSuffix(p.Name, "agent") || strings.HasSuffix(p.Name, "_type") {
				args[p.Name] = w.name(way)
			}
			if _, ok := args["task_id"]; ok && p.Name != "task_id" {
				args["task_id"] = task.Task.ID
			}
			if !tool.Actionless() {
				args["action"] = o.Name
			}
			send(args)
			calls++
		}
	}
	marshal := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, tool := range a.run.stores.tools() {
		for _, o := range tool.Operations {
			if o.Effect == op.Destroys || strings.HasPrefix(o.Name, "embeddings") {
				continue
			}
			each(tool, o, func(args map[string]any) { c.call(tool.Name, marshal(args)) })
			if tool.Name == "ctx_agent" || tool.Name == "ctx_task" {
				continue // the same code, and each call commits
			}
			each(tool, o, func(args map[string]any) {
				a.post(t, "/api/"+strings.TrimPrefix(tool.Name, "ctx_")+"/"+o.Name, marshal(args))
			})
		}
	}
	if calls < 200 {
		t.Errorf("only %d calls", calls)
	}
	for _, method := range []string{"SendMessage", "message/send"} {
		a.post(t, "/a2a", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"message":{"messageId":%q,"role":"ROLE_USER","kind":"message","parts":[{"kind":"text","text":%q},{"kind":"data","data":{"x":%q}}],"metadata":{"note":%q}}}}`,
			method, w.name(method+" id"), w.text(method), w.text(method+" data"), w.text(method+" metadata")))
	}

	imports := map[string]string{
		"facts.jsonl":    `{"category":"a","key":"%[1]s","value":"%[2]s","source":"%[3]s"}`,
		"facts.json":     `[{"category":"%[1]s","key":"k","value":"%[2]s","questions":"%[3]s"}]`,
		"CLAUDE.md":      "# %[1]s\n\n- %[2]s\n- never do that: %[3]s\n",
		"notes.md":       "---\ntitle: %[1]s\ntags: [%[3]s]\n---\n\n# Notes\n\n- %[2]s\n",
		"memory.jsonl":   `{"type":"entity","name":"%[1]s","entityType":"person","observations":["%[2]s","%[3]s"]}`,
		"mem0.json":      `{"results":[{"id":"%[1]s","memory":"%[2]s","metadata":{"category":"%[3]s"}}]}`,
		"engram.json":    `{"version":"1","sessions":[{"id":"%[1]s"}],"observations":[{"id":1,"title":"%[1]s","content":"%[2]s","topic_key":"%[3]s","type":"decision","scope":"project"}]}`,
		"knowledge.json": `{"project_root":"/x","project_hash":"h","facts":[{"category":"c","key":"%[1]s","value":"%[2]s","source_session":"%[3]s","confidence":0.8,"created_at":"2026-01-01T00:00:00Z","last_confirmed":"2026-01-01T00:00:00Z"}],"patterns":[{"pattern_type":"p","description":"%[2]s","examples":["%[3]s"],"source_session":"s","created_at":"2026-01-01T00:00:00Z"}],"history":[],"updated_at":"2026-01-01T00:00:00Z"}`,
	}
	for name, text := range imports {
		path := write(name, fmt.Sprintf(text, w.name("import of "+name+" 1"), w.text("import of "+name+" 2"), w.text("import of "+name+" 3")))
		if code, _, errs := do(t, "", "knowledge", "import", path, "--skip-bad"); code != 0 {
			t.Logf("%s is not imported: %s", name, errs)
		}
	}
	for name, text := range map[string]string{
		"PLAN.md": "# %[1]s\n\n- [ ] %[2]s\n", "items.jsonl": `{"title":"%[1]s","description":"%[2]s"}`, "issues.jsonl": `{"id":"bd-1","title":"%[1]s","description":"%[2]s","status":"open","priority":1,"issue_type":"task","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}`,
	} {
		do(t, "", "task", "import", write(name, fmt.Sprintf(text, w.text("tasks of "+name+" 1"), w.text("tasks of "+name+" 2"))))
	}
	do(t, w.text("standard input"), "remember", "a/stdin", "-")
	do(t, "", "agent", "register", "codex", "--role", w.text("role at a shell"))

	transcript := write("transcript.jsonl", fmt.Sprintf(`{"type":"user","message":{"role":"user","content":%q}}`+"\n", w.text("transcript")))
	for _, client := range []string{"claude-code", "codex", "gemini", "cursor", "copilot", "windsurf", "opencode", "cline"} {
		for _, event := range []string{"session-start", "user-prompt", "pre-tool", "post-tool", "pre-compact", "session-end", "stop"} {
			way := "hook " + client + " " + event + " "
			do(t, marshal(map[string]any{
				"session_id": w.name(way + "session_id"), "cwd": project, "transcript_path": transcript, "source": "startup", "model": w.text(way + "model"),
				"prompt": "how does auth work? " + w.text(way+"prompt"), "tool_name": "Edit", "reason": w.text(way + "reason"), "trigger": w.text(way + "trigger"),
				"tool_input":    map[string]any{"file_path": filepath.Join(project, w.name(way+"file_path")), "command": w.text(way + "command"), "new_string": w.text(way + "new_string")},
				"tool_response": w.text(way + "tool_response"), "last_assistant_message": w.text(way + "last"),
			}), "hook", client, event)
			do(t, `{"session_id": "`+w.name(way+"broken input"), "hook", client, event)
		}
	}
	for _, args := range [][]string{{"overview", "--task", "see"}, {"sync"}, {"compact"}, {"doctor"}} {
		if code, _, errs := do(t, "", args...); code != 0 {
			t.Logf("%v: %d %s", args, code, errs)
		}
	}
	w.in(data)
	w.in(filepath.Join(project, ".lean-ctx"))
}
