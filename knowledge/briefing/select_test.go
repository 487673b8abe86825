package briefing

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

var morning = time.Date(2026, 1, 15, 10, 0, 0, 0, time.UTC)

// held is a frame about an hour later than all facts of a test.
var held = state.Filter{AsOf: morning.Add(time.Hour), Known: morning.Add(time.Hour)}

// version is a fact asserted once, some seconds after the others.
func version(seconds int, category, key, value string) *fact.Version {
	at := morning.Add(time.Duration(seconds) * time.Second)
	return &fact.Version{
		ID: formats.VersionID(category, key, value, at, 0), Category: category, Key: key, Value: value, Archetype: formats.Archetype(category),
		Confidence: .8, ConfirmationCount: 1, CreatedAt: at, LastConfirmed: at, ValidFrom: at, RecordedFrom: at,
	}
}

// with runs a test on a state that holds some facts.
func with(t *testing.T, facts []*fact.Version, f func(*state.State)) {
	t.Helper()
	l, err := state.Open(t.TempDir(), &state.Options{Now: func() time.Time { return morning }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	err = l.Update(t.Context(), func(*state.State, time.Time) (events []state.Event, err error) {
		for _, v := range facts {
			events = append(events, state.Event{Put: v})
		}
		return events, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.View(t.Context(), func(st *state.State) error { f(st); return nil }); err != nil {
		t.Fatal(err)
	}
}

// The newest decisions are told once. Those that stand with their room are left out of the line
// of decisions; those over the budget stand there.
func TestBriefingDecisionsOnce(t *testing.T) {
	long := strings.Repeat("because of everything that was said in the meeting ", 20)
	facts := []*fact.Version{
		version(0, "decision", "batches", "Load in batches"),
		version(1, "decision", "tokens", "Use refresh tokens, "+strings.TrimSpace(long)),
	}
	with(t, facts, func(st *state.State) {
		for budget, want := range map[int]string{
			70:     "WAKE-UP BRIEFING:\nDECISION:batches=Load in batches★★★\n+1 more: decision 1 (ctx_recall)\nRECENT_DECISIONS:" + ("Use refresh tokens, " + long)[:120] + "…",
			10_000: "WAKE-UP BRIEFING:\nDECISION:batches=Load in batches★★★|tokens=" + shorten("Use refresh tokens, "+long, 240) + "★★★",
		} {
			if diff := cmp.Diff(want, new(Inputs{Budget: budget}).at(st, &held).Text()); diff != "" {
				t.Errorf("budget %d (-want +got):\n%s", budget, diff)
			}
		}
	})
}
