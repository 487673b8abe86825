package knowledge_test

import (
	"strings"
	"testing"

	. "leanctx/knowledge"
)

// TestASearchTellsNothingThatWasWrittenDownInAClosedProject: where facts are for a project alone, neither its diaries nor what
// became facts of them is found from elsewhere.
func TestASearchTellsNothingThatWasWrittenDownInAClosedProject(t *testing.T) {
	diary := []Finding{{"decision", "Acme pays 40 million for the zebra deal", "cursor-a3f8", "diary:cursor-a3f8/1", noted}, {"decision", "the zebra contract lies in the vault of Acme", "cursor-a3f8", "diary:cursor-a3f8/2", noted.Add(1)}}
	s := testStore(t, &Options{Findings: notes{list: diary}})
	must[Promoted](t)(Consolidate(t.Context(), s.Store, Promotion{MaxDecisions: new(1)})) // one is a fact, one an entry alone
	s.remember(t, Assertion{Category: "deal", Key: "colour", Value: "zebra stripes are black"})
	search := func(own bool) string {
		l := Library{Own: s.Store}
		if !own {
			l = Library{Own: testStore(t, nil).Store, Others: func(yield func(*Store, error) bool) { yield(s.Store, nil) }}
		}
		r, err := l.Search(t.Context(), Lookup{Query: "zebra"})
		if err != nil {
			t.Fatal(err)
		}
		return r.Text()
	}
	if got := search(false); !strings.Contains(got, "40 million") || !strings.Contains(got, "vault") {
		t.Errorf("an open project: %s", got)
	}
	s.remember(t, Assertion{Category: "client", Key: "name", Value: "Acme", Privacy: "project_only"})
	if got := search(false); strings.Contains(got, "Acme") || !strings.Contains(got, "stripes") {
		t.Errorf("a closed project: %s", got)
	}
	if got := search(true); !strings.Contains(got, "40 million") {
		t.Errorf("its own session: %s", got)
	}
}
