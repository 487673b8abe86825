package index

import (
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Who finds that another one writes the index leaves it to that one.
func TestSyncWhereTheLockIsHeld(t *testing.T) {
	dir := t.TempDir()
	unlock, held, err := lock(filepath.Join(dir, lockName))
	if err != nil || !held {
		t.Fatal(held, err)
	}
	docs := []Doc{{ID: "1", Key: "a", Value: "b"}, {ID: "2", Key: "c", Value: "d"}}
	x, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Add(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	as := Generation{At: time.Unix(1, 0), Epoch: "e"}
	if err := x.Sync(t.Context(), as, slices.Values(docs)); err != nil {
		t.Error(err)
	}
	if _, _, ok := x.Since(); ok || x.Pending() != 2 {
		t.Errorf("synced against the lock: %v, %d pending", ok, x.Pending())
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if err := x.Sync(t.Context(), as, slices.Values(docs)); err != nil {
		t.Error(err)
	}
	if at, epoch, ok := x.Since(); !ok || !at.Equal(as.At) || epoch != "e" || x.Pending() != 0 {
		t.Errorf("not synced without it: %v %q, %d pending", at, epoch, x.Pending())
	}
}
