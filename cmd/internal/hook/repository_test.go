package hook

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	gotoml "github.com/pelletier/go-toml/v2"
)

// gitIn runs git in a directory.
func gitIn(dir string) func(args ...string) ([]byte, error) {
	return func(args ...string) ([]byte, error) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.hooksPath=/dev/null"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		return cmd.Output()
	}
}

// newRepository is a machine whose project is a repository with the given files.
func newRepository(t *testing.T, files map[string]string) Machine {
	t.Helper()
	m := newMachine(t)
	m.Git = gitIn(m.Root)
	for name, text := range files {
		write(t, filepath.Join(m.Root, name), text)
		if err := os.Chmod(filepath.Join(m.Root, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "--allow-empty", "-m", "first"}} {
		if out, err := m.Git(args...); err != nil {
			t.Fatalf("git %s: %v %s", args, err, out)
		}
	}
	return m
}

var someRemote = Remote{URL: "http://127.0.0.1:7337/p/0123456789abcdef/mcp", Token: "TOKEN-OF-THE-PROJECT"}

// A repository's links lead nowhere: neither connect nor disconnect nor doctor follows one, for a
// file or a directory, out of the project or within it.
func TestLinksOfARepositoryAreNotFollowed(t *testing.T) {
	for _, c := range []struct{ name, link, to, client string }{
		{"a file", ".mcp.json", "../home/victim", "claude-code"},
		{"a file that is not there", ".mcp.json", "../home/none", "claude-code"},
		{"a directory", ".cursor", "../home", "cursor"},
		{"within the repository", ".mcp.json", ".git/config", "claude-code"},
		{"a rule's directory", ".cursor/rules", "../../home", "cursor"},
		{"hooks", ".claude/settings.json", "../../home/victim", "claude-code"},
		{"what is ignored", ".git/info/exclude", "../../../home/victim", "claude-code"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newRepository(t, nil)
			victim := filepath.Join(m.Home, "victim")
			write(t, victim, "{}\n")
			link := filepath.Join(m.Root, filepath.FromSlash(c.link))
			if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
				t.Fatal(err)
			}
			_ = os.Remove(link)
			if err := os.Symlink(filepath.FromSlash(c.to), link); err != nil {
				t.Skip(err)
			}
			before, config := tree(t, m.Home), filepath.Join(m.Root, ".git", "config")
			text, err := os.ReadFile(config)
			if err != nil {
				t.Fatal(err)
			}
			o := ConnectOptions{Clients: []string{c.client}, Scope: Project}
			if strings.Contains(c.link, "exclude") {
				o.Remote = someRemote
			}
			r, err := m.Connect(o)
			if err != nil || r.Failed() == 0 || !strings.Contains(r.Text(), "is a link in the project") {
				t.Errorf("%v\n%s", err, r.Text())
			}
			if strings.Contains(r.Text(), someRemote.Token) {
				t.Errorf("the token was shown:\n%s", r.Text())
			}
			_ = m.Examine(t.Context(), "1")
			if _, err := m.Disconnect(ConnectOptions{Clients: []string{c.client}, Scope: Project}); err != nil {
				t.Error(err)
			}
			after := tree(t, m.Home)
			delete(after, filepath.Join(".lean-ctx"))
			if d := cmp.Diff(before, after); d != "" {
				t.Error(d)
			}
			if now, err := os.ReadFile(config); err != nil || !bytes.Equal(now, text) {
				t.Errorf("git's configuration was edited: %s, %v", now, err)
			}
		})
	}
}

// A file that gets a token is the user's alone and is ignored by git; a file that is committed gets
// none. Disconnect gives everything back to the byte, the mode and the list of ignored files too.
func TestTokenIsNotCommitted(t *testing.T) {
	for _, existing := range []string{"", "{\n  // mine\n}\n"} {
		m := newRepository(t, map[string]string{"README.md": "x\n"})
		file, exclude := filepath.Join(m.Root, ".vscode", "mcp.json"), filepath.Join(m.Root, ".git", "info", "exclude")
		write(t, exclude, "# mine\n*.tmp") // without a line break at its end
		if existing != "" {
			write(t, file, existing)
			if err := os.Chmod(file, 0o664); err != nil {
				t.Fatal(err)
			}
		}
		before := tree(t, filepath.Dir(m.Home))
		o := ConnectOptions{Clients: []string{"vscode", "claude-code"}, Remote: someRemote}
		connectAll(t, m, o)
		data, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(data, []byte(someRemote.Token)) {
			t.Fatalf("%s, %v", data, err)
		}
		if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("others can read the token: %v, %v", info.Mode(), err)
		}
		if out, err := m.Git("add", "-A"); err != nil {
			t.Fatalf("%s, %v", out, err)
		}
		if out, err := m.Git("ls-files"); err != nil || string(out) != "README.md\n" {
			t.Errorf("git add -A took %s, %v", out, err)
		}
		if again := connectAll(t, m, o); strings.Contains(again.Text(), ": connected") {
			t.Errorf("the second time:\n%s", again.Text())
		}
		disconnectAll(t, m, ConnectOptions{})
		after := tree(t, filepath.Dir(m.Home))
		for _, all := range []map[string]string{before, after} {
			delete(all, filepath.Join("project", ".git", "index"))
		}
		if d := cmp.Diff(before, after); d != "" {
			t.Error(d)
		}
	}
}

