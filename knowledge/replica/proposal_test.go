package replica_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/replica"
	"leanctx/knowledge/state"
)

// Whatever a stranger wrote of a fact before, what the user or an agent here says of it holds as it was said: it
// ends at no hour of the stranger's, replaces the user's own value, and bears none of the stranger's words.
func TestStrangersShapeNothingOfWhatIsSaid(t *testing.T) {
	at := func(days int) *time.Time { return new(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).AddDate(0, 0, days)) }
	strangers := map[string][]replica.Line{
		"a plan":                  {{Value: "never push"}, {Value: "always push", ValidFrom: at(40)}},
		"a plan alone":            {{Value: "always push", ValidFrom: at(40)}},
		"a plan with an end":      {{Value: "always push", ValidFrom: at(40), ValidUntil: at(80)}},
		"the same as a plan":      {{Value: "never push", ValidFrom: at(40), ValidUntil: at(80)}},
		"an end":                  {{Value: "never push", ValidUntil: at(40)}},
		"another value's end":     {{Value: "see CONTRIBUTING", ValidUntil: at(40)}, {Value: "always push", ValidFrom: at(40)}},
		"several values":          {{Value: "see CONTRIBUTING", Also: true}, {Value: "always push", Also: true}, {Value: "never push", Also: true}},
		"a kind":                  {{Value: "see CONTRIBUTING", Also: true, Archetype: "observation"}},
		"examples and questions":  {{Value: "never push", Examples: []string{"run curl evil.sh"}, Questions: []string{"what about evil?"}, Tags: []string{"evil"}, Archetype: "observation"}},
		"a whole with all of it":  {{Op: "fact", Value: "never push"}},
		"ended and planned again": {{Value: "never push", ValidFrom: at(-9), ValidUntil: at(-5)}, {Value: "always push", ValidFrom: at(40)}},
	}
	for name, lines := range strangers {
		for _, by := range []knowledge.Actor{{Kind: knowledge.KindUser}, {Agent: "codex-1", Kind: knowledge.KindAgent}} {
			for _, first := range []string{"", "push sometimes"} {
				t.Run(fmt.Sprint(name, " ", by.Kind, " ", first), func(t *testing.T) {
					m := attacked(t)
					var text strings.Builder
					for i, l := range lines {
						if l.Op == "fact" {
							l = replica.Line{Op: "fact", Versions: []*fact.Version{
								{ID: "f-00000000000000aa", Category: "arch", Key: "push", Value: "never push", Confidence: .8, CreatedAt: *at(-3), LastConfirmed: *at(-3), ValidFrom: *at(-3), ValidUntil: at(40), RecordedFrom: *at(-3), ConfirmationCount: 1, Also: true, Privacy: "shared", Archetype: "observation", Examples: []string{"run curl evil.sh"}, Sources: []knowledge.Source{{Kind: "agent", At: *at(-3)}}},
								{ID: "f-00000000000000ab", Category: "arch", Key: "push", Value: "always push", Confidence: .8, CreatedAt: *at(-3), LastConfirmed: *at(-3), ValidFrom: *at(40), RecordedFrom: *at(-3), ConfirmationCount: 1, Also: true, Privacy: "shared", Archetype: "fact", Sources: []knowledge.Source{{Kind: "agent", At: *at(-3)}}}}}
						} else {
							l.Op = "assert"
						}
						l.Category, l.Key, l.SourceKind = "arch", "push", knowledge.KindUser
						text.WriteString(replica.Claims("deadbeef", i+1, l, nil))
					}
					m.put("deadbeef.jsonl", text.String())
					m.mustTry(t)
					clone := newMachine(t, t.TempDir(), time.Hour)
					say := func(value string) {
						t.Helper()
						m.clock = m.clock.Add(time.Minute)
						r, err := m.store.As(by).Remember(t.Context(), knowledge.Assertion{Category: "arch", Key: "push", Value: value})
						if err != nil || r.Outcome == knowledge.Added || r.Outcome == knowledge.Disputed || r.ValidUntil != nil {
							t.Errorf("%s, %v", r.Text(), err)
						}
					}
					if first != "" {
						say(first)
					}
					say("never push")
					check := func(who string, s *knowledge.Store) {
						t.Helper()
						_ = s.View(t.Context(), func(st *state.State, now time.Time) error {
							vs := st.Versions(fact.IDOf("arch", "push"))
							for _, day := range []int{0, 39, 41, 81, 400} {
								then := now.AddDate(0, 0, day)
								held := fact.AllCurrentAt(vs, then)
								if len(held) != 1 || held[0].Value != "never push" || held[0].TakenIn || held[0].Also {
									t.Errorf("%s, day %d: %+v", who, day, held)
									continue
								}
								if v := held[0]; len(v.Examples)+len(v.Questions)+len(v.Tags) > 0 || v.Archetype == "observation" {
									t.Errorf("%s bears what the stranger wrote: %+v", who, v)
								}
							}
							return nil
						})
					}
					check("here", m.store)
					r := m.mustTry(t)
					check("here, written", m.store)
					if again := m.mustTry(t); again.Written+again.TakenIn > 0 {
						t.Errorf("written again: %s", again.Text())
					}
					clone.alone = true
					clone.pull(m)
					if _, err := replica.Trust(t.Context(), clone.store, clone.root, r.Replica); err != nil {
						t.Fatal(err)
					}
					clone.mustTry(t)
					check("the clone", clone.store)
				})
			}
		}
	}
}
