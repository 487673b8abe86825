package hook

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// newMachine is a machine with an empty home and an empty project.
func newMachine(t *testing.T) Machine {
	t.Helper()
	p := scratchMachine(t.TempDir())
	for _, d := range []string{p.Home, p.Root} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func connectAll(t *testing.T, p Machine, w ConnectOptions) Report {
	t.Helper()
	r, err := p.Connect(w)
	if err != nil || r.Failed() > 0 {
		t.Fatalf("%v\n%s", err, r.Text())
	}
	return r
}

func disconnectAll(t *testing.T, p Machine, w ConnectOptions) Report {
	t.Helper()
	r, err := p.Disconnect(w)
	if err != nil || r.Failed() > 0 {
		t.Fatalf("%v\n%s", err, r.Text())
	}
	return r
}

// What each client gets in each scope, file by file; and that all of it goes,
// with the directories that were made for it.
func TestEveryClient(t *testing.T) {
	var b strings.Builder
	for _, c := range clients() {
		for _, scope := range scopesOf(c) {
			p := newMachine(t)
			dir := filepath.Dir(p.Home)
			before := tree(t, dir)
			w := ConnectOptions{Clients: []string{c.name}, Scope: Scope(scope)}
			connectAll(t, p, w)
			after := tree(t, dir)
			fmt.Fprintf(&b, "==== %s, %s\n", c.name, scope)
			for _, name := range slices.Sorted(maps.Keys(after)) {
				mode, text, isFile := strings.Cut(after[name], "\n")
				if isFile && !strings.Contains(name, recordName) {
					fmt.Fprintf(&b, "-- %s %s\n%s", filepath.ToSlash(name), mode, strings.ReplaceAll(text, dir, "/dir"))
				}
			}
			if again := connectAll(t, p, w); strings.Contains(again.Text(), ": connected") {
				t.Errorf("the second time:\n%s", again.Text())
			}
			if d := cmp.Diff(after, tree(t, dir)); d != "" {
				t.Errorf("the second time: %s", d)
			}
			disconnectAll(t, p, w)
			if d := cmp.Diff(before, tree(t, dir)); d != "" {
				t.Errorf("%s, %s: %s", c.name, scope, d)
			}
		}
	}
	golden := filepath.Join("testdata", "clients.golden")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		write(t, golden, b.String())
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("%s\nUPDATE_GOLDEN=1 go test ./cmd/internal/hook writes it anew", d)
	}
}

// All clients at once in one home, and back.
func TestAllTogether(t *testing.T) {
	p := newMachine(t)
	write(t, filepath.Join(p.Home, ".zshrc"), "# mine\n")
	before := tree(t, filepath.Dir(p.Home))
	for _, scope := range []Scope{User, Project} {
		var names []string
		for _, c := range clients() {
			if c.servers[scope] != "" {
				names = append(names, c.name)
			}
		}
		connectAll(t, p, ConnectOptions{Clients: names, Scope: scope})
	}
	connectAll(t, p, ConnectOptions{Clients: []string{"claude-code"}, Scope: Local})
	for _, scope := range []Scope{Local, Project, User} {
		disconnectAll(t, p, ConnectOptions{Scope: scope})
	}
	if d := cmp.Diff(before, tree(t, filepath.Dir(p.Home))); d != "" {
		t.Error(d)
	}
}

// A directory that was made for one client, and then has a file of another, goes with the last.
func TestSharedDirectoryGoes(t *testing.T) {
	p := newMachine(t)
	before := tree(t, p.Home)
	both := [][]string{{"vscode"}, {"goose"}}
	for _, disconnects := range [][][]string{both, {{"goose"}, {"vscode"}}, {nil}} {
		for _, one := range both {
			connectAll(t, p, ConnectOptions{Clients: one})
		}
		for _, some := range disconnects {
			disconnectAll(t, p, ConnectOptions{Clients: some})
		}
		if d := cmp.Diff(before, tree(t, p.Home)); d != "" {
			t.Errorf("%v: %s", disconnects, d)
		}
	}
}

