package hook

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A switch of a client that turns us off is named with its file.
func TestDoctorReadsTheClientsSwitches(t *testing.T) {
	for _, c := range []struct{ client, file, text, want string }{
		{"claude-code", "home/.claude/settings.json", `{"disableAllHooks": true, HOOKS}`, "they are switched off: disableAllHooks in "},
		{"claude-code", "project/.claude/settings.local.json", `{"disableAllHooks": true}`, "they are switched off: disableAllHooks in "},
		{"claude-code", "home/.claude.json", `{"projects": {"ROOT": {"disabledMcpServers": ["lean-ctx"]}}, SERVERS}`, "the server is switched off: projects."},
		{"claude-code", "project/.claude/settings.json", `{"deniedMcpServers": [{"serverName": "lean-ctx"}]}`, "the server is switched off: deniedMcpServers"},
		{"codex", "home/.codex/config.toml", "[features]\nhooks = false\n\n[mcp_servers.lean-ctx]\nargs = ['mcp']\ncommand = 'lean-ctx'\n", "they are switched off: features.hooks in "},
		{"codex", "home/.codex/config.toml", "[mcp_servers.lean-ctx]\nenabled = false\nargs = ['mcp']\ncommand = 'lean-ctx'\n", "the server is switched off: enabled = false in "},
		{"gemini", "project/.gemini/settings.json", `{"hooksConfig": {"enabled": false}}`, "they are switched off: hooksConfig.enabled in "},
		{"gemini", "project/.gemini/settings.json", `{"hooksConfig": {"disabled": ["lean-ctx hook gemini session-start"]}}`, "they are switched off: hooksConfig.disabled in "},
		{"gemini", "project/.gemini/settings.json", `{"mcp": {"excluded": ["lean-ctx"]}}`, "the server is switched off: mcp.excluded in "},
		{"gemini", "project/.gemini/settings.json", `{"mcp": {"allowed": ["other"]}}`, "the server is switched off: mcp.allowed in "},
		{"gemini", "project/.gemini/settings.json", `{"mcp": {"allowed": ["other", "lean-ctx"]}}`, ""},
		{"gemini", "home/.gemini/mcp-server-enablement.json", `{"lean-ctx": {"enabled": false}}`, "the server is switched off: lean-ctx.enabled in "},
		{"opencode", "home/.config/opencode/opencode.json", `{"mcp": {"lean-ctx": {"type": "local", "command": ["lean-ctx", "mcp"], "enabled": false}}}`, "the server is switched off: enabled = false in "},
		{"cline", "home/.cline/data/settings/cline_mcp_settings.json", `{"mcpServers": {"lean-ctx": {"command": "lean-ctx", "args": ["mcp"], "disabled": true}}}`, "the server is switched off: disabled = true in "},
		{"vscode", "home/.config/Code/User/settings.json", `{"chat.mcp.access": "none" /* mine */}`, "the server is switched off: chat.mcp.access in "},
	} {
		m := newMachine(t)
		probed(&m)
		connectAll(t, m, ConnectOptions{Clients: []string{c.client}})
		path := filepath.Join(filepath.Dir(m.Home), filepath.FromSlash(c.file))
		old, _ := os.ReadFile(path) // empty if it is not there
		text := strings.ReplaceAll(c.text, "ROOT", filepath.ToSlash(m.Root))
		inner := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(string(old)), "{"), "}")
		text = strings.NewReplacer("HOOKS", inner, "SERVERS", inner).Replace(text)
		write(t, path, text)
		switch got := m.Examine(t.Context(), "1").Text(); {
		case c.want == "" && strings.Contains(got, "switched off"):
			t.Errorf("%s: %s is no such switch:\n%s", c.client, c.text, got)
		case !strings.Contains(got, c.want):
			t.Errorf("%s: no %s in\n%s", c.client, c.want, got)
		}
	}
}

