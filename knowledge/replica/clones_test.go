package replica_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"leanctx/internal/journal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/replica"
	"leanctx/knowledge/state"
)

// repository is one with three clones, and what was said in them. Every text is said once.
type repository struct {
	t      *rapid.T
	all    []*machine
	texts  int
	said   map[string]string          // the name under which a value was said
	erased map[string]bool            // texts that were erased
	undone map[string]bool            // texts that an undo may have taken back
	last   map[speaker]string         // the text that somebody said last in a clone
	joined map[string]map[string]bool // names that a renaming joined
	gone   map[string]bool            // names that were erased
}

// speaker is who speaks in a clone. An undo takes back the last commit of that one.
type speaker struct {
	*machine
	name string
}

var token = regexp.MustCompile(`text[0-9]+z`)

// text is one that nobody has said before.
func (c *repository) text() string {
	c.texts++
	return fmt.Sprintf("text%dz", c.texts)
}

func (c *repository) join(a, b string) {
	for _, x := range [][2]string{{a, b}, {b, a}} {
		if c.joined[x[0]] == nil {
			c.joined[x[0]] = map[string]bool{}
		}
		c.joined[x[0]][x[1]] = true
	}
}

// touched reports whether something that had a name, or may have been joined with it, was erased.
func (c *repository) touched(name string) bool {
	seen, next := map[string]bool{}, []string{name}
	for len(next) > 0 {
		n := next[0]
		next = next[1:]
		if seen[n] {
			continue
		}
		if seen[n] = true; c.gone[n] {
			return true
		}
		next = slices.AppendSeq(next, maps.Keys(c.joined[n]))
	}
	return false
}

var names = []string{"arch/auth", "arch/db", "arch/cache", "ops/host"}

// say does something with a fact.
func (c *repository) say(m *machine) {
	t, ctx := c.t, context.Background()
	m.clock = m.clock.Add(time.Duration(rapid.IntRange(1, 90).Draw(t, "seconds")) * time.Second)
	by := speaker{m, rapid.SampledFrom([]string{"cursor-a1b2", "claude-b2c3"}).Draw(t, "agent")}
	s := m.as(by.name)
	if rapid.IntRange(0, 2).Draw(t, "user") == 0 {
		by.name = ""
		s = m.store.As(knowledge.Actor{Kind: knowledge.KindUser})
	}
	name := rapid.SampledFrom(names).Draw(t, "name")
	category, key, _ := strings.Cut(name, "/")
	switch rapid.IntRange(0, 11).Draw(t, "op") {
	case 0, 1, 2:
		a := knowledge.Assertion{Category: category, Key: key, Value: c.text()}
		switch rapid.IntRange(0, 4).Draw(t, "how") {
		case 0:
			a.Also = true
		case 1:
			a.Correct = true
		case 2:
			a.Questions = "what about " + c.text()
		}
		if _, err := s.Remember(ctx, a); err == nil {
			c.said[a.Value], c.last[by] = name, a.Value
		}
	case 3: // confirm
		_ = m.store.View(ctx, func(st *state.State, now time.Time) error {
			for _, v := range fact.AllCurrent(st.Versions(fact.IDOf(category, key)), now) {
				name = v.Value
			}
			return nil
		})
		if strings.HasPrefix(name, "text") {
			_, _ = s.Remember(ctx, knowledge.Assertion{Category: category, Key: key, Value: name})
		}
	case 4:
		_, _ = s.Remove(ctx, knowledge.Withdrawal{Category: category, Key: key, Reason: c.text()})
	case 5, 6, 7:
		to := rapid.SampledFrom(append([]string{"arch/store", "ops/old"}, names...)).Draw(t, "to")
		if _, err := knowledge.Rename(ctx, s, knowledge.NewName{Category: category, Key: key, To: to, Merge: rapid.SampledFrom([]string{"", "true"}).Draw(t, "merge")}); err == nil {
			c.join(name, to)
		}
	case 8:
		c.undone[c.last[by]] = true
		_, _ = knowledge.Undo(ctx, s, knowledge.UndoArgs{})
	default:
		if rapid.IntRange(0, 2).Draw(t, "erase") == 0 {
			return // not too often
		}
		var of []string
		_ = m.store.View(ctx, func(st *state.State, _ time.Time) error {
			of = nil
			n := fact.IDOf(category, key)
			for _, v := range st.Versions(n) {
				text, _ := journal.Encode(v)
				of = append(of, token.FindAllString(string(text), -1)...)
			}
			for _, d := range st.Disputes(n) {
				text, _ := journal.Encode(d)
				of = append(of, token.FindAllString(string(text), -1)...)
			}
			return nil
		})
		if _, err := m.store.As(knowledge.Actor{Kind: knowledge.KindUser}).Remove(ctx, knowledge.Withdrawal{Category: category, Key: key, Erase: true}); err == nil {
			c.gone[name] = true
			for _, x := range of {
				c.erased[x] = true
			}
		}
	}
}

