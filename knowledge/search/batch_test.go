package search

import (
	"slices"
	"testing"
)

// Large additions answer as small ones do, before and after they are written, whatever is replaced or removed.
func TestManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	docs := madeUps(0, 20_500) // more than two batches
	changed := madeUps(40_000, 40_000+1200)
	for i := range changed {
		changed[i].ID = docs[i*17].ID
	}
	few := slices.Clone(docs[100:150])
	for i := range few {
		few[i].Value += " gateway latency"
	}
	memory, x := mustOpen(t, ""), mustOpen(t, dir)
	mustAdd(t, x, slices.Concat(docs[:10], docs)...) // some of them twice
	for _, d := range docs {
		mustAdd(t, memory, d)
	}
	check := func() { t.Helper(); same(t, memory, x) }
	check()
	for _, d := range append(changed, few...) {
		mustAdd(t, memory, d)
	}
	mustAdd(t, x, changed...)
	mustAdd(t, x, few...)
	check()
	for _, y := range []*Index{memory, x} {
		if err := y.Remove([]string{docs[3].ID, docs[17].ID, few[1].ID, "unknown"}); err != nil {
			t.Fatal(err)
		}
	}
	check()
	if x.Pending() != memory.Pending() {
		t.Errorf("%d pending, want %d", x.Pending(), memory.Pending())
	}
	if err := x.Sync(t.Context(), Generation{At: at(1), Epoch: "e"}, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := x.Since(); !ok || x.Pending() != 0 {
		t.Fatalf("%d pending, a generation: %v", x.Pending(), ok)
	}
	check()
	same(t, memory, mustOpen(t, dir))
	// And upon a generation.
	more := madeUps(50_000, 52_000)
	mustAdd(t, x, more...)
	for _, d := range more {
		mustAdd(t, memory, d)
	}
	check()
	if err := x.Sync(t.Context(), Generation{At: at(2), Epoch: "e"}, forbidden(t)); err != nil {
		t.Fatal(err)
	}
	check()
	same(t, memory, mustOpen(t, dir))
}
