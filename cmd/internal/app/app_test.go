package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/cmd/internal/config"
)

// home gives the test a data directory and a project of its own.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	project := filepath.Join(dir, "my-app")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv(config.DataDirVar, filepath.Join(dir, "data"))
	t.Setenv(config.ProjectVar, project)
	// Nothing may reach the settings of whoever runs the tests.
	for _, name := range []string{"HOME", "USERPROFILE", "APPDATA", "XDG_CONFIG_HOME"} {
		t.Setenv(name, dir)
	}
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"} {
		t.Setenv(name, "")
	}
	return dir
}

// do runs a command and gives its exit code and what it printed.
func do(t *testing.T, in string, args ...string) (int, string, string) {
	t.Helper()
	ctx := t.Context()
	if len(args) > 0 && args[0] == hookName { // it gives up after a second, which a busy machine may need
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Hour)
		defer cancel()
	}
	var out, errs bytes.Buffer
	code := Main(ctx, args, strings.NewReader(in), &out, &errs)
	return code, out.String(), errs.String()
}

func TestMainAnswers(t *testing.T) {
	home(t)
	code, out, errs := do(t, "", "knowledge", "remember", "JWT RS256", "-c", "architecture", "-k", "auth", "--confidence", "0.95")
	if code != 0 || out != "Remembered [architecture] auth: JWT RS256 (confidence: 95%)\n" || errs != "" {
		t.Errorf("got %d, %q, %q", code, out, errs)
	}
	code, out, errs = do(t, "", "knowledge", "remove", "-c", "architecture", "-k", "nothing")
	if code != 3 || out != "" || errs != "lean-ctx: error: No fact found: [architecture] nothing\n" {
		t.Errorf("got %d, %q, %q", code, out, errs)
	}
}

func TestInterruptedWhileWaitingForInput(t *testing.T) {
	home(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(); r.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"knowledge", "remember", "-", "-c", "a"}, {"mcp"}} {
		var out, errs bytes.Buffer
		if code := Main(ctx, args, r, &out, &errs); code != interrupted || out.Len() > 0 || errs.Len() > 0 {
			t.Errorf("%v: got %d, %q, %q", args, code, out.String(), errs.String())
		}
	}
}

// A server tells a client what is known of the project without leaving a trace
// of one of which nothing is.
func TestServerLooksBeforeItWrites(t *testing.T) {
	dir := home(t)
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	if code, out, errs := do(t, hello, "mcp"); code != 0 || !strings.Contains(out, `"serverInfo"`) || errs != "" {
		t.Fatalf("got %d, %s, %s", code, out, errs)
	}
	if _, err := os.Stat(filepath.Join(dir, "data")); !os.IsNotExist(err) {
		t.Errorf("a handshake left a data directory: %v", err)
	}
	do(t, "", "knowledge", "remember", "JWT RS256", "-c", "architecture", "-k", "auth", "--pinned")
	_, out, _ := do(t, hello, "mcp")
	if !strings.Contains(out, "ARCHITECTURE:auth=JWT RS256") {
		t.Errorf("no briefing in the instructions: %s", out)
	}
}

