package vectors

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The file is cut at every byte: it counts as absent, whoever reads it, and
// filling again mends it.
func TestIndexCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	texts, vectors := vectorsOf(1, 4, 16)
	put(t, Open(dir), a16, texts, vectors)
	name, whole := filepath.Join(dir, vectorFile), readWhole(t, dir)
	for size := range whole {
		if err := os.WriteFile(name, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		y := Open(dir)
		if missing := y.Missing("a@1", texts); len(missing) != 4 {
			t.Fatalf("cut to %d bytes: missing %v", size, missing)
		}
		if size%7 != 0 {
			continue
		}
		put(t, y, a16, texts, vectors)
		for _, z := range []*Index{y, Open(dir)} {
			if missing := z.Missing("a@1", texts); len(missing) != 0 {
				t.Fatalf("cut to %d bytes and filled again: missing %v", size, missing)
			}
		}
	}
}

// A byte is flipped anywhere: the file counts as absent, and filling again mends it.
func TestIndexFlippedAnywhere(t *testing.T) {
	dir := t.TempDir()
	texts, vectors := vectorsOf(1, 3, 16)
	put(t, Open(dir), a16, texts, vectors)
	name, whole := filepath.Join(dir, vectorFile), readWhole(t, dir)
	for at := range whole {
		bad := slices.Clone(whole)
		bad[at] ^= 0x40
		if err := os.WriteFile(name, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		x := Open(dir)
		if got := scan(t, x, "a@1", vectors[0], 3); len(got) > 0 {
			t.Fatalf("byte %d flipped: %d hits", at, len(got))
		}
		put(t, x, a16, texts, vectors)
		if hits := scan(t, Open(dir), "a@1", vectors[0], 3); len(hits) != 3 {
			t.Fatalf("byte %d flipped and filled again: %v", at, hits)
		}
	}
}

// A file of another version counts as absent and is replaced.
func TestOtherVersions(t *testing.T) {
	dir := t.TempDir()
	texts, vectors := vectorsOf(1, 3, 16)
	for _, before := range []string{"lcvec2 and what an earlier version wrote", "lcvec9 and what a later one writes\n"} {
		if err := os.WriteFile(filepath.Join(dir, vectorFile), []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		x := Open(dir)
		if got := x.Missing("a@1", texts); len(got) != 3 {
			t.Errorf("%s: missing %v", before, got)
		}
		put(t, x, a16, texts, vectors)
		if got := Open(dir).Missing("a@1", texts); len(got) != 0 {
			t.Errorf("%s: filled, and still missing %v", before, got)
		}
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
		"reset":    {func(dir string) error { return Open(dir).Reset() }, 0},
		"emptied":  {func(dir string) error { return os.Truncate(filepath.Join(dir, vectorFile), 0) }, 0},
		"header":   {func(dir string) error { return os.Remove(filepath.Join(dir, describingFile)) }, 20},
		"nonsense": {func(dir string) error { return os.WriteFile(filepath.Join(dir, vectorFile), []byte("<html>"), 0o600) }, 0},
		"a folder": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, vectorFile)), os.Mkdir(filepath.Join(dir, vectorFile), 0o700), os.Mkdir(filepath.Join(dir, vectorFile, "x"), 0o700))
		}, 0},
		"forgotten": {func(dir string) error { return Open(dir).Forget(texts[2].ID, texts[3].ID) }, 18},
		"another's": {func(dir string) error {
			return errors.Join(Open(dir).Reset(), fill(Open(dir), a16, texts[:5], vectors[:5]))
		}, 5},
		"added": {func(dir string) error { return fill(Open(dir), a16, texts[20:30], vectors[20:30]) }, 30},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "x")
			x := Open(dir)
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

// Any bytes are read without a panic, also those with right checksums.
func FuzzDecode(f *testing.F) {
	m := newMatrix("a@1", 8, []entry{{id: "f-1", text: 3, scale: .5, row: make([]byte, 8)}, {id: "f-2", row: make([]byte, 8)}})
	good, err := m.encode(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Add(good)
	f.Add(good[:40])
	f.Add(slices.Concat(good, good))
	for _, line := range []string{`{"name":"a","dim":8192,"entries":9223372036854775807,"ids":1}`, `{"name":"a","dim":1,"entries":1,"ids":-1}`,
		`{"name":"a","dim":1,"entries":2,"ids":3}`, `{"name":"a","dim":0,"entries":0,"ids":0}`} {
		f.Add([]byte(line + "\n" + strings.Repeat("x", 40)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sets, err := decodeFile([]byte(firstLine(data) + "\n" + string(data)))
		if err != nil {
			return
		}
		for _, m := range sets {
			m.find(Text{ID: "f-1"})
			for i := range m.ids {
				_, _, _ = m.row(i), m.scales[i], m.texts[i]
			}
		}
	})
}
