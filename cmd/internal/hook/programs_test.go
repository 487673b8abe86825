package hook

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// probed makes a machine note what doctor starts.
func probed(m *Machine) *[]*exec.Cmd {
	started := new([]*exec.Cmd)
	m.Probe = func(_ context.Context, cmd *exec.Cmd) (string, []string, error) {
		*started = append(*started, cmd)
		return "1", []string{"ctx_knowledge"}, nil
	}
	return started
}

// projectFiles are the clients' files of servers in a project, with an entry of our name.
var projectFiles = map[string]string{
	".mcp.json":              `{"mcpServers": {"lean-ctx": %s}}`,
	".cursor/mcp.json":       `{"mcpServers": {"lean-ctx": %s}}`,
	".gemini/settings.json":  `{"mcpServers": {"lean-ctx": %s}}`,
	".vscode/mcp.json":       `{"servers": {"lean-ctx": %s}}`,
	".github/mcp.json":       `{"mcpServers": {"lean-ctx": %s}}`,
	".devin/mcp_config.json": `{"mcpServers": {"lean-ctx": %s}}`,
	".zed/settings.json":     `{"context_servers": {"lean-ctx": %s}}`,
	".amp/settings.json":     `{"amp.mcpServers": {"lean-ctx": %s}}`,
	"opencode.json":          `{"mcp": {"lean-ctx": %s}}`,
}

// Doctor names the program of a project's file, and does not start it: not another program, not
// ours with other arguments or variables. It starts it when the user names the client.
func TestDoctorStartsNoProgramOfARepository(t *testing.T) {
	for _, entry := range []string{
		`{"command": "evil", "args": ["mcp"]}`, `{"command": "./lean-ctx", "args": ["mcp"]}`, `{"command": "lean-ctx", "args": ["mcp", "--x"]}`, `{"command": "/bin/lean-ctx", "args": ["mcp"]}`,
		`{"command": "lean-ctx", "args": ["mcp"], "env": {"LD_PRELOAD": "./evil.so"}}`, `{"command": ["lean-ctx", "mcp"], "environment": {"PATH": "."}}`, `{"command": ["sh", "-c", "touch ran"]}`,
	} {
		m := newMachine(t)
		started := probed(&m)
		for name, text := range projectFiles {
			write(t, filepath.Join(m.Root, filepath.FromSlash(name)), fmt.Sprintf(text, entry))
		}
		write(t, filepath.Join(m.Root, ".codex", "config.toml"), "[mcp_servers.lean-ctx]\ncommand = 'evil'\nargs = ['mcp']\n")
		if text := m.Examine(t.Context(), "1").Text(); strings.Contains(text, "--start") {
			t.Errorf("an agent is told to start it:\n%s", text)
		}
		m.Person = true
		text := m.Examine(t.Context(), "1").Text()
		if len(*started) > 0 {
			t.Errorf("%s: %s was started", entry, (*started)[0])
		}
		if got := strings.Count(text, "A project's program is not started"); got != len(projectFiles)+1 {
			t.Errorf("%s: %d are named:\n%s", entry, got, text)
		}
		if !strings.Contains(text, "lean-ctx doctor --start cursor") {
			t.Errorf("it does not say how:\n%s", text)
		}
		m.MayStart = func(client string, line []string) bool {
			if client == "cursor" && !strings.Contains(entry, line[len(line)-1]) {
				t.Errorf("%s: asked for %q", entry, line)
			}
			return client == "cursor"
		}
		m.Examine(t.Context(), "1")
		if len(*started) != 1 {
			t.Errorf("%s: %d were started when one was named", entry, len(*started))
		}
	}
}

// What connect writes is started in every scope, and what the user wrote in files of his own.
func TestDoctorStartsWhatTheUserHas(t *testing.T) {
	m := newMachine(t)
	m.Command, m.Shared = "/opt/bin/lean-ctx", "lean-ctx"
	started := probed(&m)
	connectAll(t, m, ConnectOptions{Clients: []string{"cursor", "zed", "opencode", "codex"}, Scope: Project})
	write(t, filepath.Join(m.Home, ".gemini", "settings.json"), `{"mcpServers": {"lean-ctx": {"command": "my-wrapper", "args": ["lean-ctx", "mcp"]}}}`)
	text := m.Examine(t.Context(), "1").Text()
	if strings.Contains(text, "is not started") || len(*started) != 3 { // once for each command line and variables
		t.Errorf("%d were started:\n%s", len(*started), text)
	}
	if data, err := os.ReadFile(filepath.Join(m.Root, ".zed", "settings.json")); err != nil || !strings.Contains(string(data), `"lean-ctx"`) || strings.Contains(string(data), "/opt") {
		t.Errorf("a shared file has %s, %v", data, err)
	}
	for _, f := range m.Examine(t.Context(), "1").Findings {
		if f.Level == Problem && f.Subject != "gemini" {
			t.Errorf("%+v", f)
		}
	}
}

