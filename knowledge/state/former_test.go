package state

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/internal/proctest"
	"leanctx/knowledge/fact"
)

// Events of former versions lead to the patterns and gotchas that they led to then, whatever was
// compacted, indexed and opened again in between.
func TestFormerEvents(t *testing.T) {
	for seed := range uint64(max(4, proctest.Rounds(8))) {
		r, dir := rand.New(rand.NewPCG(seed, 7)), t.TempDir()
		var patterns []formats.Pattern
		var gotchas []formats.Gotcha
		samePattern := func(p formats.Pattern) func(formats.Pattern) bool {
			return func(q formats.Pattern) bool { return p.Type == q.Type && p.Description == q.Description }
		}
		l := openLog(t, dir)
		for step := range 40 {
			must(t, l.UpdateSome(t.Context(), func(_ Reader, now time.Time) ([]Event, error) {
				p := formats.Pattern{Type: fmt.Sprint("type ", r.IntN(3)), Description: fmt.Sprint("says ", r.IntN(3)), Examples: []string{}, CreatedAt: now}
				trigger := fmt.Sprint("one two three four five ", r.IntN(4)) // they share the words that a key is made of
				g := formats.Gotcha{
					ID: fmt.Sprint("g-", trigger), Category: "Convention", Severity: fact.Severities[r.IntN(3)], Trigger: trigger, Resolution: fmt.Sprint("mind ", r.IntN(3)),
					Occurrences: 1, FirstSeen: now, LastSeen: now, Confidence: .9, Source: "AgentReported",
				}
				i := slices.IndexFunc(patterns, samePattern(p))
				j := slices.IndexFunc(gotchas, func(h formats.Gotcha) bool { return h.ID == g.ID })
				switch x := r.IntN(10); {
				case x < 3:
					if i >= 0 {
						p.CreatedAt = patterns[i].CreatedAt
						p.Examples = append(slices.Clip(patterns[i].Examples), fmt.Sprint("e", step))
						patterns[i] = p
					} else {
						patterns = append(patterns, p)
					}
					return []Event{{Pattern: &p}}, nil
				case x < 5:
					patterns = slices.DeleteFunc(patterns, samePattern(p))
					return []Event{{Unpattern: &p}}, nil
				case x < 8:
					if j >= 0 {
						g.FirstSeen, g.Occurrences = gotchas[j].FirstSeen, gotchas[j].Occurrences+1
						gotchas[j] = g
					} else {
						gotchas = append(gotchas, g)
					}
					return []Event{{Gotcha: &g}}, nil
				default:
					gotchas = slices.DeleteFunc(gotchas, func(h formats.Gotcha) bool { return h.ID == g.ID })
					return []Event{{Ungotcha: g.ID}}, nil
				}
			}))
			switch r.IntN(6) {
			case 0:
				must(t, l.Compact(t.Context()))
			case 1:
				must(t, l.Sync(t.Context(), 1, nil))
			case 2:
				l = openLog(t, dir)
			}
			var text bytes.Buffer
			must(t, l.View(t.Context(), func(st *State) error { return fact.EncodeFile(&text, st.Document(journal.Header{})) }))
			got, err := formats.DecodeNative(text.Bytes())
			must(t, err)
			inOrder := func(list []formats.Pattern) []formats.Pattern {
				list = slices.Clone(list)
				slices.SortFunc(list, func(a, b formats.Pattern) int {
					return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Description, b.Description))
				})
				return list
			}
			byID := func(list []formats.Gotcha) []formats.Gotcha {
				list = slices.Clone(list)
				slices.SortFunc(list, func(a, b formats.Gotcha) int { return cmp.Compare(a.ID, b.ID) })
				return list
			}
			if diff := gocmp.Diff(inOrder(patterns), inOrder(got.Patterns)); diff != "" && len(patterns)+len(got.Patterns) > 0 {
				t.Fatalf("seed %d, step %d, patterns (-then +now):\n%s", seed, step, diff)
			}
			if diff := gocmp.Diff(byID(gotchas), byID(got.Gotchas)); diff != "" && len(gotchas)+len(got.Gotchas) > 0 {
				t.Fatalf("seed %d, step %d, gotchas (-then +now):\n%s", seed, step, diff)
			}
			must(t, l.ViewSome(t.Context(), func(k Reader) error {
				if n := len(k.CurrentIn(fact.RoomGotcha, k.At)); n != len(gotchas) {
					t.Fatalf("seed %d, step %d: %d of %d gotchas read one by one", seed, step, n, len(gotchas))
				}
				return nil
			}))
		}
	}
}
