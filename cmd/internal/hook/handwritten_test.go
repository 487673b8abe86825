package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// byHand are files with an entry of our name that somebody wrote. Each has what the client's
// own rewriting might make of the file with our entry in it.
var byHand = []struct{ client, file, text, entry string }{
	{"claude-code", ".claude.json", `{"mcpServers":{"lean-ctx":{"command":"/opt/my/lean-ctx","args":["mcp","--x"],"env":{"A":"1"}}}}`, `"--x"`},
	{"cursor", ".cursor/mcp.json", "{\n  \"mcpServers\": {\n    // mine\n    \"lean-ctx\": {\"url\": \"http://localhost:1/mcp\"}, // here\n  },\n}\n", "localhost:1"},
	{"gemini", ".gemini/settings.json", `{"mcpServers":{"a":{}, "lean-ctx":{"command":"/opt/my/lean-ctx","args":["mcp","--x"]}, "b":{}},"hooks":{}}`, `"--x"`},
	{"copilot", ".copilot/mcp-config.json", `{"mcpServers":{"lean-ctx":"odd"}}`, `"odd"`},
	{"windsurf", ".codeium/windsurf/mcp_config.json", `{"mcpServers":{"lean-ctx":{"command":"other"}}}`, `"other"`},
	{"cline", ".cline/data/settings/cline_mcp_settings.json", `{"mcpServers":{"lean-ctx":{"command":"x","disabled":true}}}`, `"x"`},
	{"opencode", ".config/opencode/opencode.json", `{"mcp":{"lean-ctx":{"type":"local","command":["node","lean-ctx"]}}}`, `"node"`},
	{"codex", ".codex/config.toml", "model = \"m\"\n\n[mcp_servers.lean-ctx]\ncommand = \"/opt/x\" # mine\n[mcp_servers.lean-ctx.env]\nA=\"1\"\n[z]\nb=1\n", `/opt/x`},
	{"codex", ".codex/config.toml", "[mcp_servers.\"lean-ctx\"]\ncommand = \"/opt/x\"", `/opt/x`},
	{"goose", ".config/goose/config.yaml", "extensions:\n    lean-ctx: # mine\n        type: stdio\n        cmd: /opt/x\n        envs: {A: \"1\"}\n    other:\n        enabled: true\nGOOSE_MODEL: m\n", "cmd: /opt/x"},
}

// An entry of our name that somebody wrote by hand comes back, to the byte. It stays when
// somebody else wrote the file meanwhile, and when nothing of ours is left.
func TestTheirEntry(t *testing.T) {
	for _, c := range byHand {
		p := newMachine(t)
		path := filepath.Join(p.Home, filepath.FromSlash(c.file))
		write(t, path, c.text)
		before := tree(t, filepath.Dir(p.Home))
		w := ConnectOptions{Clients: []string{c.client}}
		r := connectAll(t, p, w)
		if !strings.Contains(r.Text(), "it is replaced, and disconnect puts it back") {
			t.Errorf("%s: %s", c.client, r.Text())
		}
		p.Command = "/new place/lean-ctx"
		connectAll(t, p, w)
		got, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(got), "/new place") || strings.Contains(string(got), "localhost") {
			t.Errorf("%s: %s, %v", c.client, got, err)
		}
		disconnectAll(t, p, w)
		if d := cmp.Diff(before, tree(t, filepath.Dir(p.Home))); d != "" {
			t.Errorf("%s: %s", c.client, d)
		}
		disconnectAll(t, p, w)
		if d := cmp.Diff(before, tree(t, filepath.Dir(p.Home))); d != "" {
			t.Errorf("%s, the second time: %s", c.client, d)
		}

		connectAll(t, p, w)
		if got, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		write(t, path, strings.ReplaceAll(string(got), "    ", "  ")+"\n")
		disconnectAll(t, p, w)
		got, err = os.ReadFile(path)
		if err != nil || !strings.Contains(string(got), c.entry) || strings.Contains(string(got), "/new place") || strings.Contains(string(got), "lean-ctx hook") {
			t.Errorf("%s, written by somebody else: %s, %v", c.client, got, err)
		}
		if e := editOf(t, c.client, filepath.Base(path)); e.foreign(got) == "" {
			t.Errorf("%s, written by somebody else: no entry of theirs in %s", c.client, got)
		}
	}
}

