package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// realClientsVar asks for the tests that need the clients themselves: the npm
// packages @anthropic-ai/claude-code @openai/codex @google/gemini-cli
// opencode-ai, @github/copilot and cline, with their programs on PATH.
const realClientsVar = "LEAN_CTX_REAL_CLIENTS"

// The real clients, without an account and in a home of their own, see the server after
// connect. Disconnect gives the home back to the byte.
func TestRealClients(t *testing.T) {
	if os.Getenv(realClientsVar) == "" {
		t.Skip("set " + realClientsVar + "=1 to run it against the clients on PATH")
	}
	home, project := t.TempDir(), t.TempDir()
	t.Cleanup(func() { endAll(t, home) })
	env := append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "LEAN_CTX_DATA_DIR=", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
	run := func(t *testing.T, name string, args ...string) string {
		c := exec.CommandContext(t.Context(), name, args...)
		c.Dir, c.Env = project, env
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	var names []string
	clients := map[string]struct{ program, says string }{
		"claude-code": {"claude", "Connected"}, "codex": {"codex", "enabled"}, "gemini": {"gemini", "lean-ctx mcp (stdio)"},
		"opencode": {"opencode", "connected"}, "copilot": {"copilot", "lean-ctx (local)"},
	}
	for name, c := range clients {
		if _, err := exec.LookPath(c.program); err != nil {
			t.Logf("SKIPPED: %s is not on PATH", c.program)
			continue
		}
		names = append(names, name)
		run(t, c.program, "mcp", "list") // it makes its own files at its first start
	}
	before := homeOf(t, home)
	run(t, "lean-ctx", append([]string{"connect"}, names...)...)
	run(t, "lean-ctx", "disconnect")
	if d := cmp.Diff(before, homeOf(t, home)); d != "" {
		t.Errorf("the home is another: %s", d)
	}
	run(t, "lean-ctx", append([]string{"connect"}, names...)...)
	for _, name := range names {
		c := clients[name]
		if out := run(t, c.program, "mcp", "list"); !strings.Contains(out, "lean-ctx") || !strings.Contains(out, c.says) {
			t.Errorf("%s: %s", name, out)
		}
	}
	run(t, "lean-ctx", "doctor")
	run(t, "lean-ctx", "disconnect")
	for _, name := range names {
		if out := run(t, clients[name].program, "mcp", "list"); strings.Contains(out, "lean-ctx mcp") {
			t.Errorf("%s still knows it: %s", name, out)
		}
	}
}

// endAll ends what a client left running, since it would write into its home while that is
// removed. By /proc it finds the processes with that HOME.
func endAll(t *testing.T, home string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		left := 0
		environs, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range environs {
			data, err := os.ReadFile(name)
			if err != nil || !slices.Contains(strings.Split(string(data), "\x00"), "HOME="+home) {
				continue // it is gone, or somebody else's
			}
			left++
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
				if p, err := os.FindProcess(pid); err == nil {
					_ = p.Kill() // it may have ended by itself
				}
			}
		}
		switch {
		case left == 0:
			return
		case time.Now().After(deadline):
			t.Errorf("%d processes of %s cannot be ended", left, home)
			return
		}
	}
}

// homeOf is every file of a directory, with its mode and what is in it.
func homeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[path] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all[path] += fmt.Sprintf(" %x", sha256.Sum256(data))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
