package hook

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each form that clients have for an entry starts the same program.
func TestServerCommand(t *testing.T) {
	want := serverCommand{command: "lean-ctx", args: []string{"mcp"}, env: map[string]string{"A": "b"}}
	for name, entry := range map[string]map[string]any{
		"most":     {"command": "lean-ctx", "args": []any{"mcp"}, "env": map[string]any{"A": "b"}},
		"opencode": {"command": []any{"lean-ctx", "mcp"}, "environment": map[string]any{"A": "b", "C": 1}},
		"goose":    {"cmd": "lean-ctx", "args": []any{"mcp"}, "envs": map[string]any{"A": "b"}},
	} {
		got, ok := serverCommandOf(entry)
		if d := cmp.Diff(want, got, cmp.AllowUnexported(serverCommand{})); !ok || d != "" {
			t.Errorf("%s: %v %s", name, ok, d)
		}
	}
	for _, entry := range []map[string]any{nil, {}, {"command": 3}, {"command": []any{}}, {"url": "http://x"}} {
		if s, ok := serverCommandOf(entry); ok {
			t.Errorf("%v: %v", entry, s)
		}
	}
}

// What is no server says what it is.
func TestNoServer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are shell scripts")
	}
	for text, want := range map[string]string{
		"echo hello":                     "is not MCP: hello",
		"echo no such store >&2; exit 3": "it said: no such store",
		`read x; echo '{"id":1,"error":{"message":"too old"}}'`: "it refused: too old",
	} {
		path := filepath.Join(t.TempDir(), "server")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, _, err := (serverCommand{command: path}).probe(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	if _, _, err := (serverCommand{command: filepath.Join(t.TempDir(), "gone")}).probe(t.Context(), t.TempDir()); err == nil {
		t.Error("a program that is not there started")
	}
}
