package replica_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/replica"
)

// An agent confirms what the user said, with any argument beside the value, or does what else an agent can
// do to it. After the next sync the fact stands here and in the clone as the user said it.
func TestWhatAnAgentConfirmsStaysTheUsers(t *testing.T) {
	a := knowledge.Assertion{Category: "arch", Key: "test", Value: "run make check before a commit"}
	with := func(set func(*knowledge.Assertion)) func(*knowledge.Store) error {
		return func(s *knowledge.Store) error {
			a := a
			set(&a)
			_, err := s.Remember(t.Context(), a)
			return err
		}
	}
	for name, does := range map[string]func(*knowledge.Store) error{
		"privacy local":   with(func(a *knowledge.Assertion) { a.Privacy = "local" }),
		"local and dated": with(func(a *knowledge.Assertion) { a.Privacy, a.ValidFrom = "local", "2026-03-01" }),
		"other and local": with(func(a *knowledge.Assertion) { a.Privacy, a.Value = "local", "run nothing" }),
		"archetype":       with(func(a *knowledge.Assertion) { a.Archetype = "observation" }),
		"aliases":         with(func(a *knowledge.Assertion) { a.Aliases = []string{"deploy"} }),
		"examples":        with(func(a *knowledge.Assertion) { a.Examples = []string{"make"} }),
		"pinned":          with(func(a *knowledge.Assertion) { a.Pinned = new(true) }),
		"doubt":           with(func(a *knowledge.Assertion) { a.Confidence = new(.1) }),
		"end":             with(func(a *knowledge.Assertion) { a.ValidUntil = "2026-03-02" }),
		"correct":         with(func(a *knowledge.Assertion) { a.Correct, a.ValidUntil = true, "2026-03-02" }),
		"replaces":        with(func(a *knowledge.Assertion) { a.Replaces, a.Value = "*", "run nothing" }),
		"remove": func(s *knowledge.Store) error {
			_, err := s.Remove(t.Context(), knowledge.Withdrawal{Category: "arch", Key: "test"})
			return err
		},
		"erase": func(s *knowledge.Store) error {
			_, err := s.Remove(t.Context(), knowledge.Withdrawal{Category: "arch", Key: "test", Erase: true})
			return err
		},
		"rename": func(s *knowledge.Store) error {
			_, err := knowledge.Rename(t.Context(), s, knowledge.NewName{Category: "arch", Key: "test", To: "x/y"})
			return err
		},
		"questions": func(s *knowledge.Store) error {
			_, err := knowledge.Questions(t.Context(), s, knowledge.FactQuestions{Category: "arch", Key: "test", Questions: "why?"})
			return err
		},
		"relate": func(s *knowledge.Store) error {
			if _, err := s.Remember(t.Context(), knowledge.Assertion{Category: "x", Key: "y", Value: "z"}); err != nil {
				return err
			}
			_, err := knowledge.Relate(t.Context(), s, knowledge.Link{Category: "x", Key: "y", Target: "arch/test", Kind: "supersedes"})
			return err
		},
		"merge": func(s *knowledge.Store) error {
			if _, err := s.Remember(t.Context(), knowledge.Assertion{Category: "x", Key: "y", Value: "z"}); err != nil {
				return err
			}
			_, err := knowledge.Rename(t.Context(), s, knowledge.NewName{Category: "x", Key: "y", To: "arch/test", Merge: "true"})
			return err
		},
		"votes": func(s *knowledge.Store) (err error) {
			for range 9 {
				_, err = knowledge.Feedback(t.Context(), s, knowledge.Vote{Category: "arch", Key: "test", Vote: "down"})
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			one, two := newMachine(t, filepath.Join(t.TempDir(), "a"), 0), newMachine(t, filepath.Join(t.TempDir(), "b"), 0)
			t.Cleanup(func() { _, _ = one.store.Close(), two.store.Close() })
			said := a
			said.Source, said.Aliases = "user", []string{"checks"}
			if _, err := one.as("").Remember(t.Context(), said); err != nil {
				t.Fatal(err)
			}
			meet := func() {
				for range 2 {
					one.clock, two.clock = one.clock.Add(time.Minute), two.clock.Add(time.Minute)
					one.sync(t)
					two.pull(one)
					two.sync(t)
					one.pull(two)
				}
			}
			meet()
			words := func(m *machine) string {
				v := m.version(t, "test")
				if v == nil {
					return "nothing"
				}
				return fmt.Sprint(v.Value, v.Pinned, v.Privacy, v.Archetype, v.Aliases, v.Examples, v.Confidence, v.ValidFrom, v.ValidUntil, fact.ByUser(v))
			}
			before := words(one)
			for _, m := range []*machine{one, two} { // here, and where the user's word came by sync
				m.clock = m.clock.Add(time.Minute)
				err := does(m.as("codex-1"))
				if got := words(m); got != before {
					t.Errorf("at once: %s, was %s (%v)", got, before, err)
				}
				meet()
				for _, x := range []*machine{one, two} {
					if got := words(x); got != before {
						t.Errorf("after a sync: %s, was %s (%v)", got, before, err)
					}
				}
			}
		})
	}
}

