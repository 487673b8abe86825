package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
	"leanctx/cmd/internal/web"
)

// unplaced is a home directory in which the process stands, as the server of a client does. Nobody
// has named a project.
func unplaced(t *testing.T, projects ...string) string {
	t.Helper()
	dir := home(t)
	t.Setenv(config.ProjectVar, "")
	for _, name := range []string{"CLAUDE_PROJECT_DIR", "WORKSPACE_FOLDER_PATHS", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR", "QWEN_PROJECT_DIR", "DEVIN_PROJECT_DIR"} {
		t.Setenv(name, "")
	}
	for _, name := range projects {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}

// with opens a connection of a client in which directories are open.
func (s *stores) with(t *testing.T, roots ...string) client {
	t.Helper()
	c := dialWith(t, s, "2025-11-25", func(sdk *mcp.Client) {
		for _, root := range roots {
			//lint:ignore SA1019 clients of 2025-11-25 have roots
			sdk.AddRoots(&mcp.Root{URI: "file://" + filepath.ToSlash(root), Name: filepath.Base(root)})
		}
	})
	return c
}

const rememberHere = `{"action":"remember","category":"where","key":"am-i","value":"STORED"}`

func refusedWith(t *testing.T, what, got string, words ...string) {
	t.Helper()
	for _, w := range append([]string{"!"}, words...) {
		if !strings.Contains(got, w) {
			t.Errorf("%s: %q does not say %q", what, got, w)
		}
	}
}

// A server in the home directory must not pool all projects in one memory.
func TestServerInTheHomeDirectory(t *testing.T) {
	dir := unplaced(t, "work/app", "work/other")
	s := serving(t)
	c := dial(t, s, "")
	refusedWith(t, "no project", c.call("ctx_knowledge", rememberHere), "is no project unless it is named", "project")
	refusedWith(t, "a read", c.call("ctx_recall", `{"action":"recall","query":"x"}`), "is no project unless it is named")
	if _, err := os.Stat(filepath.Join(dir, "data", "knowledge")); err == nil {
		t.Error("something was stored")
	}
	// The first project that is named is the connection's.
	app := filepath.Join(dir, "work", "app")
	c.must("ctx_knowledge", strings.Replace(rememberHere, "{", `{"project":"`+app+`",`, 1))
	if got := c.must("ctx_recall", `{"action":"recall","category":"where"}`); !strings.Contains(got, "STORED") {
		t.Errorf("got %s", got)
	}
	refusedWith(t, "another", c.call("ctx_knowledge", strings.Replace(rememberHere, "{", `{"project":"`+filepath.Join(dir, "work/other")+`",`, 1)), "is not this session's", "no known project")
	// Another connection knows nothing of it.
	refusedWith(t, "another connection", dial(t, s, "").call("ctx_knowledge", rememberHere), "is no project unless it is named")
	// The home directory itself, if it is meant.
	if got := s.with(t, dir).call("ctx_knowledge", rememberHere); !strings.HasPrefix(got, "!") {
		t.Errorf("a client that is open in the home directory: %s", got)
	}
	refusedWith(t, "named", dial(t, s, "").call("ctx_knowledge", strings.Replace(rememberHere, "{", `{"project":"~",`, 1)), "is no project over a server")
}

// A call over a server names a known project, or a directory in its own: else it would list any.
func TestServersListNoStrangeDirectory(t *testing.T) {
	dir := unplaced(t, "work/app/part/.git", "work/other", "private")
	app, other, private := filepath.Join(dir, "work", "app"), filepath.Join(dir, "work", "other"), filepath.Join(dir, "private")
	if err := os.WriteFile(filepath.Join(private, "plan.md"), []byte("# My secret plan\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	serving(t).with(t, other).must("ctx_knowledge", rememberHere)
	t.Setenv(config.ProjectVar, app)
	own := serveHTTP(t, serveArgs{})
	const text = "0123456789abcdef0123"
	tokens := filepath.Join(dir, "tokens.json")
	if err := os.WriteFile(tokens, []byte(`{"tokens":[{"name":"ci","token":"`+text+`","projects":["*"],"rights":"read"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ci := serveHTTP(t, serveArgs{TokenFile: tokens})
	ci.token = text
	session := own.dial(t, "/mcp", "")
	ways := map[string]func(project string) string{
		"stdio": func(p string) string {
			return serving(t).with(t, app).call("ctx_overview", fmt.Sprintf(`{"project":%q}`, p))
		},
		"HTTP": func(p string) string { return session.call("ctx_overview", fmt.Sprintf(`{"project":%q}`, p)) },
		"API": func(p string) string {
			_, text := own.post(t, "/api/overview", fmt.Sprintf(`{"project":%q}`, p))
			return text
		},
		"read token": func(p string) string {
			_, text := ci.post(t, "/api/overview", fmt.Sprintf(`{"project":%q}`, p))
			return text
		},
	}
	for way, call := range ways {
		for _, place := range []string{private, "/", "~", dir, filepath.Join(dir, "data")} {
			if got := call(place); strings.Contains(got, "secret plan") || !strings.Contains(got, "no known project") && !strings.Contains(got, "no project over a server") {
				t.Errorf("%s: %s: %s", way, place, got)
			}
		}
		for _, place := range []string{app, filepath.Join(app, "part"), other} {
			if got := call(place); strings.Contains(got, "no known project") || strings.Contains(got, "no project over a server") {
				t.Errorf("%s: %s: %s", way, place, got)
			}
		}
	}
}

func TestRootOfTheClient(t *testing.T) {
	dir := unplaced(t, "work/app/sub", "work/web")
	s := serving(t)
	app, web := filepath.Join(dir, "work", "app"), filepath.Join(dir, "work", "web")
	c := s.with(t, app)
	c.must("ctx_knowledge", rememberHere)
	if got := c.must("ctx_recall", `{"action":"recall","category":"where"}`); !strings.Contains(got, "STORED") {
		t.Errorf("got %s", got)
	}
	if got := s.with(t, filepath.Join(app, "sub")).must("ctx_recall", `{"action":"recall","category":"where"}`); !strings.Contains(got, "STORED") {
		t.Errorf("below it: %s", got)
	}
	// Several are several projects, and the call says which.
	several := s.with(t, app, web)
	refusedWith(t, "several", several.call("ctx_knowledge", rememberHere), "several directories are open", app, web)
	several.must("ctx_knowledge", strings.Replace(rememberHere, "{", `{"project":"`+web+`",`, 1))
	if got := several.must("ctx_recall", `{"action":"recall","category":"where","project":"`+app+`"}`); !strings.Contains(got, "STORED") || strings.Contains(got, "is not this session's") {
		t.Errorf("got %s", got)
	}
	// The client's variable, or the working directory, decides among them.
	t.Setenv("CLAUDE_PROJECT_DIR", web)
	if got := s.with(t, app, web).must("ctx_recall", `{"action":"recall","category":"where"}`); !strings.Contains(got, "STORED") {
		t.Errorf("got %s", got)
	}
	if got := dial(t, s, "").must("ctx_recall", `{"action":"recall","category":"where"}`); !strings.Contains(got, "STORED") {
		t.Errorf("a client without roots: %s", got)
	}
	// What a person named comes before all that.
	t.Setenv(config.ProjectVar, filepath.Join(dir, "my-app"))
	if got := serving(t).with(t, app).must("ctx_recall", `{"action":"recall","category":"where"}`); strings.Contains(got, "STORED") {
		t.Errorf("got %s", got)
	}
}

// Who asks in the wrong directory is told so, and which projects are near.
func TestEmptyProjectNamesTheNearOnes(t *testing.T) {
	dir := unplaced(t, "work/app/deep", "work/web", "far/other", "far/work")
	s := serving(t)
	work := filepath.Join(dir, "work")
	for _, name := range []string{"work/app", "work/web", "far/other", "far/work"} {
		s.with(t, filepath.Join(dir, name)).must("ctx_knowledge", rememberHere)
	}
	c := s.with(t, work)
	got := c.must("ctx_recall", `{"action":"recall","query":"anything"}`)
	for _, want := range []string{"nothing is remembered of " + work + " yet", "app (" + work + "/app)", "web (" + work + "/web)", "work (" + dir + "/far/work)"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	if strings.Contains(got, "other") {
		t.Errorf("a far one is named: %s", got)
	}
	if got := s.with(t, filepath.Join(work, "app")).must("ctx_recall", `{"action":"recall","query":"anything"}`); strings.Contains(got, "nothing is remembered") {
		t.Errorf("a project with facts: %s", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "config.json"), []byte(`{"cross_project_search": false}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := c.must("ctx_recall", `{"action":"recall","query":"anything"}`); !strings.Contains(got, "nothing is remembered") || strings.Contains(got, "app (") {
		t.Errorf("others are named all the same: %s", got)
	}
}

// A call over MCP stays in the projects of its session.
func TestCallsStayInTheirProject(t *testing.T) {
	dir := unplaced(t, "work/mine", "work/theirs/.ssh")
	mine, theirs := filepath.Join(dir, "work", "mine"), filepath.Join(dir, "work", "theirs")
	other := serving(t)
	other.with(t, theirs).must("ctx_knowledge", `{"action":"remember","category":"secret","key":"plan","value":"the plan"}`)
	s := serving(t)
	c := s.with(t, mine)
	c.must("ctx_knowledge", rememberHere)
	in := func(project, args string) string { return strings.Replace(args, "{", `{"project":"`+project+`",`, 1) }
	read := in(theirs, `{"action":"recall","category":"secret"}`)

	if got := c.must("ctx_recall", read); !strings.Contains(got, "the plan") || !strings.Contains(got, "project theirs (") || !strings.Contains(got, "is not this session's") {
		t.Errorf("the answer does not name the project: %s", got)
	}
	if got := c.must("ctx_recall", in(mine, `{"action":"recall","category":"where"}`)); strings.Contains(got, "is not this session's") {
		t.Errorf("one's own: %s", got)
	}
	away := fmt.Sprintf(`{"path":%q}`, theirs) // an overview's path may name another project as project does
	if got := c.must("ctx_overview", away); !strings.Contains(got, "the plan") || !strings.Contains(got, "is not this session's") {
		t.Errorf("the overview of another project: %s", got)
	}
	if got := c.must("ctx_overview", fmt.Sprintf(`{"path":%q}`, mine)); strings.Contains(got, "is not this session's") {
		t.Errorf("the overview of one's own: %s", got)
	}
	refusedWith(t, "a path that is no project", c.call("ctx_overview", fmt.Sprintf(`{"path":%q}`, dir)), "is no project over a server")
	other.with(t, theirs).must("ctx_knowledge", `{"action":"remember","category":"secret","key":"name","value":"for us alone","privacy":"project_only"}`)
	refusedWith(t, "an overview", c.call("ctx_overview", away), "for its own sessions alone")
	for _, args := range []string{`{"action":"recall","category":"secret"}`, `{"action":"wakeup"}`, `{"action":"timeline","category":"secret","key":"name"}`, `{"action":"why","category":"secret","key":"name"}`, `{"action":"search","query":"us alone"}`} {
		refusedWith(t, args, c.call("ctx_recall", in(theirs, args)), "for its own sessions alone")
	}
	refusedWith(t, "briefings", c.call("ctx_knowledge", in(theirs, `{"action":"briefings","output":"json"}`)), "for its own sessions alone")
	for _, call := range [][2]string{{"ctx_recall", "activity"}, {"ctx_agent", "list"}, {"ctx_agent", "diaries"}, {"ctx_task", "list"}, {"ctx_share", "list"}, {"ctx_cost", "report"}} {
		refusedWith(t, call[1], c.call(call[0], in(theirs, `{"action":"`+call[1]+`"}`)), "for its own sessions alone")
	}
	for _, call := range []string{`{"action":"sessions"}`, `{"action":"session","id":"s-12345678"}`} {
		refusedWith(t, call, c.call("ctx_recall", in(theirs, call)), "for its own sessions alone")
	}
	if got := other.with(t, theirs).must("ctx_recall", `{"action":"recall","category":"secret"}`); !strings.Contains(got, "for us alone") {
		t.Errorf("its own session: %s", got)
	}
	other.with(t, theirs).must("ctx_knowledge", `{"action":"remove","category":"secret","key":"name","erase":true,"confirm":true}`)
	for _, call := range []string{`{"action":"sessions"}`, `{"action":"session","id":"s-12345678"}`} {
		refusedWith(t, call, c.call("ctx_recall", in(theirs, call)), "is told in that project alone")
	}
	for _, call := range [][2]string{
		{"ctx_knowledge", `{"action":"remember","category":"secret","key":"plan","value":"another","source":"user"}`},
		{"ctx_knowledge", `{"action":"remove","category":"secret","key":"plan"}`},
		{"ctx_agent", `{"action":"register","agent_type":"claude","role":"dev"}`},
		{"ctx_task", `{"action":"create","title":"x"}`},
		{"ctx_share", `{"action":"push","paths":["x"]}`},
	} {
		refusedWith(t, call[0]+call[1], c.call(call[0], in(theirs, call[1])), "is not this session's", "cross_project_write")
	}
	refusedWith(t, "keys", c.call("ctx_share", in(filepath.Join(theirs, ".ssh"), `{"action":"push","paths":["id_ed25519"],"agent":"claude-0000"}`)), "is not this session's")

	set := func(dir, text string) {
		t.Helper()
		if err := os.WriteFile(dir, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settings := filepath.Join(dir, "data", "config.json")
	set(settings, `{"cross_project_search": false, "cross_project_write": true}`)
	for _, tool := range []string{"ctx_recall", "ctx_knowledge"} {
		refusedWith(t, tool, c.call(tool, read), "is not this session's", `"cross_project_search" is off`)
	}
	refusedWith(t, "an overview", c.call("ctx_overview", away), "is not this session's", `"cross_project_search" is off`)
	set(settings, `{"cross_project_write": true}`)
	c.must("ctx_knowledge", in(theirs, `{"action":"remember","category":"c","key":"k","value":"allowed"}`))
	// A project may close itself, but open nothing.
	set(filepath.Join(theirs, ".lean-ctx.json"), `{"cross_project_search": false}`)
	refusedWith(t, "a project that closed itself", c.call("ctx_recall", read), "is not this session's")
	set(settings, `{}`)
	set(filepath.Join(theirs, ".lean-ctx.json"), `{"cross_project_write": true}`)
	set(filepath.Join(mine, ".lean-ctx.json"), `{"cross_project_write": true}`)
	refusedWith(t, "a repository opens nothing", c.call("ctx_knowledge", in(theirs, rememberHere)), "cross_project_write")
	// Over HTTP too.
	t.Setenv(config.ProjectVar, mine)
	h := serveHTTP(t, serveArgs{}).dial(t, "/mcp", "")
	refusedWith(t, "over HTTP", h.call("ctx_knowledge", in(theirs, rememberHere)), "is not this session's")
}

// An agent names files of the session's project alone, and overwrites none that is no export.
func TestFilesOverMCP(t *testing.T) {
	dir := unplaced(t, "work/app/sub/.git", "far")
	app := filepath.Join(dir, "work", "app")
	s := serving(t)
	c := s.with(t, app)
	c.must("ctx_knowledge", rememberHere)
	path := func(name string) string { return filepath.Join(app, name) }
	for call, tool := range map[string]string{
		`{"action":"export","file":"lean-ctx-export/x.jsonl","format":"jsonl","shared":true}`: "ctx_knowledge",
		`{"action":"export","file":"lean-ctx-export/x","format":"md","force":true}`:           "ctx_knowledge",
		`{"action":"export","file":"lean-ctx-export/x.md","task_id":"t-00000f"}`:              "ctx_task",
	} {
		refusedWith(t, call, c.call(tool, call))
		if _, err := os.Lstat(path("lean-ctx-export")); err == nil {
			t.Fatalf("a call that was refused made the folder: %s", call)
		}
	}
	if err := os.Mkdir(path("lean-ctx-export"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"lean-ctx-export/notes.json": `{"mine": true}`, "lean-ctx-export/empty": "", "../../far/backup.json": `{"schema": 1}`} {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "far"), path("out")); err != nil {
		t.Skip(err)
	}
	for name, text := range map[string]string{".gitignore": "secret/\n*.local.md\n", "secret/notes.md": "- TOPSECRETVALUE is here\n", "open/a.md": "- a rule\n", "open/b.local.md": "- TOPSECRETVALUE too\n"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path(name)), 0o700), os.WriteFile(path(name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"secret/notes.md", "secret", "open/b.local.md", "open"} {
		refusedWith(t, "import "+file, c.call("ctx_knowledge", `{"action":"import","file":"`+file+`"}`), "ignored by git")
	}
	c.must("ctx_knowledge", `{"action":"import","file":"open/a.md"}`)
	for _, action := range []string{"export", "import"} {
		for _, file := range []string{"../../far/x.json", filepath.Join(dir, "far", "backup.json"), "out/x.json", "/etc/passwd", "sub/.git/config"} {
			refusedWith(t, action+" "+file, c.call("ctx_knowledge", `{"action":"`+action+`","file":"`+file+`"}`), "file")
		}
	}
	for _, file := range []string{"lean-ctx-export/notes.json", "lean-ctx-export/empty"} {
		for _, format := range []string{"json", "jsonl", "array"} {
			refusedWith(t, "export "+file, c.call("ctx_knowledge", `{"action":"export","format":"`+format+`","file":"`+file+`"}`), "no export of lean-ctx")
		}
	}
	refusedWith(t, "a folder of a person", c.call("ctx_knowledge", `{"action":"export","format":"md","file":"."}`), "not one that a server writes")
	for file, format := range map[string]string{"lean-ctx-export/backup.json": "json", "lean-ctx-export/backup.jsonl": "jsonl", "lean-ctx-export/array.json": "array", "lean-ctx-export/memory": "md"} {
		for range 2 { // its own it may write again
			c.must("ctx_knowledge", `{"action":"export","format":"`+format+`","file":"`+file+`"}`)
		}
		if _, err := os.Stat(path(file)); err != nil {
			t.Error(err)
		}
	}
	if os.Geteuid() == 0 { // only root can give a folder away
		if err := os.Chown(path("lean-ctx-export"), 12345, 12345); err != nil {
			t.Fatal(err)
		}
		refusedWith(t, "another user's folder", c.call("ctx_knowledge", `{"action":"export","file":"lean-ctx-export/new.json"}`), "is another user's")
		refusedWith(t, "another user's folder", c.call("ctx_knowledge", `{"action":"export","format":"md","file":"lean-ctx-export/rooms"}`), "is another user's")
		refusedWith(t, "another user's folder", c.call("ctx_task", `{"action":"export","file":"lean-ctx-export/new.md"}`), "is another user's")
		if err := os.Chown(path("lean-ctx-export"), 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.must("ctx_knowledge", `{"action":"import","file":"lean-ctx-export/backup.jsonl"}`); !strings.Contains(got, "Import complete") {
		t.Errorf("got %s", got)
	}
}

// What git ignores, and keys, a person shares or nobody.
func TestIgnoredFilesAreNotShared(t *testing.T) {
	dir := unplaced(t, "work/app")
	app := filepath.Join(dir, "work", "app")
	for name, text := range map[string]string{".gitignore": "*.log\nlocal/\n", ".env": "A=b\n", "x.log": "x\n", "deploy.pem": "x\n", "main.go": "package main\n", ".env.example": "A=\n"} {
		if err := os.WriteFile(filepath.Join(app, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("x.log", filepath.Join(app, "link.txt")); err != nil {
		t.Skip(err)
	}
	push := func(c client, agent, file string) string {
		return c.call("ctx_share", `{"action":"push","paths":["`+file+`"],"agent":"`+agent+`"}`)
	}
	for _, git := range []bool{false, true} {
		if git {
			output(t, "git", os.Environ(), "-C", app, "init", "-q")
		}
		c := serving(t).with(t, app)
		agent := c.register("claude", "dev")
		for file, why := range map[string]string{".env": "holds a secret", "x.log": "is ignored by git", "deploy.pem": "holds a secret", "link.txt": "is ignored by git"} {
			refusedWith(t, file, push(c, agent, file), why, "a person may share it")
		}
		for _, file := range []string{"main.go", ".env.example"} {
			if got := push(c, agent, file); strings.HasPrefix(got, "!") {
				t.Errorf("%s: %s", file, got)
			}
		}
	}
}

// Whatever a caller of a server calls a file, by whatever way it calls: it is in the project, is not
// Git's, and nothing is written that others obey. Each operation that takes a file is tried.
func TestFilesOfServers(t *testing.T) {
	dir := unplaced(t, "work/app/sub/.git", "work/app/.claude", "far")
	app := filepath.Join(dir, "work", "app")
	t.Setenv(config.ProjectVar, app)
	rc := filepath.Join(dir, "far", "rc")
	for _, file := range []string{rc, filepath.Join(app, "README.md"), filepath.Join(app, "sub", ".git", "config")} {
		if err := os.WriteFile(file, []byte("mine\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "far"), filepath.Join(app, "out")); err != nil {
		t.Skip(err)
	}
	a := serveHTTP(t, serveArgs{})
	c := a.dial(t, "/mcp", "")
	c.must("ctx_knowledge", rememberHere)
	c.must("ctx_task", `{"action":"create","agent":"`+c.register("claude", "dev")+`","title":"a task"}`)
	p, err := a.run.stores.project(t.Context(), op.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	ofProject := a
	if ofProject.token, err = web.ProjectToken(a.run.stores.config.DataDir, p.Hash); err != nil {
		t.Fatal(err)
	}
	ways := map[string]func(tool, action, file string) string{
		"MCP": func(tool, action, file string) string {
			return c.call(tool, fmt.Sprintf(`{"action":%q,"file":%q}`, action, file))
		},
		"API": func(tool, action, file string) string {
			_, text := a.post(t, "/api/"+strings.TrimPrefix(tool, "ctx_")+"/"+action, fmt.Sprintf(`{"file":%q}`, file))
			return text
		},
		"API, the project's token": func(tool, action, file string) string {
			_, text := ofProject.post(t, "/api/"+strings.TrimPrefix(tool, "ctx_")+"/"+action, fmt.Sprintf(`{"file":%q}`, file))
			return text
		},
	}
	refused := func(text string) bool {
		return strings.Contains(text, "is outside the project") || strings.Contains(text, "belongs to Git") ||
			strings.Contains(text, "is not one that a server writes") || strings.Contains(text, "no export of lean-ctx")
	}
	tried := 0
	for way, call := range ways {
		for _, tool := range a.run.stores.served() {
			for _, o := range tool.Operations {
				if o.File() == "" {
					continue
				}
				tried++
				files := []string{rc, "../../far/rc", "../../far/new", "out/rc", "out/new", "/etc/passwd", "sub/.git/config"}
				if o.Name == "export" {
					files = append(files, "README.md", ".claude/commands", ".github/workflows/x.yml", ".lean-ctx.json", "CLAUDE.md", "docs/Agents.md", "claude.local.md", "Makefile",
						"GNUmakefile", "Rakefile", "conftest.py", "package.json", "facts.json", "lean-ctx-export/../Makefile", "lean-ctx-export", "lean-ctx-export/CLAUDE.md", "lean-ctx-export/sub/Agents.md",
						"lean-ctx-export/x.py", "lean-ctx-export/.x", "lean-ctx-export/a b.json", "lean-ctx-export/x.md.", "lean-ctx-export/CLAUDE.md\u200b")
				}
				for _, file := range files {
					if got := call(tool.Name, o.Name, file); !refused(got) {
						t.Errorf("%s: %s %s %s: %s", way, tool.Name, o.Name, file, got)
					}
				}
			}
		}
	}
	if tried != 3*4 {
		t.Errorf("%d operations with files were tried", tried)
	}
	for _, tool := range []string{"ctx_knowledge", "ctx_task"} {
		for range 2 { // its own it may write again
			if got := ways["API, the project's token"](tool, "export", "lean-ctx-export/"+tool); strings.Contains(got, "error") {
				t.Errorf("%s: %s", tool, got)
			}
		}
	}
	for _, file := range []string{rc, filepath.Join(app, "README.md"), filepath.Join(app, "sub", ".git", "config")} {
		if text, err := os.ReadFile(file); err != nil || string(text) != "mine\n" {
			t.Errorf("%s: %q, %v", file, text, err)
		}
	}
}

// A command in an agent's shell stays in the project that it stands in, as a call over MCP does, whether it names another one by
// the flag or in its environment. A person's commands go where they say.
func TestAgentsShellStaysInItsProject(t *testing.T) {
	dir := home(t)
	mine, theirs := filepath.Join(dir, "mine"), filepath.Join(dir, "theirs")
	for _, p := range []string{mine, theirs} {
		if err := os.Mkdir(p, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv(config.ProjectVar, p)
		ran(t, "remember", "the customer is Acme", "--category", "client", "--key", "name")
	}
	t.Setenv(config.ProjectVar, "")
	t.Chdir(mine)
	remember := []string{"--project", theirs, "remember", "always run curl", "--category", "rule", "--key", "x"}
	t.Setenv("CLAUDECODE", "1")
	refused := func(why string, args ...string) {
		t.Helper()
		if code, out, errs := do(t, "", args...); code == 0 || !strings.Contains(out+errs, why) {
			t.Errorf("%q: %d %s%s", args, code, out, errs)
		}
	}
	refused("cross_project_write", remember...)
	refused("cross_project_write", "--project", theirs, "agent", "post", "hello")
	t.Setenv(config.ProjectVar, theirs)
	refused("cross_project_write", remember[2:]...)
	t.Setenv(config.ProjectVar, "")
	if _, out, errs := do(t, "", "--project", theirs, "recall", "customer"); !strings.Contains(out, "Acme") || !strings.Contains(out+errs, "is not this session's") {
		t.Error(out, errs)
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "config.json"), []byte(`{"cross_project_search": false}`), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(`"cross_project_search" is off`, "--project", theirs, "recall", "customer")
	for _, name := range []string{"CLAUDE_PROJECT_DIR", "WORKSPACE_FOLDER_PATHS", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR"} { // the shell sets it itself
		t.Setenv(name, theirs)
		refused(`"cross_project_search" is off`, "--project", theirs, "recall", "customer")
		refused(`"cross_project_search" is off`, remember...)
		t.Setenv(name, "")
	}
	ran(t, "--project", mine, "remember", "push on fridays", "--category", "workflow", "--key", "push")
	ran(t, "recall", "customer")
	t.Setenv("CLAUDECODE", "")
	ran(t, remember...)
}
