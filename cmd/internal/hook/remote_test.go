package hook

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leanctx/internal/refusal"
)

// Each client's entry has the address and the token where that client looks for them. The
// doctor recognises it as ours, and disconnect leaves every file as it was.
func TestConnectByURL(t *testing.T) {
	want := map[string]string{
		"claude-code": `{"type": "http", "url": "URL", "headers": {"Authorization": "Bearer TOKEN", "X-Lean-Ctx-Client": "NAME"}}`,
		"codex":       "http_headers = {Authorization = 'Bearer TOKEN', X-Lean-Ctx-Client = 'NAME'}\nurl = 'URL'",
		"gemini":      `{"httpUrl": "URL", "headers": {"Authorization": "Bearer TOKEN", "X-Lean-Ctx-Client": "NAME"}}`,
		"copilot":     `{"type": "http", "url": "URL", "headers": {"Authorization": "Bearer TOKEN", "X-Lean-Ctx-Client": "NAME"}, "tools": ["*"]}`,
		"vscode":      `{"type": "http", "url": "URL", "headers": {"Authorization": "Bearer TOKEN", "X-Lean-Ctx-Client": "NAME"}}`,
		"cursor":      `{"url": "URL", "headers": {"Authorization": "Bearer TOKEN", "X-Lean-Ctx-Client": "NAME"}}`,
		"windsurf":    `{"serverUrl": "URL", "headers": {"Authorization": "Bearer TOKEN", "X-Lean-Ctx-Client": "NAME"}}`,
		"opencode":    `{"type": "remote", "url": "URL", "headers": {"Authorization": "Bearer TOKEN", "X-Lean-Ctx-Client": "NAME"}, "enabled": true}`,
		"zed":         `{"url": "URL", "headers": {"Authorization": "Bearer TOKEN", "X-Lean-Ctx-Client": "NAME"}}`,
		"amp":         `{"url": "URL", "headers": {"Authorization": "Bearer TOKEN", "X-Lean-Ctx-Client": "NAME"}}`,
	}
	remote, err := ParseRemote("http://127.0.0.1:7337", "TOKEN", "0123456789abcdef")
	if err != nil || remote.URL != "http://127.0.0.1:7337/p/0123456789abcdef/mcp" {
		t.Fatalf("%+v, %v", remote, err)
	}
	plain := strings.NewReplacer(" ", "", "\n", "", "\t", "")
	for _, name := range Names() {
		m := newMachine(t)
		o := ConnectOptions{Clients: []string{name}, Remote: remote}
		if want[name] == "" { // it has no scope for a project
			_, err := m.Connect(o)
			if e, ok := errors.AsType[*refusal.HintError](err); !ok || e.Hint != "leave --url out" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		r, err := m.Connect(o)
		if err != nil || len(r.Files) != 1 || r.Files[0].Outcome != connected || r.Files[0].Scope != Project {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		data, err := os.ReadFile(r.Files[0].Path)
		if err != nil {
			t.Fatal(err)
		}
		entry := strings.NewReplacer("URL", remote.URL, "TOKEN", remote.Token, "NAME", name).Replace(want[name])
		if !strings.Contains(plain.Replace(string(data)), plain.Replace(entry)) {
			t.Errorf("%s wrote\n%s, want\n%s", name, data, entry)
		}
		if again, err := m.Connect(o); err != nil || again.Files[0].Outcome != unchanged {
			t.Errorf("%s again: %+v, %v", name, again, err)
		}
		seen := false
		for _, f := range m.Examine(t.Context(), "test").Findings {
			seen = seen || f.Subject == name && strings.Contains(f.Text, "goes to "+remote.URL)
			if f.Subject == name && f.Level == Problem {
				t.Errorf("the doctor says %+v", f)
			}
		}
		if !seen {
			t.Errorf("%s: the doctor does not see it", name)
		}
		if _, err := m.Disconnect(ConnectOptions{Clients: []string{name}}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(r.Files[0].Path); err == nil {
			t.Errorf("%s: %s is left", name, filepath.Base(r.Files[0].Path))
		}
	}
}

func TestBadAddresses(t *testing.T) {
	for _, address := range []string{"", "127.0.0.1:7337", "ftp://127.0.0.1/", "http://", "http://user:pass@127.0.0.1:7337", "http://127.0.0.1:7337/?token=x", "http://memory.example"} {
		if r, err := ParseRemote(address, "", "0123456789abcdef"); err == nil {
			t.Errorf("%q: %+v", address, r)
		}
	}
	if r, err := ParseRemote("https://memory.example/p/fedcba9876543210/mcp", "TOKEN", "0123456789abcdef"); err != nil || r.URL != "https://memory.example/p/fedcba9876543210/mcp" {
		t.Errorf("%+v, %v", r, err)
	}
	for _, scope := range []Scope{User, Local} {
		if _, err := newMachine(t).Connect(ConnectOptions{Clients: []string{"claude-code"}, Scope: scope, Remote: Remote{URL: "http://127.0.0.1:7337/mcp", Token: "x"}}); err == nil {
			t.Errorf("scope %s was taken", scope)
		}
	}
}
