package knowledge

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// An agent that says again what the user said counts as one witness more, and may add tags and questions.
// Whatever else it gives with it stays as the user has it, and the answer says so.
func TestConfirmingAUsersFactChangesNothingOfIt(t *testing.T) {
	for _, pinned := range []bool{false, true} {
		for name, set := range map[string]func(*Assertion){
			"privacy local":   func(a *Assertion) { a.Privacy = PrivacyLocal },
			"privacy project": func(a *Assertion) { a.Privacy = PrivacyProjectOnly },
			"archetype":       func(a *Assertion) { a.Archetype = "observation" },
			"aliases":         func(a *Assertion) { a.Aliases = []string{"deploy"} },
			"pinned":          func(a *Assertion) { a.Pinned = new(!pinned) },
			"privacy in doubt": func(a *Assertion) {
				a.Privacy, a.Confidence = PrivacyLocal, new(.1)
			},
		} {
			s, err := Open(t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			a := Assertion{Category: "workflow", Key: "test", Value: "run make check before a commit"}
			said := a
			said.Pinned = new(pinned)
			if _, err := s.As(Actor{Kind: KindUser}).Remember(t.Context(), said); err != nil {
				t.Fatal(err)
			}
			stored := func() *fact.Version {
				var v *fact.Version
				_ = s.View(t.Context(), func(st *state.State, now time.Time) error {
					if vs := st.Versions(fact.IDOf("workflow", "test")); len(vs) == 1 {
						v = vs[0]
					}
					return nil
				})
				if v == nil {
					t.Fatalf("%s: it is not one version", name)
				}
				return v
			}
			before := stored()
			set(&a)
			r, err := s.As(Actor{Agent: "codex-1", Kind: KindAgent}).Remember(t.Context(), a)
			if err != nil || r.Outcome != Confirmed || !strings.Contains(r.Text(), "Left as it was: "+strings.Fields(name)[0]) {
				t.Errorf("%s: %s, %v", name, r.Text(), err)
			}
			got, want := *stored(), *before
			for _, v := range []*fact.Version{&got, &want} {
				v.ConfirmationCount, v.RevisionCount, v.LastConfirmed, v.Sources = 0, 0, time.Time{}, nil
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: the user's fact became\n%+v, was\n%+v", name, got, want)
			}
		}
	}
}

// Where a fact stays shared, since the user said something of it, an agent's value that is to stay on this
// machine is refused. It is never recorded for everybody.
func TestLocalValueBesideTheUsersIsRefused(t *testing.T) {
	for name, x := range map[string]struct{ said, asked Assertion }{
		"a plan":                {Assertion{ValidFrom: "2100-01-01"}, Assertion{}},
		"a plan, with another":  {Assertion{ValidFrom: "2100-01-01"}, Assertion{ValidFrom: "2090-01-01", ValidUntil: "2095-01-01"}},
		"a plan, with its past": {Assertion{ValidFrom: "2100-01-01"}, Assertion{ValidFrom: "2020-01-01", ValidUntil: "2021-01-01"}},
		"a value since lately":  {Assertion{ValidFrom: "2025-01-01"}, Assertion{ValidFrom: "2020-01-01", ValidUntil: "2021-01-01"}},
		"several values":        {Assertion{Also: true}, Assertion{Also: true}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			a := x.said
			a.Category, a.Key, a.Value = "workflow", "test", "run make check"
			if _, err := s.As(Actor{Kind: KindUser}).Remember(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			a = x.asked
			a.Category, a.Key, a.Value, a.Privacy = "workflow", "test", "run nothing", PrivacyLocal
			r, err := s.As(Actor{Agent: "codex-1", Kind: KindAgent}).Remember(t.Context(), a)
			if refused, ok := errors.AsType[*ArgumentError](err); r.Outcome != Disputed && (!ok || refused.Argument != "privacy") {
				t.Errorf("%s, %v", r.Text(), err)
			}
			_ = s.View(t.Context(), func(st *state.State, _ time.Time) error {
				for _, v := range st.Versions(fact.IDOf("workflow", "test")) {
					if v.Value != "run make check" || v.Privacy == PrivacyLocal || !fact.Believed(v) {
						t.Errorf("%+v", v)
					}
				}
				for _, d := range st.Disputed {
					if d.Privacy != PrivacyLocal {
						t.Errorf("a dispute that others get: %+v", d)
					}
				}
				return nil
			})
		})
	}
}

// An agent's plan ends nothing that the user says after it. The answer names it.
func TestAgentsPlanEndsNothingOfTheUsers(t *testing.T) {
	for _, ends := range []string{"", "2100-02-01"} {
		s, err := Open(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		a := Assertion{Category: "workflow", Key: "push", Value: "always push to main", ValidFrom: "2100-01-01", ValidUntil: ends}
		if _, err := s.As(Actor{Agent: "codex-1", Kind: KindAgent}).Remember(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		a.ValidFrom, a.ValidUntil, a.Value = "", "", "never push to main"
		r, err := s.As(Actor{Kind: KindUser}).Remember(t.Context(), a)
		if err != nil || r.ValidUntil != nil || len(r.Displaced) != 1 || !strings.Contains(r.Text(), "withdrawn: 'always push to main', which was planned from 2100-01-01 by codex-1") {
			t.Errorf("%s, %v", r.Text(), err)
		}
		_ = s.View(t.Context(), func(st *state.State, now time.Time) error {
			for _, years := range []int{0, 74, 75, 100} {
				if v := fact.CurrentAt(st.Versions(fact.IDOf("workflow", "push")), now.AddDate(years, 0, 40)); v == nil || v.Value != "never push to main" {
					t.Errorf("in %d years: %+v", years, v)
				}
			}
			return nil
		})
	}
}

// The questions that lead to a user's fact are added to, and none of them is taken away.
func TestAgentTakesNoQuestionOfTheUserAway(t *testing.T) {
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	user, agent := s.As(Actor{Kind: KindUser}), s.As(Actor{Agent: "codex-1", Kind: KindAgent})
	a := Assertion{Category: "workflow", Key: "test", Value: "run make check", Questions: "how do I test?"}
	if _, err := user.Remember(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	stored := func() (out string) {
		_ = s.View(t.Context(), func(st *state.State, _ time.Time) error {
			out = strings.Join(st.Versions(fact.IDOf("workflow", "test"))[0].Questions, ";")
			return nil
		})
		return out
	}
	a.Questions = "which colour?"
	if _, err := agent.Remember(t.Context(), a); err != nil || stored() != "how do I test?;which colour?" {
		t.Error(stored(), err)
	}
	if r, err := Questions(t.Context(), agent, FactQuestions{Category: "workflow", Key: "test", Questions: "what else?"}); err != nil || stored() != "how do I test?;which colour?;what else?" {
		t.Error(stored(), r.Text(), err)
	}
	long := strings.Repeat("x", MaxQuestions-10)
	if r, err := Questions(t.Context(), agent, FactQuestions{Category: "workflow", Key: "test", Questions: long}); err != nil || strings.Contains(stored(), "x") || !strings.Contains(r.Text(), "Left as it was: questions") {
		t.Error(stored(), r.Text(), err)
	}
	a.Questions = long
	if r, err := agent.Remember(t.Context(), a); err != nil || strings.Contains(stored(), "x") || !strings.Contains(r.Text(), "Left as it was: questions") {
		t.Error(stored(), r.Text(), err)
	}
	if r, err := Questions(t.Context(), user, FactQuestions{Category: "workflow", Key: "test", Questions: long}); err != nil || stored() != long {
		t.Error(stored(), r.Text(), err)
	}
}

// What the user says after an agent has said it is the user's value and nothing more: an end, a plan, examples and a kind that
// the agent gave before count no more, and the answer names what somebody would miss. What only helps to find it stays.
func TestUserWhoSaysAnAgentsWordsSaysNoMore(t *testing.T) {
	const category, key, value = "workflow", "push", "never push to main"
	plain := Assertion{Category: category, Key: key, Value: value}
	ends, plan, kind, finds, several, file := plain, plain, plain, plain, plain, plain
	ends.ValidUntil = "2100-01-01"
	plan.Value, plan.ValidFrom = "always push to main", "2100-01-01"
	kind.Archetype = "observation"
	finds.Tags, finds.Questions, finds.Aliases = []string{"git"}, "may I push?", []string{"pushing"}
	several.Also, several.ValidUntil = true, "2100-01-01"
	file.Source, file.ValidUntil = "a.txt", "2100-01-01"
	examples := plain
	examples.Examples = []string{"push with curl evil first"}
	all := ends
	all.Archetype, all.Examples, all.Pinned = "observation", examples.Examples, new(true)
	for name, c := range map[string]struct {
		agent []Assertion
		tells string
	}{
		"an end":         {[]Assertion{ends}, "left out: its end on 2100-01-01, given by codex-1"},
		"a later end":    {[]Assertion{plain, {Category: category, Key: key, Value: value, ValidUntil: "2100-01-01", Correct: true}}, "left out: its end on 2100-01-01, given by codex-1"},
		"a plan":         {[]Assertion{plain, plan}, "withdrawn: 'always push to main', which was planned from 2100-01-01 by codex-1"},
		"a kind":         {[]Assertion{kind}, ""},
		"examples":       {[]Assertion{examples}, "left out: 1 example given by codex-1"},
		"one of several": {[]Assertion{several}, "left out: its end on 2100-01-01, given by codex-1"},
		"of a file":      {[]Assertion{file}, "left out: its end on 2100-01-01, given by codex-1"},
		"all":            {[]Assertion{all}, "left out: its end"},
		"what helps":     {[]Assertion{finds}, ""},
	} {
		for _, by := range []string{"a person", "an agent on the user's word", "refined"} {
			s, err := Open(t.TempDir(), &Options{ProjectRoot: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			agent := s.As(Actor{Agent: "codex-1", Kind: KindAgent})
			for _, a := range c.agent {
				if r, err := agent.Remember(t.Context(), a); err != nil || r.Outcome == Disputed {
					t.Fatalf("%s: %+v, %v", name, r, err)
				}
			}
			user, said := s.As(Actor{Kind: KindUser}), plain
			switch by {
			case "an agent on the user's word":
				user, said.Source = s.As(Actor{Agent: "claude-2", Kind: KindAgent}), KindUser
			case "refined":
				said.Value += " without a review"
			}
			r, err := user.Remember(t.Context(), said)
			if err != nil || by != "refined" && !strings.Contains(r.Text(), c.tells) {
				t.Errorf("%s, %s: %s, %v", name, by, r.Text(), err)
			}
			_ = s.View(t.Context(), func(st *state.State, now time.Time) error {
				for _, years := range []int{0, 74, 100} {
					v := fact.CurrentAt(st.Versions(fact.IDOf(category, key)), now.AddDate(years, 0, 0))
					if v == nil || v.Value != said.Value || !fact.ByUser(v) || len(v.Examples) > 0 || v.Archetype == "observation" {
						t.Errorf("%s, %s, in %d years: %+v", name, by, years, v)
					} else if name == "what helps" && (len(v.Tags) == 0 || v.Questions == nil || len(v.Aliases) == 0) {
						t.Errorf("%s: %+v", by, v)
					}
				}
				return nil
			})
			// What the user gives stays.
			said.ValidUntil, said.Correct = "2099-01-01", true
			if r, err := user.Remember(t.Context(), said); err != nil || r.ValidUntil == nil {
				t.Errorf("%s, %s: %s, %v", name, by, r.Text(), err)
			}
			said.ValidUntil, said.Correct = "", false
			if r, err := user.Remember(t.Context(), said); err != nil || r.ValidUntil == nil || strings.Contains(r.Text(), "left out") {
				t.Errorf("%s, %s: %s, %v", name, by, r.Text(), err)
			}
			_ = s.Close()
		}
	}
}
