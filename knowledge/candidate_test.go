package knowledge

import (
	"fmt"
	"leanctx/knowledge/ledger"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A briefing takes the same facts from the best that are kept as from all, also
// when it holds more of them than are kept.
func TestBriefingKeepsTheBest(t *testing.T) {
	s := testStore(t, nil)
	for i := range 60 {
		s.remember(t, Assertion{
			Category: []string{"api", "decision", "architecture"}[i%3], Key: fmt.Sprint("key ", i), Value: fmt.Sprint("value ", i*i),
			Confidence: new(float64(i*37%60) / 60), Pinned: new(i%20 == 7),
		})
	}
	err := s.view(t.Context(), func(st *ledger.State, m moment) error {
		f, err := Question{}.frame(m, m.now)
		if err != nil {
			return err
		}
		for _, budget := range []int{100, 800, 100_000} {
			want, short := briefFrom(st, &f, surroundings{}, budget, 0)
			if short {
				t.Error("all are too few")
			}
			for _, most := range []int{1, 2, 7, 40, 100} {
				got, short := briefFrom(st, &f, surroundings{}, budget, most)
				if diff := cmp.Diff(want.Text(), got.Text()); diff != "" && !short {
					t.Errorf("budget %d, the best %d (-all +best):\n%s", budget, most, diff)
				}
				if budget == 100_000 && short != (2*most <= 60) {
					t.Errorf("budget %d, the best %d: short %v", budget, most, short)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The newest decisions are told once: those that stand with their room are left
// out of the line of decisions, those that are over the budget stand there.
func TestBriefingDecisionsOnce(t *testing.T) {
	s := testStore(t, nil)
	long := strings.Repeat("because of everything that was said in the meeting ", 20)
	s.remember(t, Assertion{Category: "decision", Key: "batches", Value: "Load in batches"})
	s.remember(t, Assertion{Category: "decision", Key: "tokens", Value: "Use refresh tokens, " + long})
	for budget, want := range map[int]string{
		100:    "WAKE-UP BRIEFING:\nDECISION:batches=Load in batches★★★\n+1 more fact in 1 room\nRECENT_DECISIONS:" + ("Use refresh tokens, " + long)[:120] + "…",
		10_000: "WAKE-UP BRIEFING:\nDECISION:batches=Load in batches★★★|tokens=Use refresh tokens, " + strings.TrimSpace(long) + "★★★",
	} {
		if diff := cmp.Diff(want, must[Briefing](t)(s.Wakeup(t.Context(), Moment{Budget: budget})).Text()); diff != "" {
			t.Errorf("budget %d (-want +got):\n%s", budget, diff)
		}
	}
}
