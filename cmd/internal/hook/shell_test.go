package hook

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// oddNames are names of directories in which a shell could find something to do.
var oddNames = []string{
	"plain", "with blank", "$HOME", "$(touch ran)", "`touch ran`", "; touch ran;", "& touch ran &", "it's", `a"b`, `a\b`, `a\$b`, "!x", "#x", "a*b", "(x)",
	"{a,b}", "~", "x|touch ran", "> ran", "a\nb", "%PATH%", `'"`, "日本", "-n",
}

// stub is a program that prints its arguments, one a line.
const stub = "#!/bin/sh\nfor a; do printf '%s\\n' \"$a\"; done\n"

// A hook's line starts the program, and nothing else, whatever its path is named, in each
// shell that a client uses.
func TestHookLinesRunTheProgramAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program of this test is a shell script")
	}
	shells := [][]string{{"sh", "-c"}}
	for _, s := range []string{"bash", "dash", "zsh"} {
		if path, err := exec.LookPath(s); err == nil {
			shells = append(shells, []string{path, "-c"})
		}
	}
	for _, name := range oddNames {
		dir := t.TempDir()
		program := filepath.Join(dir, name, "lean-ctx")
		write(t, program, stub)
		if err := os.Chmod(program, 0o700); err != nil {
			t.Fatal(err)
		}
		lines := map[string]string{"the line": commandLine(program, "claude-code", SessionStart)}
		m, script := scratchMachine(dir), filepath.Join(dir, "TaskStart")
		m.Command = program
		chosen, err := choose([]string{"cline"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range chosen[0].edits(m, User) {
			if filepath.Base(e.path) == "TaskStart" {
				write(t, script, e.text)
			}
		}
		lines["Cline's script"] = "sh TaskStart"
		for where, line := range lines {
			want := "hook\nclaude-code\nsession-start"
			if where != "the line" {
				want = "hook\ncline\nsession-start"
			}
			for _, shell := range shells {
				cmd := exec.Command(shell[0], append(shell[1:], line)...)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				if err != nil || strings.TrimSpace(string(out)) != want {
					t.Errorf("%q, %s, %s: %s printed %q, %v", name, where, shell[0], line, out, err)
				}
			}
		}
		if exists(filepath.Join(dir, "ran")) {
			t.Errorf("%q was run", name)
		}
		if !ownCommand().MatchString(lines["the line"]) {
			t.Errorf("%q is not known as ours", lines["the line"])
		}
	}
}

// What needs no quotes has none, and a blank has those that it always had: Codex asks for approval
// again when a line changes.
func TestHookLinesStay(t *testing.T) {
	for command, want := range map[string]string{
		"lean-ctx":                              "lean-ctx hook codex session-start",
		"/opt/bin/lean-ctx-1.2_x@y+z":           "/opt/bin/lean-ctx-1.2_x@y+z hook codex session-start",
		"/opt/my tools/lc":                      `"/opt/my tools/lc" hook codex session-start`,
		"C:/Program Files (x86)/l/lean-ctx.exe": `"C:/Program Files (x86)/l/lean-ctx.exe" hook codex session-start`,
		"/it's/lc":                              `"/it's/lc" hook codex session-start`,
		"/a$b/lc":                               `'/a$b/lc' hook codex session-start`,
	} {
		if got := commandLine(command, "codex", SessionStart); got != want {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
	}
}

// PowerShell takes a quoted path for a text unless & stands before it.
func TestHookLinesForPowerShell(t *testing.T) {
	for command, want := range map[string]string{
		"lean-ctx":            "lean-ctx hook copilot session-start",
		"C:/Program Files/lc": `& 'C:/Program Files/lc' hook copilot session-start`,
		"C:/it's $x/lc":       `& 'C:/it''s $x/lc' hook copilot session-start`,
		"C:/a‘b/lc":           `& 'C:/a‘‘b/lc' hook copilot session-start`,
	} {
		if got := powerShellLine(command, "copilot", SessionStart); got != want {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
		if line := powerShellLine(command, "copilot", SessionStart); !ownCommand().MatchString(line) {
			t.Errorf("%q is not known as ours", line)
		}
	}
	m := newMachine(t)
	m.Command, m.System = "C:/Program Files/lc", "windows"
	for _, c := range []struct{ client, file, line string }{
		{"copilot", ".copilot/hooks/lean-ctx.json", `& 'C:/Program Files/lc' hook copilot session-start`},
		{"gemini", ".gemini/settings.json", `& 'C:/Program Files/lc' hook gemini session-start`},
		{"codex", ".codex/hooks.json", `& 'C:/Program Files/lc' hook codex session-start`},
		{"claude-code", ".claude/settings.json", `"C:/Program Files/lc" hook claude-code session-start`},
	} {
		connectAll(t, m, ConnectOptions{Clients: []string{c.client}})
		data, err := os.ReadFile(filepath.Join(m.Home, c.file))
		want, _ := json.Marshal(c.line)
		want = bytes.ReplaceAll(want, []byte(`\u0026`), []byte("&"))
		if err != nil || !bytes.Contains(data, want) {
			t.Errorf("%s: no %s in %s, %v", c.client, want, data, err)
		}
	}
}

// A path that needs quotes is connected once, by every client, and taken out again to the byte.
func TestOddPathConnectsOnce(t *testing.T) {
	m := newMachine(t)
	m.Command = "/opt/a $b & `c` 'd' \"e\" <f> \\g\u2028/lc"
	before := tree(t, filepath.Dir(m.Home))
	o := ConnectOptions{Clients: Names()}
	connectAll(t, m, o)
	if r := connectAll(t, m, o); strings.Contains(r.Text(), ": connected") {
		t.Errorf("the second time:\n%s", r.Text())
	}
	disconnectAll(t, m, o)
	if d := cmp.Diff(before, tree(t, filepath.Dir(m.Home))); d != "" {
		t.Error(d)
	}
}
