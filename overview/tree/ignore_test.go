package tree

import (
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Odd patterns mean what `git check-ignore` says they mean.
func TestOddPatternsAsGitReadsThem(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this system has no such names")
	}
	y := newYard(t)
	y.git(".", "init", "-q")
	names := []string{"a", "b", "ab", "abc", "a]b", "a-b", "a^b", "a.b", "a+b", "a(b)", "x/a", "x/y/a", "x/y/z/a", "a/b", "a/x/b", "a/x/y/b", "A", "7", "x7", "é", "a$", "a|b", "a{b}", "[", "a[b", "*", "**", "a*", "-", "!", "^", "_", ".a", "x/.a/b", "a b", "foo/bar", "foo/x/bar"}
	patterns := []string{"a", "/a", "a/", "*", "**", "*/*", "?", "??", "a?b", "[ab]", "[!ab]", "[^ab]", "[a-c]", "[c-a]", "[]]", "[!]]", "a[]]b", "a[]-]b", "a[-b]b", "a[b", "[[:digit:]]", "[[:alpha:]]", "[![:alnum:]]", "[[:nope:]]", "x[[:digit:]a]",
		"**/a", "a/**", "x/**/a", "a/**/b", "**/b", "x/**", "/**/a", "a**", "**b", "a**b", "a/***/b", `\a`, `\*`, `\**`, `a\`, `\[`, `a\[b`, "a.b", "a+b", "a(b)", "a$", "a|b", "a{b}", "a^b", "{a,b}", "a b", `a\ b`, "é", "!a", "x/*/a", "*/b", "foo/*", "fo?/bar", "foo/**/bar", "[\\]]", "[a\\-c]", "a[\\]]b", "[!-a]", "[--a]", "[*-+]b", "[é]", "[é][é]", "[é]?", "[!é]"}
	for _, p := range patterns {
		y.write(".gitignore", p+"\n")
		cmd := exec.Command("git", "check-ignore", "--no-index", "--stdin", "-z")
		cmd.Dir, cmd.Stdin = y.root, strings.NewReader(strings.Join(names, "\x00"))
		out, _ := cmd.Output() // status 1: none is ignored
		ignored := strings.Split(string(out), "\x00")
		r := (&rules{}).with("", parseRules(p))
		for _, n := range names {
			ours := false
			for i := range n { // a directory above it may be ignored
				ours = ours || n[i] == '/' && r.ignore(n[:i], true)
			}
			if ours = ours || r.ignore(n, false); ours != slices.Contains(ignored, n) {
				t.Errorf("pattern %q, name %q: ignored %v, git says %v", p, n, ours, !ours)
			}
		}
	}
}
