package replica_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// erasure is a story of three clones of one repository, in which the value secret is erased.
type erasure struct {
	t       *testing.T
	a, b, c *machine
	origin  *machine // where they push to
	source  string   // of what is remembered: user, or empty for an agent
}

const secret = "the swordfish opens it"

func clones(t *testing.T) *erasure {
	t.Helper()
	dir := t.TempDir()
	var all []*machine
	for i := range 3 {
		m := newMachine(t, filepath.Join(dir, fmt.Sprint(i)), time.Duration(i)*time.Minute)
		t.Cleanup(func() { _ = m.store.Close() })
		all = append(all, m)
	}
	return &erasure{t: t, a: all[0], b: all[1], c: all[2], origin: &machine{root: filepath.Join(dir, "origin")}}
}

func (e *erasure) all() []*machine { return []*machine{e.a, e.b, e.c} }

// share has clones exchange what they have, one after another.
func (e *erasure) share(clones ...*machine) {
	e.t.Helper()
	for _, m := range clones {
		m.sync(e.t)
		for name, text := range e.origin.logs() {
			if name != m.id+".jsonl" {
				m.put(name, text)
			}
		}
		e.origin.put(m.id+".jsonl", m.logs()[m.id+".jsonl"])
		m.sync(e.t)
	}
}

func (e *erasure) remember(m *machine, key, value string) {
	e.t.Helper()
	m.clock = m.clock.Add(time.Minute)
	if _, err := m.as("cursor-a1").Remember(e.t.Context(), knowledge.Assertion{Category: "arch", Key: key, Value: value, Source: e.source}); err != nil {
		e.t.Fatal(err)
	}
}

func (e *erasure) rename(m *machine, key, to string) {
	e.t.Helper()
	m.clock = m.clock.Add(time.Minute)
	r, err := knowledge.Rename(e.t.Context(), m.as("cursor-a1"), knowledge.NewName{Category: "arch", Key: key, To: to, Merge: "true", Source: "user"})
	if err != nil || r.Warned() {
		e.t.Fatal(r.Text(), err)
	}
}

func (e *erasure) erase(m *machine, key string) {
	e.t.Helper()
	m.clock = m.clock.Add(time.Minute)
	if r, err := m.as("cursor-a1").Remove(e.t.Context(), knowledge.Withdrawal{Category: "arch", Key: key, Erase: true, Source: "user"}); err != nil || r.Warned() {
		e.t.Fatal(r.Text(), err)
	}
}

// holding names the files outside of git that hold a text: of the work tree and of the store.
func (m *machine) holding(text string) (out []string) {
	_ = filepath.WalkDir(filepath.Dir(m.root), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), text) {
			out = append(out, path)
		}
		return nil
	})
	return out
}

