package app

import (
	"bytes"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the generated pages again")

// The generated pages show what the program prints and takes today.
func TestPages(t *testing.T) {
	exe, err := os.Executable() // with asProgram set it is the program
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"demo/TRANSCRIPT.md": "# What `lean-ctx demo` prints\n\n```text\n" + output(t, exe, nil, "demo") + "```\n",
		"demo/story.svg":     drawTerminal(storySession(t, exe)),
	} {
		path = filepath.Join("..", filepath.FromSlash(path))
		got, err := os.ReadFile(path)
		if err == nil && string(got) == want {
			continue
		}
		if !*update {
			t.Errorf("%s is out of date: go test ./cmd/internal/app -run TestPages -update\n%s", path, cmp.Diff(string(got), want))
			continue
		}
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// output is what a command of the program prints.
func output(t *testing.T, exe string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command(exe, args...)
	cmd.Env = append(append(os.Environ(), asProgram+"=1"), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%q: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

// storySession is a session in a terminal: the commands, each with what it
// prints.
func storySession(t *testing.T, exe string) []string {
	t.Helper()
	dir := t.TempDir()
	env := []string{"LEAN_CTX_DATA_DIR=" + filepath.Join(dir, "data"), "LEAN_CTX_PROJECT_ROOT=" + dir, "LEAN_CTX_AGENT="}
	var lines []string
	for _, command := range []string{
		`lean-ctx knowledge remember "JWT RS256" -c architecture -k auth --confidence 0.95 --valid-from 2026-01-15`,
		`lean-ctx knowledge remember "jwt rs256." -c architecture -k auth`,
		`lean-ctx knowledge remember "OAuth2 + PKCE" -c architecture -k auth --confidence 0.9 --valid-from 2026-03-20`,
		`lean-ctx knowledge timeline architecture`,
		`lean-ctx knowledge recall auth`,
		`lean-ctx knowledge recall auth --as-of 2026-02-01`,
		`lean-ctx knowledge recall "favourite colour"`,
	} {
		text := output(t, exe, env, shellWords(command)[1:]...)
		lines = append(lines, "$ "+command)
		lines = append(lines, strings.Split(strings.TrimRight(text, "\n"), "\n")...)
		lines = append(lines, "")
	}
	return lines[:len(lines)-1]
}

// drawTerminal draws lines of text as a terminal shows them.
func drawTerminal(lines []string) string {
	const columns, lineHeight, margin = 112, 19, 18
	var wrapped []string
	for _, line := range lines {
		for utf8.RuneCountInString(line) > columns {
			r := []rune(line)
			at := columns
			for at > columns/2 && r[at] != ' ' {
				at--
			}
			wrapped = append(wrapped, string(r[:at]))
			line = "    " + strings.TrimLeft(string(r[at:]), " ")
		}
		wrapped = append(wrapped, line)
	}
	width, height := columns*79/10+2*margin, len(wrapped)*lineHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#16181d"/>`+"\n", width, height)
	b.WriteString(`<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13" xml:space="preserve">` + "\n")
	for i, line := range wrapped {
		colour := "#c9d1d9"
		switch {
		case strings.HasPrefix(line, "$ "):
			colour = "#7ee787"
		case strings.Contains(line, "⚠"):
			colour = "#f2cc60"
		}
		if line != "" {
			fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", margin, margin+13+i*lineHeight, colour, html.EscapeString(line))
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}
