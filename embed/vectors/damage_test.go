package vectors

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The file is cut at every byte: what is whole is there, the rest is missing,
// and putting it again mends it.
func TestIndexCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	x := Open(dir, nil)
	keys, vectors := vectorsOf(1, 4, 16)
	for i := range keys {
		put(t, x, a16, keys[i:i+1], vectors[i:i+1])
	}
	name := filepath.Join(dir, vectorFile)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	block := len(whole) / 4
	for size := range whole {
		if err := os.WriteFile(name, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		y := Open(dir, nil)
		missing := y.Missing("a@1", keys)
		if len(missing) != 4-size/block {
			t.Fatalf("cut to %d bytes: missing %v", size, missing)
		}
		if size%7 != 0 {
			continue
		}
		for _, i := range missing {
			put(t, y, a16, keys[i:i+1], vectors[i:i+1])
		}
		for _, z := range []*Index{y, Open(dir, nil)} {
			if missing := z.Missing("a@1", keys); len(missing) != 0 {
				t.Fatalf("cut to %d bytes and put again: missing %v", size, missing)
			}
		}
	}
}

// A byte is flipped anywhere: no vector changes, at most one block is missing.
func TestIndexFlippedAnywhere(t *testing.T) {
	dir := t.TempDir()
	keys, vectors := vectorsOf(1, 3, 16)
	x := Open(dir, nil)
	for i := range keys {
		put(t, x, a16, keys[i:i+1], vectors[i:i+1])
	}
	want := scan(t, x, "a@1", vectors[0], 3)
	name := filepath.Join(dir, vectorFile)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		bad := slices.Clone(whole)
		bad[at] ^= 0x40
		if err := os.WriteFile(name, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		got := scan(t, Open(dir, nil), "a@1", vectors[0], 3)
		if len(got) != 2 {
			t.Fatalf("byte %d flipped: %d hits, want 2", at, len(got))
		}
		for _, h := range got {
			if !slices.Contains(want, h) {
				t.Fatalf("byte %d flipped: %v was not there before", at, h)
			}
		}
	}
}

func TestNewerFilesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	keys, vectors := vectorsOf(1, 3, 16)
	put(t, Open(dir, nil), a16, keys, vectors)
	if err := os.WriteFile(filepath.Join(dir, headerFile), []byte(`{"schema":2,"vectors":"elsewhere"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(filepath.Join(dir, vectorFile))
	x := Open(dir, nil)
	if got := x.Missing("a@1", keys); len(got) != 3 || !x.Status().Newer {
		t.Fatalf("missing %v, status %+v", got, x.Status())
	}
	put(t, x, a16, keys, vectors)
	if got := x.Missing("a@1", keys); len(got) != 0 {
		t.Errorf("put, and still missing %v", got)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, vectorFile)); !slices.Equal(before, after) {
		t.Error("the newer version's file was changed")
	}
	if err := x.Reset(); err != nil {
		t.Fatal(err)
	}
	put(t, x, a16, keys, vectors)
	if s := Open(dir, nil).Status(); s.Newer || len(s.Encoders) != 1 {
		t.Errorf("after a reset: %+v", s)
	}
}

// What other processes do to the files while this one has them in memory.
func TestIndexUnderItsFeet(t *testing.T) {
	keys, vectors := vectorsOf(1, 40, 16)
	for name, change := range map[string]struct {
		do   func(dir string) error
		left int
	}{
		"deleted":  {func(dir string) error { return os.Remove(filepath.Join(dir, vectorFile)) }, 0},
		"folder":   {os.RemoveAll, 0},
		"reset":    {func(dir string) error { return Open(dir, nil).Reset() }, 0},
		"emptied":  {func(dir string) error { return os.Truncate(filepath.Join(dir, vectorFile), 0) }, 0},
		"header":   {func(dir string) error { return os.Remove(filepath.Join(dir, headerFile)) }, 20},
		"nonsense": {func(dir string) error { return os.WriteFile(filepath.Join(dir, vectorFile), []byte("<html>"), 0o600) }, 0},
		"a folder": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, vectorFile)), os.Mkdir(filepath.Join(dir, vectorFile), 0o700))
		}, 0},
		"pruned": {func(dir string) error {
			return Open(dir, nil).Prune(func(_ string, k Key) bool { return slices.Index(keys, k) < 10 })
		}, 10},
		"another's": {func(dir string) error {
			_ = Open(dir, nil).Reset()
			return Open(dir, nil).Put(t.Context(), a16, keys[:5], vectors[:5])
		}, 5},
		"appended": {func(dir string) error { return Open(dir, nil).Put(t.Context(), a16, keys[20:30], vectors[20:30]) }, 30},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "x")
			x := Open(dir, nil)
			put(t, x, a16, keys[:20], vectors[:20])
			if err := change.do(dir); err != nil {
				t.Fatal(err)
			}
			if hits := scan(t, x, "a@1", vectors[0], 100); len(hits) != change.left {
				t.Errorf("%d hits, want %d", len(hits), change.left)
			}
			if missing := x.Missing("a@1", keys); len(missing) != 40-change.left {
				t.Errorf("%d missing, want %d", len(missing), 40-change.left)
			}
			err := x.Put(t.Context(), a16, keys, vectors)
			if blocked := name == "a folder"; (err != nil) != blocked {
				t.Error(err)
			}
			if missing := x.Missing("a@1", keys); len(missing) != 0 {
				t.Errorf("put again, and %d are missing", len(missing))
			}
		})
	}
}

func FuzzReadBlocks(f *testing.F) {
	keys, vectors := vectorsOf(1, 2, 8)
	b := newBlock("a@1", 8, keys)
	b.set(0, vectors[0])
	good := b.seal()
	f.Add([]byte{})
	f.Add(good)
	f.Add(slices.Concat([]byte("torn"), good, good[:20], good))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &shelf{}
		blocks, end, waste := readBlocks(data)
		whole := 0
		for _, b := range blocks {
			whole += b.size
			s.add(b)
		}
		if whole+waste != len(data) || end > len(data) {
			t.Fatalf("%d bytes of blocks and %d of waste in %d", whole, waste, len(data))
		}
		for i := range s.n {
			b, j := s.at(i)
			_, _ = b.key(j), b.scale(j)
		}
	})
}