// values are what a clone believes, each as key=value.
func (m *machine) values(t interface{ Fatal(...any) }) (out []string) {
	err := m.store.View(context.Background(), func(st *state.State, now time.Time) error {
		out = nil
		for _, vs := range st.Sorted() {
			for _, v := range fact.AllCurrent(vs, now) {
				out = append(out, v.Key+"="+v.Value)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// gone checks that nobody has the secret after everybody has synced twice, that all export the same
// bytes, and that the innocent facts are there, each as key=value.
func (e *erasure) gone(innocent ...string) {
	e.t.Helper()
	for range 2 {
		e.share(e.all()...)
	}
	e.share(e.all()...) // gets what the last one pushed
	want := e.a.export(e.t)
	for i, m := range e.all() {
		if in := m.holding("swordfish"); len(in) > 0 {
			e.t.Errorf("clone %d still has it in %v", i, in)
		}
		if got := m.export(e.t); got != want && !m.alone { // what a stranger said bears other marks where it was said
			e.t.Errorf("clones differ:\n%s", difference(want, got))
		}
		if got := m.values(e.t); !slices.Equal(got, innocent) {
			e.t.Errorf("clone %d believes %q, want %q", i, got, innocent)
		}
		if r := m.sync(e.t); r.Written+r.TakenIn > 0 {
			e.t.Errorf("a sync with nothing new: %s", r.Text())
		}
	}
}

// An erased fact is gone in every clone, whatever names it had, whoever gave it another one, and whoever
// knew of it. A fact that took one of its names over stays.
func TestErasedFactIsGoneUnderEachOfItsNames(t *testing.T) {
	for name, story := range map[string]func(*erasure) (innocent []string){
		"renamed and erased before the next sync": func(e *erasure) []string {
			e.remember(e.a, "f", secret)
			e.share(e.a, e.b)
			e.rename(e.a, "f", "g")
			e.erase(e.a, "g")
			return nil
		},
		"renamed, synced, erased": func(e *erasure) []string {
			e.remember(e.a, "f", secret)
			e.share(e.a, e.b, e.c)
			e.rename(e.a, "f", "g")
			e.share(e.a, e.b)
			e.erase(e.a, "g")
			return nil
		},
		"renamed by one and erased by another": func(e *erasure) []string {
			e.remember(e.a, "f", secret)
			e.share(e.a, e.b, e.c)
			e.rename(e.b, "f", "g")
			e.remember(e.b, "g", secret+" still")
			e.erase(e.a, "f")
			return nil
		},
		"renamed twice by one and erased by another": func(e *erasure) []string {
			e.remember(e.a, "f", secret)
			e.share(e.a, e.b, e.c)
			e.rename(e.b, "f", "g")
			e.share(e.b, e.c)
			e.rename(e.c, "g", "h")
			e.remember(e.c, "h", secret+" still")
			e.erase(e.a, "f")
			return nil
		},
		"known to a third under the former name": func(e *erasure) []string {
			e.remember(e.a, "f", secret)
			e.share(e.a, e.b, e.c)
			e.remember(e.c, "f", secret+", says the third")
			e.c.sync(e.t)
			e.rename(e.a, "f", "g")
			e.share(e.a, e.b)
			e.erase(e.a, "g")
			return nil
		},
		"renamed before the first sync": func(e *erasure) []string {
			e.remember(e.a, "f", secret)
			e.rename(e.a, "f", "g")
			e.share(e.a, e.b, e.c)
			e.remember(e.b, "g", secret+", says the second")
			e.erase(e.a, "g")
			return nil
		},
		"erased by who was told of it": func(e *erasure) []string {
			e.remember(e.a, "f", secret)
			e.rename(e.a, "f", "g")
			e.share(e.a, e.b, e.c)
			e.rename(e.b, "g", "h")
			e.erase(e.b, "h")
			return nil
		},
		"renamed and renamed back": func(e *erasure) []string {
			e.remember(e.a, "f", secret)
			e.share(e.a, e.b, e.c)
			e.rename(e.a, "f", "g")
			e.share(e.a, e.b)
			e.remember(e.b, "g", secret+", says the second")
			e.rename(e.a, "g", "f")
			e.erase(e.a, "f")
			return nil
		},
		"merged into another": func(e *erasure) []string {
			e.remember(e.a, "f", secret)
			e.remember(e.a, "g", "an older "+secret)
			e.remember(e.a, "kept", "JWT RS256")
			e.share(e.a, e.b, e.c)
			e.rename(e.b, "f", "g")
			e.share(e.b, e.a)
			e.erase(e.a, "g")
			return []string{"kept=JWT RS256"}
		},
		"erased by two": func(e *erasure) []string {
			e.remember(e.a, "f", secret)
			e.share(e.a, e.b, e.c)
			e.rename(e.a, "f", "g")
			e.rename(e.b, "f", "h")
			e.erase(e.a, "g")
			e.erase(e.b, "h")
			return nil
		},
		"another fact took the former name over": func(e *erasure) []string {
			e.remember(e.a, "f", secret)
			e.share(e.a, e.b, e.c)
			e.rename(e.a, "f", "g")
			e.remember(e.a, "f", "OAuth2 with PKCE")
			e.erase(e.a, "g")
			return []string{"f=OAuth2 with PKCE"}
		},
		"another fact took the former name over, and was synced": func(e *erasure) []string {
			e.remember(e.a, "f", secret)
			e.share(e.a, e.b, e.c)
			e.rename(e.a, "f", "g")
			e.share(e.a, e.b, e.c)
			e.remember(e.b, "f", "OAuth2 with PKCE")
			e.share(e.b)
			e.erase(e.a, "g")
			return []string{"f=OAuth2 with PKCE"}
		},
		"another fact took the name over where it was renamed": func(e *erasure) []string {
			e.remember(e.a, "f", secret)
			e.share(e.a, e.b, e.c)
			e.rename(e.b, "f", "g")
			e.remember(e.b, "f", "OAuth2 with PKCE")
			e.erase(e.a, "f")
			return []string{"f=OAuth2 with PKCE"}
		},
		"another fact took the name over where it was renamed, and the erasure came there first": func(e *erasure) []string {
			e.remember(e.a, "f", secret)
			e.share(e.a, e.b, e.c)
			e.rename(e.b, "f", "g")
			e.remember(e.b, "f", "OAuth2 with PKCE")
			e.erase(e.a, "f")
			e.share(e.a)
			e.share(e.b, e.b) // what is left of its renaming is all that the others see
			return []string{"f=OAuth2 with PKCE"}
		},
		"another fact had the last name before": func(e *erasure) []string {
			e.remember(e.a, "f", secret)
			e.remember(e.a, "g", "PostgreSQL 16")
			e.share(e.a, e.b, e.c)
			e.rename(e.a, "g", "k")
			e.rename(e.a, "f", "g")
			e.erase(e.a, "g")
			return []string{"k=PostgreSQL 16"}
		},
		"remembered again after the erasure": func(e *erasure) []string {
			e.remember(e.a, "f", secret)
			e.share(e.a, e.b, e.c)
			e.rename(e.b, "f", "g")
			e.share(e.b)
			e.erase(e.a, "f")
			e.remember(e.a, "f", "MySQL 8")
			return []string{"f=MySQL 8"}
		},
	} {
		for _, source := range []string{"", "user"} {
			for _, whom := range []string{"who trust each other", "of strangers who accept all"} {
				t.Run(strings.TrimSpace(name+" "+source)+", in clones "+whom, func(t *testing.T) {
					t.Parallel()
					e := clones(t)
					e.source = source
					for _, m := range e.all() {
						m.alone = whom != "who trust each other"
						m.accepts = m.alone
					}
					e.gone(story(e)...)
				})
			}
		}
	}
}

// A renaming is told once, also where another clone's clock is ahead: else a fact that took the former name
// over would be renamed with each sync.
func TestRenamingIsToldOnceWhateverTheClocks(t *testing.T) {
	e := clones(t)
	e.c.clock = e.c.clock.Add(time.Hour)
	e.remember(e.c, "ahead", "PostgreSQL 16")
	e.share(e.c)
	e.remember(e.a, "f", "JWT RS256")
	e.share(e.a)
	e.rename(e.a, "f", "g")
	e.share(e.a)
	e.remember(e.a, "f", "OAuth2 with PKCE")
	for range 3 {
		e.remember(e.a, "other", "said again")
		e.share(e.a, e.b)
	}
	if n := strings.Count(e.a.logs()[e.a.id+".jsonl"], `"op":"rename"`); n != 1 {
		t.Errorf("the renaming was told %d times", n)
	}
	want := []string{"ahead=PostgreSQL 16", "f=OAuth2 with PKCE", "g=JWT RS256", "other=said again"}
	for _, m := range []*machine{e.a, e.b} {
		if got := m.values(t); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
