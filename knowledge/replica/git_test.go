package replica_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var rounds = flag.Int("rounds", 4, "rounds of work, merge, rebase and squash in clones of a real repository (200 for a long run)")

// git runs git in a clone. What fails, as a push that somebody was before, is left undone.
func (m *machine) git(args ...string) (string, bool) {
	c := exec.Command("git", args...)
	c.Dir = m.root
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true",
		"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e@x", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e@x")
	out, err := c.CombinedOutput()
	return string(out), err == nil
}

// exchange syncs and commits, gets what the others have by a merge or a rebase, pushes, and syncs.
func (m *machine) exchange(t interface{ Fatalf(string, ...any) }, rebase bool) {
	m.sync(t)
	m.git("add", "-A")
	m.git("commit", "-qm", "memory")
	how := "--no-rebase"
	if rebase {
		how = "--rebase"
	}
	if out, ok := m.git("pull", "-q", "--no-edit", how, "origin", "main"); !ok && !strings.Contains(out, "couldn't find remote ref") {
		t.Fatalf("git could not %s: %s", how, out)
	}
	m.git("push", "-q", "origin", "HEAD:main")
	m.sync(t)
}

// Clones that work, merge, rebase and squash in any order end with the same bytes.
func TestClonesOfARepositoryAgreeToTheByte(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: nothing is proven about clones")
	}
	few(t, 1)
	n, dir := 0, t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n++
		origin := &machine{root: filepath.Join(dir, fmt.Sprint(n), "origin")}
		if err := os.MkdirAll(origin.root, 0o755); err != nil {
			t.Fatal(err)
		}
		origin.git("init", "-q", "--bare", "-b", "main")
		var all []*machine
		calm := rapid.Bool().Draw(t, "calm")
		for i := range 5 {
			m := newMachine(t, filepath.Join(dir, fmt.Sprint(n), fmt.Sprint(i)), 0)
			m.calm = calm
			defer m.store.Close()
			m.git("init", "-q", "-b", "main")
			m.git("remote", "add", "origin", origin.root)
			if i > 0 {
				m.git("pull", "-q", "origin", "main")
			} else {
				m.git("commit", "-q", "--allow-empty", "-m", "first")
				m.git("push", "-q", "origin", "HEAD:main")
			}
			all = append(all, m)
		}
		for range *rounds {
			m := rapid.SampledFrom(all).Draw(t, "clone")
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1, 2:
				m.say(t, "cursor-a1")
			case 3:
				m.exchange(t, false)
			case 4:
				m.exchange(t, true)
			case 5: // what it has not pushed becomes one commit
				m.sync(t)
				m.git("add", "-A")
				m.git("commit", "-qm", "memory")
				m.git("fetch", "-q", "origin")
				if base, ok := m.git("merge-base", "HEAD", "origin/main"); ok {
					m.git("reset", "-q", "--soft", strings.TrimSpace(base))
					m.git("commit", "-qm", "squashed")
				}
			}
		}
		for range 3 {
			for _, m := range all {
				m.exchange(t, false)
			}
		}
		want := all[0].export(t)
		for _, m := range all[1:] {
			if got := m.export(t); got != want {
				t.Fatalf("clones differ:\n%s", difference(want, got))
			}
		}
		for _, m := range all {
			for _, value := range m.said {
				if !strings.Contains(want, value) {
					t.Fatalf("lost: %q in\n%s", value, want)
				}
			}
		}
	})
}
