package vectors

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The file is cut at every byte: it counts as absent, whoever reads it, and
// filling again mends it.
func TestIndexCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	texts, vectors := vectorsOf(1, 4, 16)
	put(t, Open(dir, nil), a16, texts, vectors)
	name, whole := filepath.Join(dir, vectorFile), readWhole(t, dir)
	for size := range whole {
		if err := os.WriteFile(name, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		y := Open(dir, nil)
		if missing := y.Missing("a@1", texts); len(missing) != 4 {
			t.Fatalf("cut to %d bytes: missing %v", size, missing)
		}
		if size%7 != 0 {
			continue
		}
		put(t, y, a16, texts, vectors)
		for _, z := range []*Index{y, Open(dir, nil)} {
			if missing := z.Missing("a@1", texts); len(missing) != 0 {
				t.Fatalf("cut to %d bytes and filled again: missing %v", size, missing)
			}
		}
	}
}

// A byte is flipped anywhere: no vector changes, and what is damaged is found
// missing.
func TestIndexFlippedAnywhere(t *testing.T) {
	dir := t.TempDir()
	texts, vectors := vectorsOf(1, 3, 16)
	put(t, Open(dir, nil), a16, texts, vectors)
	want := scan(t, Open(dir, nil), "a@1", vectors[0], 3)
	name, whole := filepath.Join(dir, vectorFile), readWhole(t, dir)
	for at := range whole {
		bad := slices.Clone(whole)
		bad[at] ^= 0x40
		if err := os.WriteFile(name, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		x := Open(dir, nil)
		got := scan(t, x, "a@1", vectors[0], 3)
		if len(got) > 2 || at >= len(whole)-3*16 && len(got) != 2 {
			t.Fatalf("byte %d flipped: %d hits", at, len(got))
		}
		for _, h := range got {
			if !slices.Contains(want, h) {
				t.Fatalf("byte %d flipped: %v was not there before", at, h)
			}
		}
		put(t, x, a16, texts, vectors)
		if hits := scan(t, Open(dir, nil), "a@1", vectors[0], 3); len(hits) != 3 {
			t.Fatalf("byte %d flipped and filled again: %v", at, hits)
		}
	}
}

// The numbers of a large file stay there; then too a damaged vector is no hit,
// and what becomes of the file is noticed.
func TestStreamedVectors(t *testing.T) {
	dir := t.TempDir()
	e := named{"a@1", 512}
	texts, vectors := vectorsOf(1, streamed/512, 512)
	put(t, Open(dir, nil), e, texts, vectors)
	cold, warm := Open(dir, nil), Open(dir, &Options{LongLived: true})
	want := scan(t, warm, "a@1", vectors[5], 20)
	if got := scan(t, cold, "a@1", vectors[5], 20); !slices.Equal(got, want) || cold.sets["a@1"].rows != nil {
		t.Errorf("streamed %v, want %v", got, want)
	}
	whole := readWhole(t, dir)
	m := warm.sets["a@1"]
	at, _ := m.find(texts[5])
	whole[m.offset+int64(at*512)+3] ^= 0x11
	if err := os.WriteFile(filepath.Join(dir, vectorFile), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []*Index{cold, warm} {
		if got := scan(t, x, "a@1", vectors[5], 20); slices.ContainsFunc(got, func(h Hit) bool { return h.ID == texts[5].ID }) {
			t.Errorf("a damaged vector is a hit: %v", got)
		}
	}
	if err := cold.Forget(texts[7].ID); err != nil {
		t.Fatal(err)
	}
	if got := len(warm.Missing("a@1", texts)); got != 2 {
		t.Errorf("%d missing, want the damaged and the forgotten one", got)
	}
	if err := os.Remove(filepath.Join(dir, vectorFile)); err != nil {
		t.Fatal(err)
	}
	if got := scan(t, Open(dir, nil), "a@1", vectors[5], 20); len(got) > 0 {
		t.Errorf("hits without a file: %v", got)
	}
}

func TestNewerFilesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	texts, vectors := vectorsOf(1, 3, 16)
	before := []byte("lcvec3 and what a later version writes")
	if err := os.WriteFile(filepath.Join(dir, vectorFile), before, 0o600); err != nil {
		t.Fatal(err)
	}
	x := Open(dir, nil)
	if got := x.Missing("a@1", texts); len(got) != 3 || !x.Status().Newer {
		t.Fatalf("missing %v, status %+v", got, x.Status())
	}
	put(t, x, a16, texts, vectors)
	if got := x.Missing("a@1", texts); len(got) != 0 {
		t.Errorf("filled, and still missing %v", got)
	}
	if !bytes.Equal(before, readWhole(t, dir)) {
		t.Error("the newer version's file was changed")
	}
	if err := x.Reset(); err != nil {
		t.Fatal(err)
	}
	put(t, x, a16, texts, vectors)
	if s := Open(dir, nil).Status(); s.Newer || len(s.Encoders) != 1 {
		t.Errorf("after a reset: %+v", s)
	}
}

// What other processes do to the files while this one has them in memory.
func TestIndexUnderItsFeet(t *testing.T) {
	texts, vectors := vectorsOf(1, 40, 16)
	for name, change := range map[string]struct {
		do   func(dir string) error
		left int
	}{
		"deleted":  {func(dir string) error { return os.Remove(filepath.Join(dir, vectorFile)) }, 0},
		"folder":   {os.RemoveAll, 0},
		"reset":    {func(dir string) error { return Open(dir, nil).Reset() }, 0},
		"emptied":  {func(dir string) error { return os.Truncate(filepath.Join(dir, vectorFile), 0) }, 0},
		"header":   {func(dir string) error { return os.Remove(filepath.Join(dir, describingFile)) }, 20},
		"nonsense": {func(dir string) error { return os.WriteFile(filepath.Join(dir, vectorFile), []byte("<html>"), 0o600) }, 0},
		"a folder": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, vectorFile)), os.Mkdir(filepath.Join(dir, vectorFile), 0o700), os.Mkdir(filepath.Join(dir, vectorFile, "x"), 0o700))
		}, 0},
		"forgotten": {func(dir string) error { return Open(dir, nil).Forget(texts[2].ID, texts[3].ID) }, 18},
		"another's": {func(dir string) error {
			return errors.Join(Open(dir, nil).Reset(), fill(Open(dir, nil), a16, texts[:5], vectors[:5]))
		}, 5},
		"added": {func(dir string) error { return fill(Open(dir, nil), a16, texts[20:30], vectors[20:30]) }, 30},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "x")
			x := Open(dir, nil)
			put(t, x, a16, texts[:20], vectors[:20])
			if err := change.do(dir); err != nil {
				t.Fatal(err)
			}
			if hits := scan(t, x, "a@1", vectors[0], 100); len(hits) != change.left {
				t.Errorf("%d hits, want %d", len(hits), change.left)
			}
			if missing := x.Missing("a@1", texts); len(missing) != 40-change.left {
				t.Errorf("%d missing, want %d", len(missing), 40-change.left)
			}
			err := fill(x, a16, texts, vectors)
			if blocked := name == "a folder"; (err != nil) != blocked {
				t.Error(err)
			}
			if missing := x.Missing("a@1", texts); len(missing) != 0 {
				t.Errorf("filled again, and %d are missing", len(missing))
			}
		})
	}
}

// Any bytes are read without a panic, also those with a right checksum.
func FuzzReadMatrix(f *testing.F) {
	m := newMatrix("a@1", 8, []entry{{id: "f-1", text: 3, scale: .5, row: make([]byte, 8)}, {id: "f-2", row: make([]byte, 8)}})
	good := slices.Concat(m.header(), m.arrays, m.rows)
	f.Add([]byte{})
	f.Add(good)
	f.Add(good[:40])
	f.Add(slices.Concat(good, good))
	m.arrays[len(m.encoder)+16*m.n] = 200 // the end of an id lies beyond the ids
	f.Add(slices.Concat(m.header(), m.arrays, m.rows))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, next, err := readMatrix(bytes.NewReader(data), 0, int64(len(data)), true)
		if err != nil {
			return
		}
		if next > int64(len(data)) {
			t.Fatalf("the next section begins at %d of %d", next, len(data))
		}
		for i := range m.n {
			_, _, _ = m.id(i), m.scale(i), m.sound(i, m.row(i))
		}
		m.find(Text{ID: "f-1"})
	})
}
