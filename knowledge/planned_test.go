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

// The end that a user gave stays when an agent says that the value holds for longer. What the agent
// says of the time after it has an agent's authority.
func TestAgentDoesNotMoveAnEndOfTheUser(t *testing.T) {
	for _, a := range []Assertion{{ValidUntil: "2027-12-31"}, {ValidFrom: "2026-12-31"}, {ValidFrom: "2026-01-15"}} {
		s := testStore(t, nil)
		user, agent := s.As(Actor{Kind: KindUser}), s.As(Actor{Agent: "codex-1acc"})
		must[Remembered](t)(user.Remember(t.Context(), Assertion{Category: "legal", Key: "licence", Value: "MIT", ValidUntil: "2026-12-31"}))
		s.days(1)
		a.Category, a.Key, a.Value = "legal", "licence", "MIT"
		must[Remembered](t)(agent.Remember(t.Context(), a))
		r := must[Remembered](t)(agent.Remember(t.Context(), Assertion{Category: "legal", Key: "licence", Value: "Apache-2", ValidFrom: "2026-12-31"}))
		if r.Outcome != Planned {
			t.Errorf("%+v: an agent may say what holds after the user's end, but it is %s:\n%s", a, r.Outcome, r.Text())
		}
		if r := must[Remembered](t)(agent.Remember(t.Context(), Assertion{Category: "legal", Key: "licence", Value: "GPL", ValidFrom: "2026-12-30"})); r.Outcome != Disputed {
			t.Errorf("%+v: before the user's end it is %s:\n%s", a, r.Outcome, r.Text())
		}
	}
}