// A repository's .gitignore can take a file out of what git ignores, and goes before the list that we write.
func TestTokenInAFileThatIsTakenOutOfWhatIsIgnored(t *testing.T) {
	for _, rule := range []string{"!/.mcp.json", "*.md\n!*.json", ".mcp.json\n!.mcp.*"} {
		m := newRepository(t, map[string]string{"README.md": "x\n", ".gitignore": rule + "\n"})
		r, err := m.Connect(ConnectOptions{Clients: []string{"claude-code"}, Remote: someRemote})
		if err != nil || r.Failed() != 1 || !strings.Contains(r.Text(), ".gitignore line ") || strings.Contains(r.Text(), someRemote.Token) {
			t.Errorf("%q: %v\n%s", rule, err, r.Text())
		}
		if _, err := os.Stat(filepath.Join(m.Root, ".mcp.json")); err == nil {
			t.Errorf("%q: the file has a token", rule)
		}
	}
	m := newRepository(t, map[string]string{"README.md": "x\n", ".gitignore": "!*.json\n.mcp.json\n"})
	if r, err := m.Connect(ConnectOptions{Clients: []string{"claude-code"}, Remote: someRemote}); err != nil || r.Failed() != 0 {
		t.Errorf("one that .gitignore ignores in the end: %v\n%s", err, r.Text())
	}
}

// A committed file gets no token, nor does one of which git does not tell whether it is committed.
func TestTokenInACommittedFile(t *testing.T) {
	m := newRepository(t, map[string]string{".mcp.json": "{}\n", ".Cursor/mcp.json": "{}\n"})
	before := tree(t, filepath.Dir(m.Home))
	o := ConnectOptions{Clients: []string{"claude-code"}, Remote: someRemote}
	r, err := m.Connect(o)
	if err != nil || r.Failed() != 1 || !strings.Contains(r.Text(), "git rm --cached .mcp.json") || strings.Contains(r.Text(), someRemote.Token) {
		t.Errorf("%v\n%s", err, r.Text())
	}
	if d := cmp.Diff(before, tree(t, filepath.Dir(m.Home))); d != "" {
		t.Error(d)
	}
	m.Git = nil
	if r, err := m.Connect(o); err != nil || r.Failed() != 1 || !strings.Contains(r.Text(), "without git") {
		t.Errorf("%v\n%s", err, r.Text())
	}
	if m.Git = gitIn(m.Root); runtime.GOOS == "linux" { // git was told that the file system ignores case
		if r, err := m.Connect(ConnectOptions{Clients: []string{"cursor"}, Remote: someRemote}); err != nil || r.Failed() != 1 {
			t.Errorf("%v\n%s", err, r.Text())
		}
	}
}

// A project below the top of its repository, and one of several work trees, are protected too.
func TestTokenInAWorkTree(t *testing.T) {
	m := newRepository(t, map[string]string{"sub/a.txt": "x\n"})
	tree := filepath.Join(filepath.Dir(m.Home), "tree")
	if out, err := m.Git("worktree", "add", "-q", tree); err != nil {
		t.Fatalf("%s, %v", out, err)
	}
	for _, root := range []string{filepath.Join(m.Root, "sub"), tree} {
		m.Root, m.Git = root, gitIn(root)
		connectAll(t, m, ConnectOptions{Clients: []string{"claude-code"}, Remote: someRemote})
		if out, err := m.Git("status", "--porcelain", "-uall"); err != nil || len(out) > 0 {
			t.Errorf("%s: git sees %s, %v", root, out, err)
		}
		disconnectAll(t, m, ConnectOptions{})
	}
}

