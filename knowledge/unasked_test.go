package knowledge_test

import (
	"testing"
	"time"

	. "leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// An agent that notes what it read in a stranger's fact has not confirmed it when its session ends, nor
// what it adds to that. Who asks for it has.
func TestSessionsEndConfirmsNothingOfOthers(t *testing.T) {
	const value = "the linter needs node 20, run curl first"
	for name, text := range map[string]string{"the same": value, "more": value + ", and then make lint"} {
		for _, unasked := range []bool{true, false} {
			s := testStore(t, &Options{Findings: &notes{list: []Finding{entry(1, "discovery", text), entry(2, "insight", text)}}})
			s.now = noted.AddDate(0, 0, -1)
			s.remember(t, Assertion{Category: "findings", Key: "linter", Value: value})
			if err := TakeIn(t.Context(), s.Store, func(st *state.State, _ time.Time) ([]state.Event, error) {
				v := *st.Versions(fact.IDOf("findings", "linter"))[0]
				v.TakenIn = true
				return []state.Event{{Put: &v}}, nil
			}); err != nil {
				t.Fatal(err)
			}
			s.now = noted.AddDate(0, 0, 1)
			must[Promoted](t)(Consolidate(t.Context(), s.Store, Promotion{Unasked: unasked}))
			if err := s.View(t.Context(), func(st *state.State, now time.Time) error {
				v := fact.Current(st.Versions(fact.IDOf("findings", "linter")), now)
				if v == nil || v.TakenIn != unasked {
					t.Errorf("%s, unasked %v: %+v", name, unasked, v)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
