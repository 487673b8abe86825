package search

import (
	"slices"
	"sync"
	"testing"
)

// Two servers and ten commands write one index at once, each what it knows: every answer is that of the facts known,
// and what is on disk in the end is the work of one that knew all it says.
func TestManySyncAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	begin := make(chan struct{})
	known := func(n int) []Doc { return madeUps(0, 40*n) }
	for range 2 {
		all.Go(func() {
			<-begin
			x, n := mustOpen(t, dir), 0
			if when, _, ok := x.Since(); ok {
				n = when.Second()
			}
			for ; n < 12; n++ {
				mustAdd(t, x, known(n + 1)[40*n:]...)
				if err := x.Sync(t.Context(), Generation{At: at(n + 1), Epoch: "e"}, slices.Values(known(n+1))); err != nil {
					t.Error(err)
				}
				if when, _, ok := x.Since(); ok {
					n = max(n, when.Second()-1) // another has written more
				}
			}
		})
	}
	for i := range 10 {
		all.Go(func() {
			<-begin
			x, n := mustOpen(t, dir), 0
			if when, _, ok := x.Since(); ok {
				n = when.Second()
			}
			to := max(n, i+2)
			mustAdd(t, x, known(to)[40*n:]...)
			if err := x.Sync(t.Context(), Generation{At: at(to), Epoch: "e"}, slices.Values(known(to))); err != nil {
				t.Error(err)
			}
			if _, _, err := x.Search(t.Context(), Query{Text: "auth"}, nil); err != nil {
				t.Logf("search: %v", err) // what it had not read is gone with the generation: for the caller to open anew
			}
		})
	}
	close(begin)
	all.Wait()
	x := mustOpen(t, dir)
	when, _, ok := x.Since()
	if !ok {
		t.Fatal("no generation")
	}
	same(t, open(t, known(when.Second())...), x)
}