// sync is what a person does who takes in everything.
func (c *repository) sync(m *machine) {
	m.clock = m.clock.Add(time.Second)
	m.trustAll(c.t)
	r, err := replica.Sync(context.Background(), m.store, replica.Options{Root: m.root, Accept: true, ByUser: true})
	if err != nil {
		c.t.Fatalf("sync: %v", err)
	}
	m.id = r.Replica
}

func (c *repository) commit(m *machine) {
	c.sync(m)
	m.git("add", "-A")
	m.git("commit", "-qm", "memory")
}

func (c *repository) exchange(m *machine, how string) {
	c.commit(m)
	if out, ok := m.git("pull", "-q", "--no-edit", how, "origin", "main"); !ok && !strings.Contains(out, "couldn't find remote ref") {
		c.t.Fatalf("git pull %s: %s", how, out)
	}
	m.git("push", "-q", "origin", "HEAD:main")
	c.sync(m)
}

// work does something with the repository.
func (c *repository) work(m *machine) {
	switch rapid.IntRange(0, 6).Draw(c.t, "git") {
	case 0, 1:
		c.exchange(m, "--no-rebase")
	case 2:
		c.exchange(m, "--rebase")
	case 3: // what it has not pushed becomes one commit
		c.commit(m)
		m.git("fetch", "-q", "origin")
		if base, ok := m.git("merge-base", "HEAD", "origin/main"); ok {
			m.git("reset", "-q", "--soft", strings.TrimSpace(base))
			m.git("commit", "-qm", "squashed")
		}
	case 4:
		m.git("reset", "-q", "--hard", rapid.SampledFrom([]string{"HEAD", "HEAD~1", "origin/main"}).Draw(c.t, "reset"))
	case 5:
		c.sync(m)
		m.git("clean", "-fdxq")
	case 6:
		c.sync(m)
	}
}

// holds are the erased texts in the files below a directory.
func (c *repository) holds(dir string) (found []string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		text, _ := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			for _, x := range token.FindAllString(line, -1) {
				if c.erased[x] {
					found = append(found, fmt.Sprintf("%s in %s: %s", x, path, line))
				}
			}
		}
		return nil
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// Whatever three clones did with facts and with git: once all have taken in all, no file but git's own
// holds what was erased, all say the same, and what has nothing to do with an erased fact is there.
func TestWhatWasErasedIsInNoClone(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: nothing is proven about clones")
	}
	few(t, 2)
	if f := flag.Lookup("rapid.seed"); f.Value.String() == f.DefValue && f.DefValue == "0" && flag.Lookup("rapid.checks").Value.String() == "2" {
		if err := flag.Set("rapid.seed", "30"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = flag.Set("rapid.seed", f.DefValue) })
	}
	n, dir := 0, t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n++
		here := filepath.Join(dir, fmt.Sprint(n))
		defer os.RemoveAll(here)
		c := &repository{t: t, said: map[string]string{}, erased: map[string]bool{}, undone: map[string]bool{}, last: map[speaker]string{}, joined: map[string]map[string]bool{}, gone: map[string]bool{}}
		origin := &machine{root: filepath.Join(here, "origin")}
		if err := os.MkdirAll(origin.root, 0o755); err != nil {
			t.Fatal(err)
		}
		origin.git("init", "-q", "--bare", "-b", "main")
		strangers := rapid.Bool().Draw(t, "strangers")
		for i := range 3 {
			m := newMachine(t, filepath.Join(here, fmt.Sprint(i)), time.Duration(rapid.IntRange(-20, 20).Draw(t, "skew"))*time.Minute)
			m.alone = strangers
			defer m.store.Close()
			m.git("init", "-q", "-b", "main")
			m.git("config", "gc.auto", "0")
			m.git("remote", "add", "origin", origin.root)
			if i > 0 {
				m.git("pull", "-q", "origin", "main")
			} else {
				m.git("commit", "-q", "--allow-empty", "-m", "first")
				m.git("push", "-q", "origin", "HEAD:main")
			}
			c.all = append(c.all, m)
		}
		for range rapid.IntRange(8, 30).Draw(t, "rounds") {
			m := rapid.SampledFrom(c.all).Draw(t, "clone")
			if rapid.IntRange(0, 2).Draw(t, "what") > 0 {
				c.say(m)
			} else {
				c.work(m)
			}
		}
		for range 4 {
			for _, m := range c.all {
				m.clock = m.clock.Add(time.Hour) // what a stranger says more than five minutes ahead waits
				c.exchange(m, "--no-rebase")
			}
		}
		for range 2 {
			for _, m := range c.all {
				m.clock = m.clock.Add(time.Hour)
				c.sync(m)
			}
		}
		for _, m := range c.all {
			if found := c.holds(filepath.Dir(m.root)); len(found) > 0 {
				t.Fatalf("erased, and still there:\n%s", strings.Join(found, "\n"))
			}
			there := m.export(t)
			for x, name := range c.said {
				if !c.erased[x] && !c.undone[x] && !c.touched(name) && !strings.Contains(there, x) {
					t.Fatalf("%s of %s, which nobody erased, is not in %s", x, name, m.root)
				}
			}
			if want := c.all[0].export(t); !strangers && there != want {
				t.Fatalf("clones differ:\n%s", difference(want, there))
			}
		}
	})
}
