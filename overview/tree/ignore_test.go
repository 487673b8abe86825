package tree

import (
	"fmt"
	"os/exec"
	"runtime"
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
	var asked []string // each pattern holds in a directory of its own
	for i, p := range patterns {
		y.write(fmt.Sprintf("p%d/.gitignore", i), p+"\n")
		for _, n := range names {
			asked = append(asked, fmt.Sprintf("p%d/%s", i, n))
		}
	}
	cmd := exec.Command("git", "check-ignore", "--no-index", "--stdin", "-z")
	cmd.Dir, cmd.Stdin = y.root, strings.NewReader(strings.Join(asked, "\x00"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	ignored := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		ignored[name] = true
	}
	for i, p := range patterns {
		r := (&rules{}).with("", parseRules(p))
		for _, n := range names {
			ours := false
			for i := range n { // a directory above it may be ignored
				ours = ours || n[i] == '/' && r.ignore(n[:i], true)
			}
			if ours = ours || r.ignore(n, false); ours != ignored[fmt.Sprintf("p%d/%s", i, n)] {
				t.Errorf("pattern %q, name %q: ignored %v, git says %v", p, n, ours, !ours)
			}
		}
	}
}
