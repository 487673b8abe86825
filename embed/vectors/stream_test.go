package vectors

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// large is an index whose values a command leaves in the file, of two blocks and
// a small one behind them that replaces a vector.
func large(t *testing.T) (dir string, keys []Key, all [][]float32) {
	t.Helper()
	dir = t.TempDir()
	keys, all = vectorsOf(9, 18_000, 256)
	x := Open(dir, nil)
	put(t, x, named{"a@1", 256}, keys, all)
	put(t, x, named{"a@1", 256}, keys[:1], all[1:2])
	if size := x.Status().Bytes; size < streamed {
		t.Fatalf("%d bytes are not left in the file", size)
	}
	return dir, keys, all
}

// left reports whether values are still in the file.
func left(x *Index) bool {
	return slices.ContainsFunc(x.sets["a@1"].blocks, func(b *block) bool { return b.rows == nil })
}

func TestColdScanIsTheSame(t *testing.T) {
	dir, keys, all := large(t)
	cold, warm := Open(dir, nil), Open(dir, &Options{LongLived: true})
	for i := range 5 {
		want, got := scan(t, warm, "a@1", all[i], 20), scan(t, cold, "a@1", all[i], 20)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("query %d (-in memory +in the file):\n%s", i, diff)
		}
	}
	if !left(cold) || left(warm) {
		t.Error("values are where they should not be")
	}
	if diff := gocmp.Diff(warm.Status(), cold.Status()); diff != "" {
		t.Errorf("status (-in memory +in the file):\n%s", diff)
	}
	// What another process appends is seen, and what needs the values has them.
	more, vectors := vectorsOf(10, 2, 256)
	put(t, Open(dir, nil), named{"a@1", 256}, more, vectors)
	if hits := scan(t, cold, "a@1", vectors[1], 1); hits[0].Key != more[1] {
		t.Errorf("appended, and the nearest is %v", hits)
	}
	if missing := cold.Missing("a@1", slices.Concat(keys[1:], more)); len(missing) > 0 || left(cold) {
		t.Errorf("%d missing", len(missing))
	}
}

// What becomes of a file whose values were left there.
func TestColdScanUnderItsFeet(t *testing.T) {
	dir, keys, all := large(t)
	name := filepath.Join(dir, vectorFile)
	good := readWhole(t, dir)
	first := int(must(shapeOf(good)).front())
	for what, c := range map[string]struct {
		data []byte
		hits int
	}{
		"a value flipped": {flip(good, first+7*256+3), 0},
		"an id flipped":   {flip(good, 60), 0},
		"cut":             {good[:len(good)/2], 0},
		"empty":           {nil, 0},
		"torn in front":   {slices.Concat([]byte("torn"), good), 1},
		"torn behind":     {slices.Concat(good, good[:first+9]), 1},
	} {
		for _, before := range []bool{false, true} {
			if err := os.WriteFile(name, good, 0o600); err != nil {
				t.Fatal(err)
			}
			if before && what == "an id flipped" {
				continue // it may not notice; what it has in memory is true
			}
			x := Open(dir, nil)
			if before { // it has read the file as it was
				scan(t, x, "a@1", all[0], 1)
			}
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			hits := slices.DeleteFunc(scan(t, x, "a@1", all[7], 1), func(h Hit) bool { return h.Key != keys[7] })
			if len(hits) != c.hits {
				t.Errorf("%s, read before %v: %d hits, want %d", what, before, len(hits), c.hits)
			}
			missing := x.Missing("a@1", keys[7:8])
			if len(missing) != 1-c.hits {
				t.Errorf("%s, read before %v: missing %v", what, before, missing)
			}
		}
	}
}

func must(s shape, _ bool) shape { return s }

func flip(data []byte, at int) []byte {
	bad := slices.Clone(data)
	bad[at] ^= 0x40
	return bad
}