// A file of a former version that holds a token and that others can read is closed, and opened again.
func TestOpenFileWithATokenIsClosed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such mode")
	}
	m := newMachine(t)
	file := filepath.Join(m.Root, ".mcp.json")
	o := ConnectOptions{Clients: []string{"claude-code"}, Remote: someRemote}
	connectAll(t, m, o)
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if text := m.Examine(t.Context(), "1").Text(); !strings.Contains(text, "problem  claude-code: "+file) || !strings.Contains(text, "others can read") {
		t.Error(text)
	}
	if r := connectAll(t, m, o); !strings.Contains(r.Text(), ": connected") {
		t.Error(r.Text())
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct{ before, with string }{
		{"", "/a\n"}, {"x", "x\n/a"}, {"x\n", "x\n/a\n"}, {"x\r\n", "x\r\n/a\r\n"}, {"/a", "/a"}, {"/a\ny\n", "/a\ny\n"}, {"/ab\n", "/ab\n/a\n"},
	} {
		if got := string(withLine([]byte(c.before), "/a")); got != c.with {
			t.Errorf("%q with it: %q, want %q", c.before, got, c.with)
		}
	}
	for before, want := range map[string]string{"/a\n": "", "x\n/a": "x", "/a": "", "x\n/a\ny\n": "x\ny\n", "x\r\n/a\r\ny": "x\r\ny", "/ab\n": "/ab\n", "/a\n/a\n": "/a\n"} {
		if got := string(withoutLine([]byte(before), "/a")); got != want {
			t.Errorf("%q without it: %q, want %q", before, got, want)
		}
	}
}

// Nothing that a repository wrote into our entry or beside our hooks survives connect, in the format
// of any client: no variable, directory, address or switch.
func TestEntryOfARepositoryIsWrittenWhole(t *testing.T) {
	foreign := map[string]any{
		"env":         map[string]any{"LD_PRELOAD": "./evil.so", "LEAN_CTX_PROJECT_ROOT": "../other", "LEAN_CTX_DATA_DIR": "/tmp/x"},
		"envs":        map[string]any{"PATH": "."},
		"environment": map[string]any{"PATH": "."},
		"envFile":     ".env",
		"cwd":         "../other", "url": "http://127.0.0.1:1/p/0123456789abcdef/mcp", "httpUrl": "http://x", "headers": map[string]any{"A": "b"},
		"disabled": true, "enabled": false, "type": "odd", "trust": true, "alwaysAllow": []any{"x"}, "timeout": 1, "tools": []any{}, "name": "other",
	}
	for _, c := range clients() {
		if c.servers[Project] == "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t)
			connectAll(t, m, ConnectOptions{Clients: []string{c.name}, Scope: Project})
			honest, infected := map[string]any{}, map[string]string{}
			for _, e := range c.edits(m, Project) {
				if e.format == ownFile {
					continue
				}
				f, err := e.read()
				if err != nil {
					t.Fatal(err)
				}
				if honest[e.path], err = decode(e.format, f.data); err != nil {
					t.Fatal(err)
				}
				all, err := decode(e.format, f.data)
				if err != nil {
					t.Fatal(err)
				}
				infect(all, foreign)
				data := []byte(encoded(all))
				if e.format == toml {
					if data, err = gotoml.Marshal(all); err != nil {
						t.Fatal(err)
					}
				}
				infected[e.path] = string(data)
			}
			for _, known := range []bool{true, false} { // whether connect wrote an entry here before
				if !known {
					if err := os.Remove(filepath.Join(m.Data, recordName)); err != nil {
						t.Fatal(err)
					}
				}
				for path := range honest {
					write(t, path, infected[path])
				}
				if text := m.Examine(t.Context(), "1").Text(); !strings.Contains(text, "problem ") {
					t.Errorf("doctor finds nothing:\n%s", text)
				}
				r := connectAll(t, m, ConnectOptions{Clients: []string{c.name}, Scope: Project})
				if !strings.Contains(r.Text(), "cwd") && !strings.Contains(r.Text(), "starts something else") {
					t.Errorf("what is gone is not named:\n%s", r.Text())
				}
				for path, want := range honest {
					data, err := os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
					got, err := decode(c.formatOf(path), data)
					if d := cmp.Diff(want, any(got)); d != "" || err != nil {
						t.Errorf("%s: %v\n%s\n%s", path, err, d, r.Text())
					}
				}
				if again := connectAll(t, m, ConnectOptions{Clients: []string{c.name}, Scope: Project}); strings.Contains(again.Text(), ": connected") {
					t.Errorf("the second time:\n%s", again.Text())
				}
			}
		})
	}
}

// formatOf is the format of one of a client's files.
func (c *client) formatOf(path string) format {
	if filepath.Ext(path) == ".toml" {
		return toml
	}
	return jsonc
}

// infect adds members to each object that starts our program.
func infect(x any, foreign map[string]any) {
	switch x := x.(type) {
	case map[string]any:
		own := false
		for _, key := range []string{"command", "bash", "powershell"} {
			_, has := x[key]
			own = own || has
		}
		for _, v := range x {
			infect(v, foreign)
		}
		if own {
			maps.Copy(x, foreign)
		}
	case []any:
		for _, v := range x {
			infect(v, foreign)
		}
	}
}
