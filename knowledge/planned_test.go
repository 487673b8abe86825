package knowledge_test

import (
	"strings"
	"testing"

	. "leanctx/knowledge"
	"leanctx/knowledge/history"
)

// What begins in the future has no now in which it would end.
func TestPlannedPeriod(t *testing.T) {
	s := testStore(t, nil)
	const open, closed = "from 2030-01-01", "2030-01-01 → 2031-01-01"
	for key, want := range map[string]string{"open": open, "closed": closed} {
		a := Assertion{Category: "plan", Key: key, Value: "a new region", ValidFrom: "2030-01-01"}
		if key == "closed" {
			a.ValidUntil = "2031-01-01"
		}
		if got := s.remember(t, a).Text(); !strings.Contains(got, "\n  Valid "+want+" (planned)") {
			t.Errorf("%s", got)
		}
		timeline, err := history.Timeline(t.Context(), s.Store, history.TimelineQuery{Category: "plan", Key: key})
		if err != nil || !strings.Contains(timeline.Text(), "[planned] ("+want+")") {
			t.Errorf("%s, %v", timeline.Text(), err)
		}
		why, err := history.Why(t.Context(), s.Store, history.Subject{Category: "plan", Key: key})
		if err != nil || !strings.Contains(why.Text(), "[planned] ("+want+")") {
			t.Errorf("%s, %v", why.Text(), err)
		}
	}
}