// An entry that an older version of ours wrote, with another path, is ours, and goes. What
// somebody set in it stays as long as it is there.
func TestOurOldEntry(t *testing.T) {
	for _, c := range []struct{ client, file, text string }{
		{"cursor", ".cursor/mcp.json", `{"mcpServers":{"lean-ctx":{"command":"/old/bin/lean-ctx","args":["mcp"],"env":{"A":"1"}}}}`},
		{"codex", ".codex/config.toml", "[mcp_servers.lean-ctx]\ncommand = \"/old/bin/lean-ctx\"\nargs = [\"mcp\"]\nstartup_timeout_sec = 20\n[mcp_servers.lean-ctx.env]\nA = \"1\"\n\"b c\" = \"d\"\n"},
		{"goose", ".config/goose/config.yaml", "extensions:\n  lean-ctx:\n    type: stdio\n    cmd: /old/bin/lean-ctx\n    args: [mcp]\n    envs: {A: \"1\"}\n"},
		{"opencode", ".config/opencode/opencode.json", `{"mcp":{"lean-ctx":{"type":"local","command":["C:\\old\\lean-ctx.exe","mcp"],"environment":{"A":"1"}}}}`},
	} {
		p := newMachine(t)
		path := filepath.Join(p.Home, filepath.FromSlash(c.file))
		write(t, path, c.text)
		w := ConnectOptions{Clients: []string{c.client}}
		if r := connectAll(t, p, w); strings.Contains(r.Text(), "replaced") {
			t.Errorf("%s: %s", c.client, r.Text())
		}
		e := editOf(t, c.client, filepath.Base(path))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		entry, err := e.current(data)
		if err != nil || !strings.Contains(strings.ToLower(encoded(entry)), `{"a":"1"`) || regexp.MustCompile(`old[/\\]`).Match(data) {
			t.Errorf("%s: %v, %v", c.client, entry, err)
		}
		if c.client == "codex" && !strings.Contains(string(data), "startup_timeout_sec = 20") {
			t.Errorf("%s", data)
		}
		if r := connectAll(t, p, w); strings.Contains(r.Text(), ": connected") {
			t.Errorf("%s, the second time: %s", c.client, r.Text())
		}
		disconnectAll(t, p, w)
		if data, err = os.ReadFile(path); err != nil || strings.Contains(string(data), server) {
			t.Errorf("%s: %s, %v", c.client, data, err)
		}
	}
}

// What somebody added to our entry may have lines that begin like a table.
func TestEntryWithBracketsInTOML(t *testing.T) {
	const before, after = "model = \"m\"\n\n", "[other]\nx = 1\n"
	added := "[mcp_servers.lean-ctx.env]\nTEXT = \"\"\"\n[one]\n[two\n\"\"\"\n[mcp_servers.lean-ctx.tools]\nlist = [\n[\"a\"],\n[\"b\"],\n]\n"
	p := newMachine(t)
	path := filepath.Join(p.Home, ".codex", "config.toml")
	write(t, path, before+"[mcp_servers.lean-ctx]\ncommand = \"/old/lean-ctx\"\nargs = [\"mcp\"]\n"+added+after)
	w := ConnectOptions{Clients: []string{"codex"}}
	connectAll(t, p, w)
	data, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(data), "/old") || !strings.Contains(string(data), `[two\n`) {
		t.Errorf("%v\n%s", err, data)
	}
	write(t, path, before+"[mcp_servers.lean-ctx]\ncommand = \"lean-ctx\"\nargs = [\"mcp\"]\n"+added+after)
	disconnectAll(t, p, w)
	if data, err = os.ReadFile(path); err != nil || string(data) != strings.TrimSuffix(before, "\n")+after {
		t.Errorf("%v\n%s", err, data)
	}
}