// A clone's configuration is read for the project that a call names, not only
// for the one that the server was started in.
func TestSettingsAreThoseOfTheCallsProject(t *testing.T) {
	dir := home(t)
	other := filepath.Join(dir, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	const rule = `{"sensitive": [{"id": "ticket", "pattern": "SEC-[0-9]{6}"}]}`
	if err := os.WriteFile(filepath.Join(other, ".lean-ctx.json"), []byte(rule), 0o600); err != nil {
		t.Fatal(err)
	}
	for project, want := range map[string]string{other: "see [REDACTED:repository]", filepath.Join(dir, "my-app"): "see SEC-123456"} {
		_, out, _ := do(t, "", "knowledge", "remember", "see SEC-123456", "-c", "ops", "-k", "ticket", "--project", project)
		if !strings.Contains(out, want) {
			t.Errorf("%s: got %q, want %q", project, out, want)
		}
	}
}

// So they are for agents and tasks whose stores a search across projects has opened.
func TestSettingsAfterASearchAreThoseOfTheCallsProject(t *testing.T) {
	dir := home(t)
	other := filepath.Join(dir, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	do(t, "", "knowledge", "remember", "blue", "-c", "a", "-k", "k", "--project", other)
	const rule = `{"sensitive": [{"id": "ticket", "pattern": "SEC-[0-9]{6}"}]}`
	if err := os.WriteFile(filepath.Join(other, ".lean-ctx.json"), []byte(rule), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "config.json"), []byte(`{"cross_project_write": true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := dial(t, serving(t), "")
	c.must("ctx_recall", `{"action":"search","query":"blue"}`)
	got := c.must("ctx_task", fmt.Sprintf(`{"action":"create","title":"see SEC-123456","project":%q}`, other))
	if !strings.Contains(got, "see [REDACTED:repository]") {
		t.Error(got)
	}
}

func TestAgentIsWhoAsserts(t *testing.T) {
	home(t)
	t.Setenv(config.AgentVar, "cursor-a3f8")
	do(t, "", "knowledge", "remember", "one", "-c", "a", "-k", "env")
	do(t, "", "knowledge", "remember", "two", "-c", "a", "-k", "flag", "--agent", "claude-b7e2")
	t.Setenv(config.AgentVar, "")
	do(t, "", "knowledge", "remember", "three", "-c", "a", "-k", "shell")
	t.Setenv("CLAUDECODE", "1")
	do(t, "", "knowledge", "remember", "four", "-c", "a", "-k", "client")
	_, out, _ := do(t, "", "knowledge", "export")
	var doc struct {
		Facts []struct {
			Key     string `json:"key"`
			By      string `json:"asserted_by"`
			Sources []struct{ Kind string }
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, f := range doc.Facts {
		got[f.Key] = f.By + " " + f.Sources[0].Kind
	}
	for key, want := range map[string]string{"env": "cursor-a3f8 agent", "flag": "claude-b7e2 agent", "shell": "tool:cli agent", "client": "claude-code agent"} {
		if got[key] != want {
			t.Errorf("%s: got %q, want %q", key, got[key], want)
		}
	}
}

// A user has a terminal, also beside a pipe or a file; the null device and other devices are none,
// and a client's mark tells of an agent there too.
func TestCaller(t *testing.T) {
	open := func(path string) *os.File {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	for _, m := range clientMarks { // whoever runs the tests
		t.Setenv(m.variable, "")
	}
	terminal, null, zero, pipe := open("/dev/ptmx"), open(os.DevNull), open("/dev/zero"), &bytes.Buffer{}
	for _, x := range []struct {
		in        io.Reader
		out, errs io.Writer
		want      string
	}{
		{terminal, terminal, terminal, "user"}, {null, terminal, pipe, "user"}, {terminal, null, pipe, "user"}, {pipe, pipe, terminal, "user"},
		{null, null, null, "tool"}, {pipe, pipe, pipe, "tool"}, {zero, pipe, pipe, "tool"}, {pipe, zero, zero, "tool"},
	} {
		if got := caller(x.in, x.out, x.errs).Kind; got != x.want {
			t.Errorf("%v, %v, %v: %s, want %s", x.in, x.out, x.errs, got, x.want)
		}
	}
	for _, m := range clientMarks {
		t.Setenv(m.variable, "1")
		if c := caller(terminal, terminal, terminal); c.Kind != "agent" || c.Name != m.client {
			t.Errorf("%s: %+v", m.variable, c)
		}
		t.Setenv(m.variable, "")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestAnswerThatCannotBeWritten(t *testing.T) {
	home(t)
	var errs bytes.Buffer
	code := Main(t.Context(), []string{"knowledge", "remember", "kept", "-c", "a", "-k", "b"}, strings.NewReader(""), full{}, &errs)
	if code != failed || !strings.Contains(errs.String(), "done, but the answer could not be written") {
		t.Errorf("got %d, %s", code, errs.String())
	}
	if _, out, _ := do(t, "", "knowledge", "recall", "-c", "a"); !strings.Contains(out, "kept") {
		t.Errorf("got %s", out)
	}
}
