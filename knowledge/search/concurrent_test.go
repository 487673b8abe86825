package search

import (
	"slices"
	"sync"
	"testing"
)

// TestConcurrent searches, adds, removes and syncs at once; in the end the index answers as one in memory.
func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	x := mustOpen(t, dir)
	mustSync(t, x, 1, madeUps(0, 200))
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 25 {
				from := 200 + 100*i + 4*n
				if err := x.Add(t.Context(), madeUps(from, from+4)); err != nil {
					t.Error(err)
				}
				if err := x.Remove([]string{madeUp(50*i + n).ID}); err != nil {
					t.Error(err)
				}
				if _, _, err := x.Search(t.Context(), Query{Text: queries[n%len(queries)], Explain: true}, func(string) bool { return true }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for n := range 10 {
			if err := x.Sync(t.Context(), Generation{At: at(2 + n), Epoch: "e"}, forbidden(t)); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	memory := open(t, slices.Concat(madeUps(25, 50), madeUps(75, 100), madeUps(125, 150), madeUps(175, 600))...)
	same(t, memory, x)
	if err := x.Sync(t.Context(), Generation{At: at(60), Epoch: "e"}, forbidden(t)); err != nil {
		t.Fatal(err)
	}
	same(t, memory, x)
	same(t, memory, mustOpen(t, dir))
}