// Our entry goes out of a long file that somebody has rewritten, also when its tables stand
// apart and a text looks like one of them. Everything else stays as it is.
func TestEntryInLongTOML(t *testing.T) {
	var others strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&others, "\n[other.t%d] # note\nx = %d\n", i, i)
	}
	text := "[x]\ntext = \"\"\"\n[mcp_servers.lean-ctx]\n\"\"\"\n\n# one\n" + others.String()
	ours := "[mcp_servers.lean-ctx]\ncommand = \"/old/lean-ctx\"\nargs = [\n  \"mcp\", # x\n]\n\n# about a tool\n[mcp_servers.lean-ctx.tools.ctx_recall]\napproval_mode = \"approve\"\n"
	apart := "[mcp_servers.lean-ctx.env]\nA = \"1\"\n"
	e := editOf(t, "codex", "config.toml")
	left, gone, err := e.remove([]byte(ours+text+apart), nil)
	if err != nil || gone || string(left) != text {
		t.Errorf("%v, %v: %s", err, gone, cmp.Diff(text, string(left)))
	}
	after, err := e.put([]byte(ours + text + apart))
	if entry, _ := e.current(after); err != nil || !strings.Contains(encoded(entry), `"approval_mode":"approve"`) || strings.Contains(string(after), "/old/") {
		t.Errorf("%v: %s", err, encoded(entry))
	}
}

// An edit of any JSON succeeds or fails with a reason. Nothing but our own is taken out.
func TestAnyJSON(t *testing.T) {
	edits := []edit{
		editOf(t, "claude-code", ".claude.json"), editOf(t, "gemini", "settings.json"), editOf(t, "cursor", "hooks.json"),
		editOf(t, "copilot", "lean-ctx.json"), editOf(t, "opencode", "opencode.json"),
	}
	rapid.Check(t, func(r *rapid.T) {
		e := rapid.SampledFrom(edits).Draw(r, "edit")
		file := value(r, "\n", 3)
		if rapid.Bool().Draw(r, "holders") {
			file = `{"mcpServers": ` + value(r, "\n", 2) + `, "hooks": ` + value(r, "\n", 2) + `, "mcp": ` + value(r, "\n", 2) + `}`
		}
		if after, err := e.put([]byte(file)); err == nil {
			if x, y := rest(r, e, file), rest(r, e, string(after)); x != y {
				r.Fatalf("%s\n%s\n%s", cmp.Diff(x, y), file, after)
			}
		}
		if left, gone, err := e.remove([]byte(file), nil); err != nil || gone || string(left) != file {
			r.Fatalf("%s: %s, %v, %v", file, left, gone, err)
		}
	})
}

// Each form that clients have for an entry starts the same program.
func TestCommandOf(t *testing.T) {
	for name, entry := range map[string]map[string]any{
		"most":     {"command": "lean-ctx", "args": []any{"mcp"}, "env": map[string]any{"A": "b"}},
		"opencode": {"command": []any{"lean-ctx", "mcp"}, "environment": map[string]any{"A": "b"}},
		"goose":    {"cmd": "lean-ctx", "args": []any{"mcp"}, "envs": map[string]any{"A": "b"}},
	} {
		line, env := commandOf(entry)
		if d := cmp.Diff([]string{"lean-ctx", "mcp", "A=b"}, append(line, env...)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	for _, entry := range []map[string]any{nil, {}, {"command": 3}, {"command": []any{}}, {"url": "http://x"}} {
		if line, _ := commandOf(entry); len(line) > 0 {
			t.Errorf("%v: %v", entry, line)
		}
	}
}
