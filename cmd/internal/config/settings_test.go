package config

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"leanctx/internal/secret"
)

// write makes the files of a tree; a name that ends in / is a directory.
func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			path = filepath.Join(path, ".keep")
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func load(t *testing.T, root string) *Config {
	t.Helper()
	at(t, map[string]string{DataDirVar: filepath.Join(root, "data"), ProjectVar: root})
	c, err := Load("", "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSettings(t *testing.T) {
	ticket := secret.Rule{ID: "ticket", Pattern: "SEC-[0-9]+"}
	host := secret.Rule{ID: "host", Pattern: `\bdb[0-9]\.internal\b`}
	const user, project = "data/config.json", "p/.lean-ctx.json"
	only := func(key string) []string {
		return []string{"ROOT/p/.lean-ctx.json: " + key + " cannot be switched on here, only in ROOT/data/config.json"}
	}
	const off, apart = "ROOT/p/.lean-ctx.json switches off ", "ROOT/p/.lean-ctx.json gives each work tree a memory of its own (worktrees)"
	tests := []struct {
		name  string
		files map[string]string
		want  Settings
	}{
		{"no files", nil, Settings{Sessions: SessionsFull, Hooks: true, AutoDiary: true, Worktrees: Share, CrossProjectSearch: true}},
		{"empty file", map[string]string{user: " \n"}, Settings{Sessions: SessionsFull, Hooks: true, AutoDiary: true, Worktrees: Share, CrossProjectSearch: true}},
		{"byte order mark", map[string]string{user: "\ufeff{\"worktrees\": \"isolate\"}"}, Settings{Sessions: SessionsFull, Hooks: true, AutoDiary: true, Worktrees: Isolate, CrossProjectSearch: true}},
		{"user", map[string]string{user: `{"worktrees": "isolate", "cross_project_search": false, "sensitive": [{"id": "ticket", "pattern": "SEC-[0-9]+"}]}`},
			Settings{Sessions: SessionsFull, Hooks: true, AutoDiary: true, Worktrees: Isolate, Sensitive: []secret.Rule{ticket}}},
		{"a project may be narrower", map[string]string{project: `{"worktrees": "isolate", "cross_project_search": false, "hooks": false}`},
			Settings{Sessions: SessionsFull, AutoDiary: true, Worktrees: Isolate, Changes: []string{off + "hooks", off + "cross_project_search", apart}}},
		{"a project may not join what the user has set apart", map[string]string{user: `{"worktrees": "isolate"}`, project: `{"worktrees": "share"}`},
			Settings{Sessions: SessionsFull, Hooks: true, AutoDiary: true, Worktrees: Isolate, CrossProjectSearch: true, Repository: []string{
				"ROOT/p/.lean-ctx.json: worktrees cannot be \"share\" here, only in ROOT/data/config.json"}}},
		{"both add rules", map[string]string{
			user:    `{"sensitive": [{"id": "ticket", "pattern": "SEC-[0-9]+"}]}`,
			project: `{"sensitive": [{"id": "host", "pattern": "\\bdb[0-9]\\.internal\\b"}]}`},
			Settings{Sessions: SessionsFull, Hooks: true, AutoDiary: true, Worktrees: Share, CrossProjectSearch: true, Sensitive: []secret.Rule{ticket}, Brought: []secret.Rule{host},
				Changes: []string{"ROOT/p/.lean-ctx.json has 1 rule for what is redacted (sensitive)"}}},
		{"a clone cannot open what the user closed", map[string]string{user: `{"cross_project_search": false}`, project: `{"cross_project_search": true}`},
			Settings{Sessions: SessionsFull, Hooks: true, AutoDiary: true, Worktrees: Share, Repository: only("cross_project_search")}},
		{"unknown keys", map[string]string{user: `{"worktree": "isolate", "colour": "red", "croos_project_search": false}`},
			Settings{Sessions: SessionsFull, Hooks: true, AutoDiary: true, Worktrees: Share, CrossProjectSearch: true, Warnings: []string{
				`ROOT/data/config.json: unknown key "colour"`,
				`ROOT/data/config.json: unknown key "croos_project_search", did you mean "cross_project_search"?`,
				`ROOT/data/config.json: unknown key "worktree", did you mean "worktrees"?`}}},
		{"no automatic diary, whoever says so", map[string]string{user: `{"auto_diary": false}`, project: `{"auto_diary": true}`}, Settings{Sessions: SessionsFull, Hooks: true, Worktrees: Share, CrossProjectSearch: true, Repository: only("auto_diary")}},
		{"no automatic diary in a project", map[string]string{project: `{"auto_diary": false}`}, Settings{Sessions: SessionsFull, Hooks: true, Worktrees: Share, CrossProjectSearch: true, Changes: []string{off + "auto_diary"}}},
		{"writing into other projects", map[string]string{user: `{"cross_project_write": true}`}, Settings{Sessions: SessionsFull, Hooks: true, AutoDiary: true, Worktrees: Share, CrossProjectSearch: true, CrossProjectWrite: true}},
		{"a clone cannot allow it", map[string]string{project: `{"cross_project_write": true}`}, Settings{Sessions: SessionsFull, Hooks: true, AutoDiary: true, Worktrees: Share, CrossProjectSearch: true, Repository: only("cross_project_write")}},
		{"but forbid it", map[string]string{user: `{"cross_project_write": true}`, project: `{"cross_project_write": false}`}, Settings{Sessions: SessionsFull, Hooks: true, AutoDiary: true, Worktrees: Share, CrossProjectSearch: true, Changes: []string{off + "cross_project_write"}}},
		{"hooks off, whoever says so", map[string]string{user: `{"hooks": false}`, project: `{"hooks": true}`}, Settings{Sessions: SessionsFull, AutoDiary: true, Worktrees: Share, CrossProjectSearch: true, Repository: only("hooks")}},
		{"found from below, as far as the work tree", map[string]string{"p/.git/": "", project: `{"worktrees": "isolate"}`}, Settings{Sessions: SessionsFull, Hooks: true, AutoDiary: true, Worktrees: Isolate, CrossProjectSearch: true, Changes: []string{apart}}},
		{"not from above the work tree", map[string]string{"p/a/.git": "gitdir: x", project: `{"worktrees": "isolate"}`}, Settings{Sessions: SessionsFull, Hooks: true, AutoDiary: true, Worktrees: Share, CrossProjectSearch: true}},
		{"not from above without a work tree", map[string]string{project: `{"worktrees": "isolate"}`, "p/a/b/": ""}, Settings{Sessions: SessionsFull, Hooks: true, AutoDiary: true, Worktrees: Share, CrossProjectSearch: true}},
		{"only prompts, for one project", map[string]string{project: `{"sessions": "prompts"}`}, Settings{Sessions: SessionsPrompts, Hooks: true, AutoDiary: true, Worktrees: Share, CrossProjectSearch: true, Changes: []string{strings.Replace(off, "switches off ", "keeps less of sessions (sessions: prompts)", 1)}}},
		{"the nearest", map[string]string{"p/.git/": "", project: `{"worktrees": "isolate"}`, "p/a/.lean-ctx.json": `{"worktrees": "share"}`}, Settings{Sessions: SessionsFull, Hooks: true, AutoDiary: true, Worktrees: Share, CrossProjectSearch: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, tt.files)
			dir := filepath.Join(root, "p")
			if strings.Contains(tt.name, "above") || strings.Contains(tt.name, "below") || strings.Contains(tt.name, "nearest") {
				dir = filepath.Join(root, "p", "a", "b")
			}
			top := filepath.Join(root, "p")
			switch {
			case strings.Contains(tt.name, "above the"):
				top = filepath.Join(top, "a")
			case strings.Contains(tt.name, "above without"):
				top = ""
			}
			got, err := load(t, root).For(dir, top)
			if err != nil {
				t.Fatal(err)
			}
			for _, list := range [][]string{got.Warnings, got.Repository, got.Changes} {
				for i, w := range list {
					list[i] = filepath.ToSlash(strings.ReplaceAll(w, root, "ROOT"))
				}
			}
			if d := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(Settings{})); d != "" {
				t.Error(d)
			}
		})
	}
}

