package briefing

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/ledger"
)

var morning = time.Date(2026, 1, 15, 10, 0, 0, 0, time.UTC)

// held is a frame about an hour later than all facts of a test.
var held = ledger.Frame{AsOf: morning.Add(time.Hour), Known: morning.Add(time.Hour)}

// version is a fact asserted once, some seconds after the others.
func version(seconds int, category, key, value string) *fact.Version {
	at := morning.Add(time.Duration(seconds) * time.Second)
	return &fact.Version{
		ID: formats.VersionID(category, key, value, at, 0), Category: category, Key: key, Value: value, Archetype: formats.Archetype(category),
		Confidence: .8, ConfirmationCount: 1, CreatedAt: at, LastConfirmed: at, ValidFrom: at, RecordedFrom: at,
	}
}

// with runs a test on a state that holds some facts.
func with(t *testing.T, facts []*fact.Version, f func(*ledger.State)) {
	t.Helper()
	l, err := ledger.Open(t.TempDir(), &ledger.Options{Now: func() time.Time { return morning }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	err = l.Update(t.Context(), func(*ledger.State, time.Time) (events []ledger.Event, err error) {
		for _, v := range facts {
			events = append(events, ledger.Event{Put: v})
		}
		return events, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.View(t.Context(), func(st *ledger.State, _ journal.Head) error { f(st); return nil }); err != nil {
		t.Fatal(err)
	}
}

// A briefing takes the same facts from the best that are kept as from all, also
// when it holds more of them than are kept.
func TestBriefingKeepsTheBest(t *testing.T) {
	var facts []*fact.Version
	for i := range 60 {
		v := version(i, []string{"api", "decision", "architecture"}[i%3], fmt.Sprint("key ", i), fmt.Sprint("value ", i*i))
		v.Confidence, v.Pinned = float64(i*37%60)/60, i%20 == 7
		facts = append(facts, v)
	}
	with(t, facts, func(st *ledger.State) {
		for _, budget := range []int{25, 200, 25_000} {
			o := Occasion{Budget: budget}
			want, short := o.selected(st, &held, 0)
			if short {
				t.Error("all are too few")
			}
			if budget == 25_000 && want.MoreFacts != 0 {
				t.Errorf("%d of 60 facts are left out", want.MoreFacts)
			}
			for _, most := range []int{1, 2, 7, 40, 100} {
				got, short := o.selected(st, &held, most)
				if diff := cmp.Diff(want.Text(), got.Text()); diff != "" && !short {
					t.Errorf("budget %d, the best %d (-all +best):\n%s", budget, most, diff)
				}
				if budget == 25_000 && short != (2*most <= 60) {
					t.Errorf("budget %d, the best %d: short %v", budget, most, short)
				}
			}
		}
	})
}

// The newest decisions are told once: those that stand with their room are left
// out of the line of decisions, those that are over the budget stand there.
func TestBriefingDecisionsOnce(t *testing.T) {
	long := strings.Repeat("because of everything that was said in the meeting ", 20)
	facts := []*fact.Version{
		version(0, "decision", "batches", "Load in batches"),
		version(1, "decision", "tokens", "Use refresh tokens, "+strings.TrimSpace(long)),
	}
	with(t, facts, func(st *ledger.State) {
		for budget, want := range map[int]string{
			100:    "WAKE-UP BRIEFING:\nDECISION:batches=Load in batches★★★\n+1 more fact in 1 room\nRECENT_DECISIONS:" + ("Use refresh tokens, " + long)[:120] + "…",
			10_000: "WAKE-UP BRIEFING:\nDECISION:batches=Load in batches★★★|tokens=Use refresh tokens, " + strings.TrimSpace(long) + "★★★",
		} {
			if diff := cmp.Diff(want, new(Occasion{Budget: budget}).Select(st, &held).Text()); diff != "" {
				t.Errorf("budget %d (-want +got):\n%s", budget, diff)
			}
		}
	})
}