// A data directory that somebody made stays, also when it is empty or a link to another place, and
// when connect was the first to write there. One that connect made goes, with those above it.
func TestDataDirectoryThatSomebodyMadeStays(t *testing.T) {
	for _, how := range []string{"a directory", "a link", "new"} {
		p := newMachine(t)
		p.Data = filepath.Join(p.Home, "a", "b")
		var err error
		switch how {
		case "a directory":
			err = os.MkdirAll(p.Data, 0o700)
		case "a link":
			if err = os.Mkdir(filepath.Dir(p.Data), 0o700); err == nil {
				err = os.Symlink(t.TempDir(), p.Data)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		before := tree(t, p.Home)
		for range 2 {
			disconnectAll(t, p, ConnectOptions{})
			connectAll(t, p, ConnectOptions{Clients: []string{"cursor"}})
			connectAll(t, p, ConnectOptions{Clients: []string{"gemini"}})
			disconnectAll(t, p, ConnectOptions{Clients: []string{"cursor"}})
			disconnectAll(t, p, ConnectOptions{})
		}
		if d := cmp.Diff(before, tree(t, p.Home)); d != "" {
			t.Errorf("%s: %s", how, d)
		}
	}
}

// When the program has moved, the command becomes the new one, in the entry and in the hooks.
// Nothing else changes.
func TestCommandMoves(t *testing.T) {
	for _, name := range []string{"claude-code", "codex", "goose", "opencode", "copilot", "cursor", "vscode", "windsurf", "cline", "amp"} {
		p := newMachine(t)
		before := tree(t, filepath.Dir(p.Home))
		w := ConnectOptions{Clients: []string{name}}
		p.Command = "/old place/lean-ctx"
		connectAll(t, p, w)
		p.Command = server
		if r := connectAll(t, p, w); strings.Contains(r.Text(), unchanged) {
			t.Errorf("%s: %s", name, r.Text())
		}
		for path, text := range tree(t, p.Home) {
			if strings.Contains(text, "old place") && !strings.Contains(path, recordName) {
				t.Errorf("%s: %s", path, text)
			}
		}
		disconnectAll(t, p, w)
		if d := cmp.Diff(before, tree(t, filepath.Dir(p.Home))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// What somebody wrote into our entry, and beside it, after we connected, stays
// or goes with the entry, as it was meant.
func TestEditedByOthers(t *testing.T) {
	p := newMachine(t)
	path := filepath.Join(p.Home, ".claude.json")
	w := ConnectOptions{Clients: []string{"claude-code"}}
	connectAll(t, p, w)
	write(t, path, `{"numStartups":1,"mcpServers":{"lean-ctx":{"type":"stdio","command":"lean-ctx","args":["mcp"],"env":{"LEAN_CTX_LOG":"debug"}},"other":{"command":"x"}}}`)
	if r := connectAll(t, p, w); strings.Contains(r.Text(), ": connected") {
		t.Error(r.Text())
	}
	disconnectAll(t, p, w)
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"numStartups":1,"mcpServers":{"other":{"command":"x"}}}`; strings.ReplaceAll(string(got), " ", "") != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// An entry that was written by hand is not written twice, its command is made
// the right one, and disconnect takes it out.
func TestEntryByHand(t *testing.T) {
	p := newMachine(t)
	path := filepath.Join(p.Home, ".codex", "config.toml")
	write(t, path, "# mine\n[mcp_servers.\"lean-ctx\"] # here\ncommand = \"/old/lean-ctx\"\nargs = [\"mcp\"]\n\n[mcp_servers.lean-ctx.env]\nA = \"b\"\n\n# theirs\n[x]\ny = 1\n")
	w := ConnectOptions{Clients: []string{"codex"}}
	disconnectAll(t, p, w)
	got, err := os.ReadFile(path)
	if want := "# mine\n\n# theirs\n[x]\ny = 1\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// A plugin of an earlier version, of which no record is left, is replaced, and
// goes with disconnect.
func TestOldPlugin(t *testing.T) {
	p := newMachine(t)
	path := filepath.Join(p.Home, ".config", "opencode", "plugins", "lean-ctx.js")
	write(t, path, "// Made by `lean-ctx connect opencode`, of an earlier version\n")
	w := ConnectOptions{Clients: []string{"opencode"}}
	connectAll(t, p, w)
	disconnectAll(t, p, w)
	if exists(path) {
		t.Error("it is still there")
	}
}

// Programs that a client runs can be run, by their owner alone; somebody else's
// stays, and is named.
func TestPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such mode")
	}
	p := newMachine(t)
	dir := filepath.Join(p.Home, "Documents", "Cline", "Hooks")
	write(t, filepath.Join(dir, "TaskStart"), "#!/bin/sh\necho '{}'\n")
	before := tree(t, filepath.Dir(p.Home))
	w := ConnectOptions{Clients: []string{"cline"}}
	r, err := p.Connect(w)
	if err != nil || r.Failed() != 1 || !strings.Contains(r.Text(), "lean-ctx did not write it") || !strings.Contains(r.Text(), "lean-ctx hook cline session-start") {
		t.Errorf("%v\n%s", err, r.Text())
	}
	info, err := os.Stat(filepath.Join(dir, "PostToolUse"))
	if err != nil || info.Mode() != 0o700 {
		t.Error(info, err)
	}
	disconnectAll(t, p, w)
	if d := cmp.Diff(before, tree(t, filepath.Dir(p.Home))); d != "" {
		t.Error(d)
	}
	if err := os.Remove(filepath.Join(dir, "TaskStart")); err != nil {
		t.Fatal(err)
	}
	if r, err = p.Connect(w); err != nil || strings.Count(r.Text(), dir) != 6 {
		t.Errorf("%v\n%s", err, r.Text())
	}
	disconnectAll(t, p, w)
	p.System = "windows"
	connectAll(t, p, w)
	if exists(filepath.Join(dir, "PostToolUse")) {
		t.Error("a script for a shell that is not there")
	}
}

// A rule is written for a project alone; one that somebody wrote stays.
func TestRules(t *testing.T) {
	p := newMachine(t)
	path := filepath.Join(p.Root, ".cursor", "rules", "lean-ctx.mdc")
	connectAll(t, p, ConnectOptions{Clients: []string{"cursor"}})
	if exists(filepath.Dir(path)) {
		t.Error("in a project, although it was for a user")
	}
	write(t, path, "---\nalwaysApply: true\n---\nMine.\n")
	r, err := p.Connect(ConnectOptions{Clients: []string{"cursor"}, Scope: Project})
	if err != nil || r.Failed() != 1 || !strings.Contains(r.Text(), "lean-ctx did not write it") {
		t.Errorf("%v\n%s", err, r.Text())
	}
}

// Clients are found by what they leave in a home, or by their program.
func TestFound(t *testing.T) {
	p := newMachine(t)
	if r := connectAll(t, p, ConnectOptions{}); len(r.Files) > 0 || !strings.Contains(r.Text(), "No client was found") {
		t.Error(r.Text())
	}
	p.OnPath = func(name string) bool { return name == "zed" }
	write(t, filepath.Join(p.Home, ".codeium", "windsurf", "x"), "")
	r := connectAll(t, p, ConnectOptions{})
	if got := r.Files; len(got) != 3 || got[0].Client != "windsurf" || got[1].Client != "windsurf" || got[2].Client != "zed" {
		t.Error(r.Text())
	}
}

// Another system, or a home that was put elsewhere, has other paths.
func TestPaths(t *testing.T) {
	p := scratchMachine("/dir")
	p.System = "darwin"
	if got, want := p.path("{config}/Code/User/mcp.json"), filepath.FromSlash("/dir/home/Library/Application Support/Code/User/mcp.json"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	p.System = "linux"
	p.Getenv = func(name string) string {
		return map[string]string{"CODEX_HOME": "/cx", "CLAUDE_CONFIG_DIR": "/cl", "XDG_CONFIG_HOME": "relative"}[name]
	}
	for file, want := range map[string]string{"{codex}/config.toml": "/cx/config.toml", "{claude.json}": "/cl/.claude.json", "{claude}/settings.json": "/cl/settings.json", "{xdg}/zed": "/dir/home/.config/zed"} {
		if got := p.path(file); got != filepath.FromSlash(want) {
			t.Errorf("%s: got %s, want %s", file, got, want)
		}
	}
}

// A program of any name is connected with its hooks and found again when it has moved. It is
// also taken out of files that somebody else has written since.
func TestAnyProgramName(t *testing.T) {
	for _, program := range []string{"/opt/bin/lc", "/opt/bin/lean-ctx-linux-amd64", "/opt/my tools/memory"} {
		for _, c := range clients() {
			p := newMachine(t)
			before := tree(t, filepath.Dir(p.Home))
			p.Command = program
			o := ConnectOptions{Clients: []string{c.name}}
			connectAll(t, p, o)
			if r := connectAll(t, p, o); strings.Contains(r.Text(), ": connected") {
				t.Errorf("%s, %s, the second time: %s", program, c.name, r.Text())
			}
			p.Command = program + "-2"
			if r := connectAll(t, p, o); strings.Contains(r.Text(), unchanged) || strings.Contains(r.Text(), "it is replaced") {
				t.Errorf("%s, %s, moved: %s", program, c.name, r.Text())
			}
			disconnectAll(t, p, o)
			if d := cmp.Diff(before, tree(t, filepath.Dir(p.Home))); d != "" {
				t.Errorf("%s, %s: %s", program, c.name, d)
			}
			connectAll(t, p, o)
			for name, text := range tree(t, p.Home) {
				if _, data, ok := strings.Cut(text, "\n"); ok && strings.HasSuffix(name, ".json") && !strings.Contains(name, recordName) {
					write(t, filepath.Join(p.Home, name), data+"\n\n")
				}
			}
			disconnectAll(t, p, o)
			for name, text := range tree(t, p.Home) {
				if strings.Contains(text, program) {
					t.Errorf("%s, %s, written by somebody else: %s: %s", program, c.name, name, text)
				}
			}
		}
	}
}

// A data directory that cannot be written is a problem, whoever can read it.
func TestDoctorWrites(t *testing.T) {
	p := newMachine(t)
	if p.Data = "/proc"; runtime.GOOS != "linux" {
		t.Skip("there is no directory in which root cannot make a file")
	}
	if text := p.Examine(t.Context(), "1").Text(); !strings.Contains(text, "problem  data directory: cannot be written: ") {
		t.Error(text)
	}
}

// When another copy of the program is connected and starts, doctor says which one that is, and what
// connect would make of it.
func TestDoctorNamesOtherCopy(t *testing.T) {
	p := newMachine(t)
	p.Probe = func(context.Context, *exec.Cmd) (string, []string, error) { return "1", []string{"ctx_knowledge"}, nil }
	p.Command = "/old/place/lean-ctx"
	connectAll(t, p, ConnectOptions{Clients: []string{"zed", "opencode"}})
	p.Command = server
	write(t, filepath.Join(p.Home, ".config", "opencode", "plugins", "lean-ctx.js"), "// "+madeBy+" opencode`\n")
	text := p.Examine(t.Context(), "1").Text()
	for _, want := range []string{
		`settings.json: starts "/old/place/lean-ctx mcp", and connect would make it "lean-ctx mcp"`,
		`lean-ctx.js: was changed, or another version of lean-ctx wrote it`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

// When the program has moved, doctor names each client that still starts the old
// one, and its fix connects them again.
func TestDoctorFollowsMovedProgram(t *testing.T) {
	p := newMachine(t)
	p.Command = filepath.Join(t.TempDir(), "lc")
	connectAll(t, p, ConnectOptions{Clients: []string{"claude-code", "codex"}})
	p.Command = "/new/place/lc"
	x := p.Examine(t.Context(), "1")
	for _, want := range []string{"lean-ctx connect claude-code --scope user; with --dry-run", "lean-ctx connect codex", `.json: a hook or a setting is missing, or a hook calls another program than "/new/place/lc"`} {
		if text := x.Text(); !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if _, err := p.Fix(x); err != nil {
		t.Fatal(err)
	}
	for name, text := range tree(t, p.Home) {
		if strings.HasPrefix(name, ".c") && strings.Contains(text, "hook") && !strings.Contains(text, "/new/place/lc hook ") {
			t.Errorf("%s: %s", name, text)
		}
	}
}