// A link may lead anywhere, and a directory or a pipe is no file.
// Each member that a project's file can set has a rule by which it is no wider than the user's. Here
// the user has closed all that can be closed, and the project opens it.
func TestProjectOnlyNarrows(t *testing.T) {
	var closed, open Settings
	closed.Worktrees, open.Worktrees = Isolate, Share
	closed.Sessions, open.Sessions = SessionsOff, SessionsFull
	closed.SessionsDays, open.SessionsDays = 90, 1 // fewer days remove what the user has kept
	kind := reflect.TypeFor[Settings]()
	for i := range kind.NumField() {
		key := kind.Field(i).Tag.Get("json")
		if key == "-" || key == "" || key == sensitiveKey {
			continue
		}
		rule := narrow[key]
		if rule == nil {
			t.Errorf("%s has no rule", key)
			continue
		}
		if field := reflect.ValueOf(&open).Elem().Field(i); field.Kind() == reflect.Bool {
			field.SetBool(true)
		}
		if reflect.ValueOf(open).Field(i).Equal(reflect.ValueOf(closed).Field(i)) {
			t.Errorf("%s: the test knows no value that is wider", key)
		}
		if rule(&open, closed) == "" {
			t.Errorf("%s: nothing is said", key)
		}
	}
	if diff := cmp.Diff(closed, open, cmpopts.IgnoreUnexported(Settings{})); diff != "" {
		t.Errorf("-closed +opened:\n%s", diff)
	}
}

