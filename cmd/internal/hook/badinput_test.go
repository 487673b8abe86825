package hook

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"leanctx/internal/refusal"
)

// A file that cannot be edited stays as it is, to the byte. The report has its place, the
// reason and what to paste. The client's other files are edited.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ client, file, text, problem string }{
		"half written":       {"gemini", ".gemini/settings.json", "{\n  \"a\": {\n", ".gemini/settings.json:3:1: not JSON"},
		"a letter too much":  {"cursor", ".cursor/mcp.json", "{\n  \"a\": 1x\n}", ".cursor/mcp.json:2:8: not JSON"},
		"no object":          {"gemini", ".gemini/settings.json", "[]", ".gemini/settings.json:1:1: the file is not an object"},
		"a list":             {"cursor", ".cursor/hooks.json", "[]\n", ".cursor/hooks.json:1:1: the file is not an object"},
		"a list of objects":  {"copilot", ".copilot/hooks/lean-ctx.json", "// x\n[{}]", ".copilot/hooks/lean-ctx.json:2:1: the file is not an object"},
		"a list of numbers":  {"cursor", ".cursor/mcp.json", "[1,2]", ".cursor/mcp.json:1:1: the file is not an object"},
		"holder is a list":   {"cursor", ".cursor/mcp.json", "{\"mcpServers\":\n []}", `.cursor/mcp.json:2:2: "mcpServers" is not an object`},
		"holder is null":     {"cursor", ".cursor/mcp.json", `{"mcpServers": null}`, `is not an object`},
		"hooks is a text":    {"gemini", ".gemini/settings.json", `{"hooks": "x"}`, `"hooks" is not an object`},
		"event is a text":    {"gemini", ".gemini/settings.json", `{"hooks": {"SessionStart": "x"}}`, `"SessionStart" is not a list`},
		"place of a problem": {"gemini", ".gemini/settings.json", `{"mcpServers": {}, "hooks": {"SessionStart": [], "SessionEnd": 1}}`, `settings.json:1:64: "SessionEnd" is not a list`},
		"binary":             {"cursor", ".cursor/mcp.json", "\x00\x01\xff", "not JSON"},
		"too deep":           {"cursor", ".cursor/mcp.json", "{\n" + strings.Repeat(`{"[":[`, 10<<20/6), "mcp.json: not JSON: nested more than 10000 levels deep"},
		"bad TOML":           {"codex", ".codex/config.toml", "a = 1\nb = \n", ".codex/config.toml:2:"},
		"a table twice":      {"codex", ".codex/config.toml", "[a]\n[a]\n", "not TOML"},
		"inline table":       {"codex", ".codex/config.toml", "mcp_servers = {x = {command = \"y\"}}\n", "no safe place"},
		"servers a number":   {"codex", ".codex/config.toml", "mcp_servers = 1\n", "no safe place"},
		"bad YAML":           {"goose", ".config/goose/config.yaml", "a: [\nb: 1\n", "config.yaml"},
		"YAML in a line":     {"goose", ".config/goose/config.yaml", "extensions: {a: {enabled: true}}\n", "is written on one line"},
		"two documents":      {"goose", ".config/goose/config.yaml", "extensions:\n  a: {}\n---\nb: 1\n", "config.yaml"},
		"another's plugin":   {"opencode", ".config/opencode/plugins/lean-ctx.js", "export const X = 1\n", "lean-ctx did not write it"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newMachine(t)
			path := filepath.Join(p.Home, filepath.FromSlash(c.file))
			write(t, path, c.text)
			r, err := p.Connect(ConnectOptions{Clients: []string{c.client}})
			if err != nil {
				t.Fatal(err)
			}
			if text := filepath.ToSlash(r.Text()); r.Failed() != 1 || !strings.Contains(text, c.problem) || !strings.Contains(text, "lean-ctx") || !strings.Contains(text, "by hand") {
				t.Errorf("got %s, want %s", text, c.problem)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != c.text {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// Where the file should be is something else.
func TestNoFile(t *testing.T) {
	p := newMachine(t)
	if err := os.MkdirAll(filepath.Join(p.Home, ".cursor", "mcp.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(p.Home, ".codex"), "a file")
	r, err := p.Connect(ConnectOptions{Clients: []string{"cursor", "codex"}})
	if err != nil || r.Failed() != 3 || !strings.Contains(r.Text(), "is a directory") {
		t.Errorf("%v\n%s", err, r.Text())
	}
}

// A directory that cannot be written is said so, and nothing is left behind.
func TestNoPermission(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("whoever runs this may write everywhere")
	}
	p := newMachine(t)
	dir := filepath.Join(p.Home, ".cursor")
	if err := os.Mkdir(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	before := tree(t, p.Home)
	r, err := p.Connect(ConnectOptions{Clients: []string{"cursor"}})
	if err != nil || r.Failed() != 2 || !strings.Contains(r.Text(), "make it writable") {
		t.Errorf("%v\n%s", err, r.Text())
	}
	if d := cmp.Diff(before, tree(t, p.Home)); d != "" {
		t.Error(d)
	}
}

// A link into a repository of dotfiles stays a link. The file it leads to is edited, with its
// permissions, or made.
func TestLinks(t *testing.T) {
	p := newMachine(t)
	file := filepath.Join(p.Home, "dotfiles", "gemini.json")
	write(t, file, "{\n  // mine\n}\n")
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{".gemini/settings.json": "../dotfiles/gemini.json", ".cursor/mcp.json": "../dotfiles/none.json"} {
		path := filepath.Join(p.Home, filepath.FromSlash(link))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.FromSlash(to), path); err != nil {
			t.Skip(err)
		}
	}
	before := tree(t, p.Home)
	w := ConnectOptions{Clients: []string{"gemini", "cursor"}}
	connectAll(t, p, w)
	after := tree(t, p.Home)
	if got := after[filepath.Join("dotfiles", "gemini.json")]; !strings.HasPrefix(got, "-rw-r-----") || !strings.Contains(got, "// mine") || !strings.Contains(got, server) {
		t.Error(got)
	}
	if got := after[filepath.Join(".gemini", "settings.json")]; got != before[filepath.Join(".gemini", "settings.json")] {
		t.Error(got)
	}
	if got := after[filepath.Join("dotfiles", "none.json")]; !strings.Contains(got, server) {
		t.Error(got)
	}
	disconnectAll(t, p, w)
	if d := cmp.Diff(before, tree(t, p.Home)); d != "" {
		t.Error(d)
	}
}

// Of a key that is there twice the last one counts, to a client and to us; both
// are rid of our entry.
func TestKeyTwice(t *testing.T) {
	p := newMachine(t)
	path := filepath.Join(p.Home, ".cursor", "mcp.json")
	const twice = `{"mcpServers": {"a": {}}, "mcpServers": {"b": {}}}`
	write(t, path, twice)
	w := ConnectOptions{Clients: []string{"cursor"}}
	connectAll(t, p, w)
	got, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(got), "{\"b\": {},\n  \"lean-ctx\"") {
		t.Errorf("%s, %v", got, err)
	}
	disconnectAll(t, p, w)
	if got, err = os.ReadFile(path); err != nil || string(got) != twice {
		t.Errorf("%s, %v", got, err)
	}
}

// When somebody has written such a file since, only our entry goes, and nothing that has its
// name, or a name like it. A comma at the end stays.
func TestRemoveFromKeyTwice(t *testing.T) {
	const entry = `{"command": "lean-ctx", "args": ["mcp"]}`
	e := editOf(t, "cursor", "mcp.json")
	for _, c := range []struct{ before, after string }{
		{`{"mcpServers": {"a": {}}, "mcpServers": {"lean-ctx": ` + entry + `}}`, `{"mcpServers": {"a": {}}}`},
		{`{"mcpServers": {"lean-ctx'": {}, "lean-ctx": ` + entry + `, "lean-ctx''": {}}}`, `{"mcpServers": {"lean-ctx'": {}, "lean-ctx''": {}}}`},
		{`{"mcpServers": {"lean-ctx": {}, "b": {} /* b */, "lean-ctx": ` + entry + ` }, }`, `{"mcpServers": { "b": {} /* b */ }, }`},
		{"{\n  // a\n  \"mcpServers\": {\n    \"a\": {},\n    \"lean-ctx\": " + entry + ",\n  },\n}\n", "{\n  // a\n  \"mcpServers\": {\n    \"a\": {},\n  },\n}\n"},
		{"{\n  \"a\": 1 /* a */ ,\n  \"mcpServers\": {\"lean-ctx\": " + entry + "},\n}\n", "{\n  \"a\": 1 /* a */ ,\n}\n"},
	} {
		if got, _, err := e.remove([]byte(c.before), nil); err != nil || string(got) != c.after {
			t.Errorf("%s: %s, %v, want %s", c.before, got, err, c.after)
		}
	}
}

// Where a client's file is damaged, the next client is connected all the same;
// and nobody is connected where one of the names is unknown.
func TestOthersAreConnected(t *testing.T) {
	p := newMachine(t)
	write(t, filepath.Join(p.Home, ".cursor", "hooks.json"), "[]")
	r, err := p.Connect(ConnectOptions{Clients: []string{"cursor", "gemini"}})
	if err != nil || r.Failed() != 1 || !strings.Contains(r.Text(), "settings.json: connected") {
		t.Errorf("%v\n%s", err, r.Text())
	}
	p = newMachine(t)
	before := tree(t, p.Home)
	if _, err := p.Connect(ConnectOptions{Clients: []string{"claude-code", "emacs"}}); err == nil {
		t.Error("emacs was taken")
	}
	if d := cmp.Diff(before, tree(t, p.Home)); d != "" {
		t.Error(d)
	}
}

// Of all clients by name, those that have the scope are connected. The others are named in the
// report and in the error.
func TestThoseWithTheScope(t *testing.T) {
	p := newMachine(t)
	before := tree(t, filepath.Dir(p.Home))
	r, err := p.Connect(ConnectOptions{Clients: Names(), Scope: Project})
	if e, ok := errors.AsType[*refusal.HintError](err); !ok || e.Error() != "no scope project: goose, cline" || e.Hint != "use user" {
		t.Error(err)
	}
	if text := r.Text(); r.Failed() > 0 || !strings.Contains(text, "zed: "+filepath.Join(p.Root, ".zed", "settings.json")+": connected") || !strings.Contains(text, "cline: left out, it has no scope project\n") {
		t.Error(text)
	}
	disconnectAll(t, p, ConnectOptions{})
	if d := cmp.Diff(before, tree(t, filepath.Dir(p.Home))); d != "" {
		t.Error(d)
	}
}

// Where the way back cannot be written, no file of a client is.
func TestRecordFirst(t *testing.T) {
	p := newMachine(t)
	write(t, filepath.Join(p.Home, ".cursor", "mcp.json"), "{}")
	if err := os.Symlink(filepath.Join(p.Home, "nowhere", "x"), p.Data); err != nil {
		t.Skip(err)
	}
	before := tree(t, p.Home)
	if r, err := p.Connect(ConnectOptions{Clients: []string{"cursor"}}); err == nil || !strings.Contains(err.Error(), "was not changed") {
		t.Errorf("%v\n%s", err, r.Text())
	}
	if d := cmp.Diff(before, tree(t, p.Home)); d != "" {
		t.Error(d)
	}
}

// A disconnect does not complain of a file that cannot contain anything of ours. For another
// file it says what to take out, and not what to put there.
func TestNothingToTakeOut(t *testing.T) {
	for _, text := range []string{"{", "", "[]", "null", `{"mcpServers": null}`, `{"projects": {"/x/lean-ctx": 1}, "mcpServers": null}`, `{"mcpServers": []}`, "\x00\xff"} {
		p := newMachine(t)
		write(t, filepath.Join(p.Home, ".claude.json"), text)
		write(t, filepath.Join(p.Home, ".codex", "config.toml"), text)
		if err := os.MkdirAll(filepath.Join(p.Home, ".cursor", "mcp.json"), 0o700); err != nil {
			t.Fatal(err)
		}
		before := tree(t, p.Home)
		if text != `{"projects": {"/x/lean-ctx": 1}, "mcpServers": null}` {
			if r := disconnectAll(t, p, ConnectOptions{}); !strings.Contains(r.Text(), "Nothing is connected") {
				t.Errorf("%q: %s", text, r.Text())
			}
		}
		disconnectAll(t, p, ConnectOptions{Clients: []string{"claude-code"}})
		if d := cmp.Diff(before, tree(t, p.Home)); d != "" {
			t.Error(d)
		}
	}
	p := newMachine(t)
	write(t, filepath.Join(p.Home, ".codex", "config.toml"), "mcp_servers = \"lean-ctx\"\n")
	disconnectAll(t, p, ConnectOptions{Clients: []string{"codex"}})
	path := filepath.Join(p.Home, ".cursor", "mcp.json")
	connectAll(t, p, ConnectOptions{Clients: []string{"cursor"}})
	write(t, path, `{"mcpServers": {"lean-ctx": `)
	r, err := p.Disconnect(ConnectOptions{})
	if text := r.Text(); err != nil || r.Failed() != 1 || !strings.Contains(text, `Take out by hand: the entry "lean-ctx", and hooks that call "hook cursor"`) || strings.Contains(text, "Put this") {
		t.Errorf("%v\n%s", err, text)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	connectAll(t, p, ConnectOptions{Clients: []string{"cursor"}})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if r, err := p.Disconnect(ConnectOptions{Clients: []string{"cursor"}}); err != nil || r.Failed() != 1 || strings.Contains(r.Text(), "Put this") {
		t.Errorf("%v\n%s", err, r.Text())
	}
}

// A record that cannot be read stops everything: without it the way back would
// be lost.
func TestBadRecord(t *testing.T) {
	for _, text := range []string{"{", `{"schema": 99}`} {
		p := newMachine(t)
		write(t, filepath.Join(p.Data, recordName), text)
		if _, err := p.Connect(ConnectOptions{Clients: []string{"cursor"}}); err == nil || !strings.Contains(err.Error(), recordName) {
			t.Error(err)
		}
	}
}

// There is no such client, or it has no such scope.
func TestUnknown(t *testing.T) {
	p := newMachine(t)
	for _, w := range []ConnectOptions{{Clients: []string{"emacs"}}, {Clients: []string{"codex"}, Scope: Local}} {
		if _, err := p.Connect(w); err == nil {
			t.Errorf("%v was taken", w)
		}
	}
}

// A dry run shows what would change and changes nothing.
func TestDryRun(t *testing.T) {
	p := newMachine(t)
	write(t, filepath.Join(p.Home, ".codex", "config.toml"), "model = \"x\"\n")
	before := tree(t, p.Home)
	r := connectAll(t, p, ConnectOptions{Clients: []string{"codex"}, DryRun: true})
	if !strings.Contains(r.Text(), "   model = \"x\"\n  +\n  +[mcp_servers.lean-ctx]\n") || r.Files[0].Outcome != "would be changed" {
		t.Error(r.Text(), r.Files[0].Outcome)
	}
	if d := cmp.Diff(before, tree(t, p.Home)); d != "" {
		t.Error(d)
	}
}

// A record that an earlier version kept may not know the former file. Then only our entry goes.
func TestRecordWithoutFormerFile(t *testing.T) {
	p, w := newMachine(t), ConnectOptions{Clients: []string{"gemini"}}
	path := filepath.Join(p.Home, ".gemini", "settings.json")
	write(t, path, `{"theme": "dark"}`)
	connectAll(t, p, w)
	rec, err := p.readRecord()
	if err != nil {
		t.Fatal(err)
	}
	for i := range rec.Files {
		rec.Files[i].Former = nil
	}
	if err := p.save(rec); err != nil {
		t.Fatal(err)
	}
	disconnectAll(t, p, w)
	if got, err := os.ReadFile(path); err != nil || !strings.Contains(string(got), `"dark"`) || strings.Contains(string(got), server) {
		t.Errorf("%s, %v", got, err)
	}
}