// What the user takes home ends for the others, and stays here, also after further syncs.
func TestWhatTheUserTakesHomeStaysHere(t *testing.T) {
	one, two := newMachine(t, filepath.Join(t.TempDir(), "a"), 0), newMachine(t, filepath.Join(t.TempDir(), "b"), 0)
	t.Cleanup(func() { _, _ = one.store.Close(), two.store.Close() })
	a := knowledge.Assertion{Category: "arch", Key: "test", Value: "run make check", Source: "user"}
	for i, shared := range []bool{true, false} {
		a.Key = fmt.Sprint("test", i)
		if _, err := one.as("").Remember(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if shared {
			one.sync(t)
			two.pull(one)
			two.sync(t)
		}
		one.clock = one.clock.Add(time.Minute)
		home := a
		home.Privacy = "local"
		if _, err := one.as("").Remember(t.Context(), home); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			one.clock, two.clock = one.clock.Add(time.Minute), two.clock.Add(time.Minute)
			one.sync(t)
			two.pull(one)
			two.sync(t)
			one.pull(two)
			if v := one.version(t, a.Key); v == nil || v.Value != a.Value || v.Privacy != "local" || !fact.ByUser(v) {
				t.Errorf("shared %v: here it is %+v", shared, v)
			}
			if v := two.version(t, a.Key); v != nil {
				t.Errorf("shared %v: there it is %+v", shared, v)
			}
		}
	}
}

// What is local here is not ended by what a trusted colleague says of the same name, whoever says it there,
// and whether he gives it, names it so or knows it by an alias. It comes in once the local fact is gone.
func TestTrustedColleagueEndsNothingLocal(t *testing.T) {
	one, two := newMachine(t, filepath.Join(t.TempDir(), "a"), 0), newMachine(t, filepath.Join(t.TempDir(), "b"), 0)
	t.Cleanup(func() { _, _ = one.store.Close(), two.store.Close() })
	say := func(m *machine, key, value, privacy, source string, aliases ...string) {
		t.Helper()
		m.clock = m.clock.Add(time.Minute)
		if _, err := m.as("codex-1").Remember(t.Context(), knowledge.Assertion{Category: "arch", Key: key, Value: value, Privacy: privacy, Source: source, Aliases: aliases}); err != nil {
			t.Fatal(err)
		}
	}
	say(one, "salary", "ninety thousand", "local", "user", "pay")
	say(one, "host", "my laptop", "local", "")
	say(two, "salary", "ask Eve", "", "user")
	say(two, "pay", "ask Eve", "", "")
	say(two, "server", "example.org", "", "user")
	if _, err := knowledge.Rename(t.Context(), two.as(""), knowledge.NewName{Category: "arch", Key: "server", To: "host", Source: "user"}); err != nil {
		t.Fatal(err)
	}
	say(two, "db", "PostgreSQL 16", "", "")
	meet := func() (r replica.Report) {
		for range 2 {
			one.clock, two.clock = one.clock.Add(time.Minute), two.clock.Add(time.Minute)
			two.sync(t)
			one.pull(two)
			r = one.sync(t)
			two.pull(one)
		}
		return r
	}
	for range 2 {
		r := meet()
		if v := one.version(t, "salary"); v == nil || v.Value != "ninety thousand" || v.Privacy != "local" {
			t.Errorf("%+v", v)
		}
		if v := one.version(t, "host"); v == nil || v.Value != "my laptop" {
			t.Errorf("%+v", v)
		}
		if !strings.Contains(r.Text(), "[arch/salary]") || one.version(t, "db") == nil {
			t.Error(r.Text())
		}
	}
	say(one, "db", "PostgreSQL 17", "", "") // it had read the line about it
	if meet(); two.openDisputes(t) > 0 || two.version(t, "db").Value != "PostgreSQL 17" {
		t.Errorf("what comes after a line that is left out counts as not seen: %+v", two.version(t, "db"))
	}
	if strings.Contains(two.export(t), "ninety") || strings.Contains(two.export(t), "laptop") {
		t.Error("a local value was told")
	}
	one.takeBackLocal(t, "salary", "host")
	if meet(); one.version(t, "salary") == nil || one.version(t, "salary").Value != "ask Eve" || one.export(t) != two.export(t) {
		t.Errorf("they differ:\n%s", difference(one.export(t), two.export(t)))
	}
}
