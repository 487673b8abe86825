package search

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// What comes into a file between its writing and its checksums is not taken for the index.
func TestDamagedBeforeSummed(t *testing.T) {
	docs := madeUps(0, 200)
	late := madeUps(200, 300)
	memory := open(t, slices.Concat(docs, late)...)
	for _, wreck := range []func(string, []byte) error{
		func(path string, data []byte) error { data[len(data)/3] ^= 1; return os.WriteFile(path, data, 0o600) },
		func(path string, data []byte) error { data[len(data)-1] ^= 1; return os.WriteFile(path, data, 0o600) },
		func(path string, data []byte) error { return os.Truncate(path, int64(len(data)/2)) },
		func(path string, data []byte) error { return os.Truncate(path, 2) },
		func(path string, _ []byte) error { return os.Remove(path) },
	} {
		dir, sums := t.TempDir(), 0
		x, err := Open(dir, &Options{Fault: func(op, path string) error {
			if op != "sum" || strings.HasSuffix(path, headerName) {
				return nil
			}
			if sums++; sums == 1 {
				return nil // the first generation is good
			}
			data, err := os.ReadFile(path)
			return errors.Join(err, wreck(path, data))
		}})
		if err != nil {
			t.Fatal(err)
		}
		mustSync(t, x, 1, docs)
		mustAdd(t, x, late...)
		if err := x.Sync(t.Context(), Generation{At: at(2), Epoch: "e"}, slices.Values(slices.Concat(docs, late))); err == nil || sums < 2 {
			t.Errorf("%d sums, no error", sums)
		}
		same(t, memory, x)
		other := mustOpen(t, dir)
		mustAdd(t, other, late...)
		same(t, memory, other)
	}
}

// What is removed while a Sync writes it stays removed.
func TestRemovedDuringSync(t *testing.T) {
	dir := t.TempDir()
	var x *Index
	x, err := Open(dir, &Options{Fault: func(op, _ string) error {
		if op == "rename" {
			return x.Remove([]string{madeUp(7).ID, madeUp(70).ID})
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	left := slices.DeleteFunc(madeUps(0, 100), func(d Doc) bool { return d.ID == madeUp(7).ID || d.ID == madeUp(70).ID })
	mustAdd(t, x, madeUps(0, 100)...)
	mustSync(t, x, 1, madeUps(0, 100))
	same(t, open(t, left...), x)
	mustSync(t, x, 2, left)
	same(t, open(t, left...), mustOpen(t, dir))
}

// What is added after a Sync began is kept, though another process has written more than that by then.
func TestBeganBeforeAnother(t *testing.T) {
	dir := t.TempDir()
	x, other := mustOpen(t, dir), mustOpen(t, dir)
	mustAdd(t, x, madeUps(0, 50)...)
	tail := x.Begin(Generation{At: at(1), Epoch: "e"})
	mustAdd(t, x, madeUps(50, 90)...)
	if x.Begin(Generation{At: at(2), Epoch: "e"}) != nil {
		t.Error("two at once")
	}
	mustSync(t, other, 1, madeUps(0, 50))
	if err := tail.Sync(t.Context(), forbidden(t)); err != nil {
		t.Fatal(err)
	}
	if x.Pending() != 40 {
		t.Errorf("%d pending", x.Pending())
	}
	same(t, open(t, madeUps(0, 90)...), x)
}
