package share

import (
	"testing"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
)

// No number that a member of a team writes into a share keeps others from pulling: this one, or an
// honest one beside it. Each integer of each event is tried.
func TestNumbersOfAShareStopNobody(t *testing.T) {
	for _, kind := range []string{"push", "pull"} {
		whole := func(b *bed) event {
			b.write("b.go", "package honest\n")
			id := b.push(claude, "", "m", "b.go").ID
			if kind == "pull" {
				return event{Pull: &pulled{By: cursor, IDs: []string{"s-none"}, Part: id, Upto: place{1, 1}}}
			}
			var x *shared
			if err := b.s.log.View(b.Context(), func(s *state, _ journal.Head) error { x = s.shares[id]; return nil }); err != nil {
				b.Fatal(err)
			}
			y := *x
			y.Places = map[string]place{cursor: {File: 0, Bytes: 1}}
			return event{Push: &y}
		}
		proctest.Extremes(t, whole(newBed(t)), func(name string, e event) {
			t.Run(kind+name, func(t *testing.T) {
				b := newBed(t)
				honest := whole(b)
				if e.Push != nil { // of another share than the pattern's
					e.Push.ID, e.Push.Files[0].Hash = honest.Push.ID, honest.Push.Files[0].Hash
				} else {
					e.Pull.Part = honest.Pull.Part
				}
				if _, err := b.s.log.Update(t.Context(), func(*state, time.Time) ([]event, error) { return []event{e}, nil }); err != nil {
					t.Fatal(err)
				}
				_ = b.pull(second, true).Text()
				_ = b.list()
				_ = b.pull(cursor, true).Text()
			})
		})
	}
}