// A server is started with what its entry says, and with what every client gives: another variable
// of the shell would hide that a client does not pass it on.
func TestDoctorPassesOnlyWhatTheEntrySays(t *testing.T) {
	m := newMachine(t)
	m.Getenv = func(name string) string {
		return map[string]string{"HOME": m.Home, "LEAN_CTX_DATA_DIR": "/other", "SECRET": "x", "PATH": "/far/bin", "LANG": "C"}[name]
	}
	started := probed(&m)
	connectAll(t, m, ConnectOptions{Clients: []string{"cursor"}})
	path := filepath.Join(m.Home, ".cursor", "mcp.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(string(data), `"env": {`, `"env": {"MINE": "1",`, 1))
	m.Examine(t.Context(), "1")
	if len(*started) != 1 {
		t.Fatal(*started)
	}
	want := []string{"HOME=" + m.Home, "LANG=C", "MINE=1", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", "WORKSPACE_FOLDER_PATHS=" + m.Root}
	if got := slices.Sorted(slices.Values((*started)[0].Env)); runtime.GOOS != "windows" && !slices.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

// A program that only a shell finds is a remark.
func TestDoctorKnowsTheShortPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the desktop has the user's PATH")
	}
	m := newMachine(t)
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	write(t, filepath.Join(dir, server), stub)
	if err := os.Chmod(filepath.Join(dir, server), 0o700); err != nil {
		t.Fatal(err)
	}
	probed(&m)
	connectAll(t, m, ConnectOptions{Clients: []string{"zed"}})
	if text := m.Examine(t.Context(), "1").Text(); !strings.Contains(text, "started from the desktop may not find it: it is in "+dir) {
		t.Error(text)
	}
}

// The data directory that was set is written into the user's entries, beside what is there, and not
// into files that others share; disconnect takes it out again.
func TestDataDirectoryIsWritten(t *testing.T) {
	m := newMachine(t)
	before := tree(t, filepath.Dir(m.Home))
	m.Env = map[string]string{"LEAN_CTX_DATA_DIR": "/my/mem"}
	o := ConnectOptions{Clients: Names()}
	connectAll(t, m, o)
	if r := connectAll(t, m, o); strings.Contains(r.Text(), ": connected") {
		t.Errorf("the second time:\n%s", r.Text())
	}
	for _, c := range clients() {
		path := m.path(c.servers[User])
		data, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(data), "/my/mem") {
			t.Errorf("%s: %s, %v", c.name, data, err)
		}
		if f := c.edits(m, User)[0]; len(f.entry) > 0 {
			entry, _ := f.current(data)
			own, _ := entry.(map[string]any)
			if _, env := commandOf(own); dataDirOf(env) != "/my/mem" {
				t.Errorf("%s: %s", c.name, env)
			}
		}
	}
	disconnectAll(t, m, ConnectOptions{})
	if d := cmp.Diff(before, tree(t, filepath.Dir(m.Home))); d != "" {
		t.Error(d)
	}
	zed := filepath.Join(m.Home, ".config", "zed", "settings.json")
	write(t, zed, `{"context_servers": {"lean-ctx": {"source": "custom", "command": "lean-ctx", "args": ["mcp"], "env": {"MINE": "1", "LEAN_CTX_DATA_DIR": "/old"}}}}`)
	connectAll(t, m, ConnectOptions{Clients: []string{"zed"}})
	if data, err := os.ReadFile(zed); err != nil || !strings.Contains(string(data), `"MINE"`) || !strings.Contains(string(data), `"/my/mem"`) || strings.Contains(string(data), "/old") {
		t.Errorf("%s, %v", data, err)
	}
	connectAll(t, m, ConnectOptions{Clients: []string{"cursor"}, Scope: Project})
	if data, err := os.ReadFile(filepath.Join(m.Root, ".cursor", "mcp.json")); err != nil || strings.Contains(string(data), "/my/mem") || !strings.Contains(string(data), "${workspaceFolder}") {
		t.Errorf("%s, %v", data, err)
	}
}