// Doctor says when each hook last ran, that none did, and that Codex waits for approval.
func TestDoctorSaysWhenHooksRan(t *testing.T) {
	m := newMachine(t)
	probed(&m)
	connectAll(t, m, ConnectOptions{Clients: []string{"claude-code", "codex"}})
	const none = "settings.json: hooks are there, none has run in the last 30 days"
	if text := m.Examine(t.Context(), "1").Text(); !strings.Contains(text, none) || !strings.Contains(text, "Codex skips them until you approve them") {
		t.Error(text)
	}
	write(t, logPath(m.Data, "0123456789abcdef", "2026-11-02"), `
{"at":"2026-11-02T10:00:00Z","client":"claude-code","event":"session-start"}
{"at":"2026-11-02T11:30:00Z","client":"claude-code","event":"user-prompt"}
torn
{"at":"2026-11-02T10:15:00Z","client":"claude-code","event":"session-start"}
`)
	write(t, filepath.Join(m.Home, ".codex", "config.toml"), "[mcp_servers.lean-ctx]\nargs = ['mcp']\ncommand = 'lean-ctx'\n\n[hooks.state.\""+filepath.ToSlash(filepath.Join(m.Home, ".codex", "hooks.json"))+":session_start:0:0\"]\ntrusted_hash = \"sha256:00\"\n")
	text := m.Examine(t.Context(), "1").Text()
	if want := "hooks are there, last run: user-prompt 2026-11-02 11:30, session-start 2026-11-02 10:15"; !strings.Contains(text, want) || strings.Contains(text, "Codex skips them") {
		t.Errorf("no %s in\n%s", want, text)
	}
}

// A log of hooks that is a link, in a directory that is one, or no file, is not written and not read.
func TestLogOfHooksIsNoLink(t *testing.T) {
	for _, c := range []string{"file", "directory", "logs"} {
		data, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
		path := filepath.Join(data, "logs", "hook.log")
		write(t, victim, "mine\n")
		if c == "logs" {
			if err := os.Symlink(filepath.Dir(victim), filepath.Join(data, "logs")); err != nil {
				t.Skip(err)
			}
		} else if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		switch c {
		case "file":
			err = os.Symlink(victim, path)
		case "directory":
			err = os.Mkdir(path, 0o700)
		}
		if err != nil {
			t.Skip(err)
		}
		Call{Client: "codex", Event: SessionStart, Data: data}.log("no answer", errors.New("x"))
		if text, err := os.ReadFile(victim); err != nil || string(text) != "mine\n" {
			t.Errorf("%s: it was written: %s, %v", c, text, err)
		}
		if exists(filepath.Join(filepath.Dir(victim), "hook.log")) {
			t.Errorf("%s: a log was made behind the link", c)
		}
		m := newMachine(t)
		m.Data = data
		if err := os.Chmod(data, 0o700); err != nil {
			t.Fatal(err)
		}
		if text := m.Examine(t.Context(), "1").Text(); c != "logs" && !strings.Contains(text, "problem  hooks: ") {
			t.Errorf("%s: %s", c, text)
		}
	}
	s := Session{data: t.TempDir(), project: "0123456789abcdef", event: SessionEvent{At: time.Now().UTC()}}
	victim := filepath.Join(t.TempDir(), "victim")
	write(t, victim, "mine\n")
	path := logPath(s.data, s.project, s.event.At.Format(time.DateOnly))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, path); err != nil {
		t.Skip(err)
	}
	if s.write() {
		t.Error("the log of sessions was written through a link")
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "mine\n" {
		t.Errorf("%s, %v", text, err)
	}
}

// The last failure of a hook is shown.
func TestDoctorShowsTheLastFailure(t *testing.T) {
	m := newMachine(t)
	for _, text := range []string{"first", "input is not a \x1bJSON object"} {
		if err := os.MkdirAll(m.Data, 0o700); err != nil {
			t.Fatal(err)
		}
		Call{Client: "codex", Event: SessionStart, Data: m.Data}.log("no answer", errors.New(text))
	}
	text := m.Examine(t.Context(), "1").Text()
	if !strings.Contains(text, "a hook has failed before: ") || !strings.Contains(text, "JSON object") || strings.Contains(text, "first") || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
}

// A secret in a session's name or in a file's stands in no log. Two such sessions stay two.
func TestNoSecretInTheLogs(t *testing.T) {
	clean := func(text string) string { return strings.NewReplacer("S3CRET", "…", "0THER", "…").Replace(text) }
	c := Call{Client: "codex", Event: SessionStart, Data: t.TempDir(), Clean: clean}
	c.log("no answer", errors.New("open /x/S3CRET.txt: no such file"))
	text, err := os.ReadFile(filepath.Join(c.Data, "logs", "hook.log"))
	if err != nil || strings.Contains(string(text), "S3CRET") || !strings.Contains(string(text), "no such file") {
		t.Errorf("%s, %v", text, err)
	}
	one, two := c.session(input{"session_id": "s-S3CRET"}), c.session(input{"session_id": "s-0THER"})
	if a, b := one.event.Session, two.event.Session; a == b || strings.Contains(a+b, "S3CRET") || strings.Contains(a+b, "0THER") {
		t.Errorf("%s, %s", a, b)
	}
	for _, name := range []string{"0123abcd-4567-89ef", "my session"} {
		if got := c.session(input{"session_id": name}).event.Session; got != name {
			t.Errorf("%s became %s", name, got)
		}
	}
}