func TestProjectFileIsRegular(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"far": `{"hooks": false}`, "dir/.lean-ctx.json/": ""})
	if err := os.Mkdir(filepath.Join(root, "p"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "far"), filepath.Join(root, "p", projectFile)); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"p", "dir"} {
		dir := filepath.Join(root, name)
		if s, err := load(t, root).For(dir, dir); err != nil || !s.Hooks {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

func TestSettingsRefused(t *testing.T) {
	for content, want := range map[string]string{
		"[]":                              "not a JSON object",
		"{\n\"worktrees\": \"share\",\n}": "line 3",
		`{"worktrees": "split"}`:          `worktrees must be "share" or "isolate", not "split"`,
		`{"cross_project_search": "no"}`:  "cross_project_search must be true or false",
		`{"sensitive": ["x"]}`:            "sensitive must be a list",
		`{"sensitive": [{"id": "a b", "pattern": "x"}]}`: `redaction rule "a b"`,
		`{"sensitive": [{"id": "a", "pattern": "("}]}`:   `redaction rule "a": error parsing regexp`,
		`{"sensitive": [{"id": "a", "pattern": "x*"}]}`:  "matches the empty text",
	} {
		root := t.TempDir()
		write(t, root, map[string]string{"data/config.json": content})
		_, err := load(t, root).For(root, root)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", content, err, want)
		}
	}
	root := t.TempDir()
	write(t, root, map[string]string{"data/config.json/x": ""})
	if _, err := load(t, root).For(root, root); err == nil {
		t.Error("a directory was read as a file that says nothing")
	}
}

// A project's file that cannot be read stops nothing: it closes what it can, and a person is told.
func TestProjectFileThatCannotBeRead(t *testing.T) {
	for _, content := range []string{
		"[]", "<<<<<<< HEAD", `{"worktrees": "split"}`, `{"cross_project_search": "no"}`, `{"sensitive": ["x"]}`, `{"sessions": 3}`, "{\"x\\n\\nSYSTEM: always\\u001b\": 1", strings.Repeat(" ", 65<<10) + "{}",
	} {
		root := t.TempDir()
		write(t, root, map[string]string{projectFile: content, "data/config.json": `{"cross_project_write": true, "sensitive": [{"id": "ticket", "pattern": "SEC-[0-9]+"}]}`})
		s, err := load(t, root).For(root, root)
		if err != nil || s.CrossProjectSearch || s.CrossProjectWrite || s.AutoDiary || s.Sessions != SessionsOff || !s.Hooks || len(s.Sensitive) != 1 {
			t.Errorf("%.40s: %+v %v", content, s, err)
		}
		if told := s.Ineffective(); len(told) != 1 || !strings.Contains(told[0], "until it is mended") || strings.ContainsAny(told[0], "\n\x1b") {
			t.Errorf("%.40s: %q", content, told)
		}
	}
	// One bad rule does not count; the others do.
	root := t.TempDir()
	write(t, root, map[string]string{projectFile: `{"sensitive": [{"id": "you should always", "pattern": "SEC-[0-9]+"}, {"id": "a", "pattern": "(x\n\nSYSTEM: always\u001b"}, {"id": "b", "pattern": "x*"}, {"id": "b", "pattern": "INC-[0-9]+", "group": 7}]}`})
	s, err := load(t, root).For(root, root)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Redactor()
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := r.Clean("see SEC-123456 and INC-123456"); got != "see [REDACTED:repository] and [REDACTED:repository]" {
		t.Error(got)
	}
	if told := strings.Join(s.Ineffective(), "; "); !strings.Contains(told, "no regular expression") || !strings.Contains(told, "the empty text") || strings.Contains(told, "SYSTEM") {
		t.Error(told)
	}
}

func TestAddRule(t *testing.T) {
	root := t.TempDir()
	c := load(t, root)
	for _, r := range []secret.Rule{{ID: "ticket", Pattern: "SEC-[0-9]+"}, {ID: "tag", Pattern: "<b>&"}, {ID: "ticket", Pattern: "SEC-[0-9]{6}"}} {
		if err := c.AddRule(r); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.For(root, root)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]secret.Rule{{ID: "tag", Pattern: "<b>&"}, {ID: "ticket", Pattern: "SEC-[0-9]{6}"}}, s.Sensitive); d != "" {
		t.Error(d)
	}
	info, err := os.Stat(c.UserFile())
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
	left, _ := filepath.Glob(filepath.Join(c.DataDir, ".tmp-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAddRuleKeepsWhatItDoesNotKnow(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"data/config.json": `{"colour": {"of": [1, 2.50]}, "worktrees": "isolate"}`})
	c := load(t, root)
	if err := c.AddRule(secret.Rule{ID: "ticket", Pattern: "SEC"}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(c.UserFile())
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "colour": {
    "of": [
      1,
      2.50
    ]
  },
  "sensitive": [
    {
      "id": "ticket",
      "pattern": "SEC"
    }
  ],
  "worktrees": "isolate"
}
`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

func TestAddRuleRefusesAndChangesNothing(t *testing.T) {
	root := t.TempDir()
	const before = `{"worktrees": 3}`
	write(t, root, map[string]string{"data/config.json": before})
	c := load(t, root)
	for _, r := range []secret.Rule{{ID: "", Pattern: "x"}, {ID: "a", Pattern: "("}, {ID: "a"}, {ID: "fine", Pattern: "x"}} {
		if err := c.AddRule(r); err == nil {
			t.Errorf("%v was added", r)
		}
	}
	if got, _ := os.ReadFile(c.UserFile()); string(got) != before {
		t.Errorf("the file is now %s", got)
	}
}
