package vectors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"leanctx/embed"
)

// named is a name and a size for vectors that no encoder made.
type named struct {
	name string
	dim  int
}

func (n named) Name() string { return n.name }
func (n named) Dim() int     { return n.dim }
func (n named) Encode(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("no encoder")
}

// vectorsOf gives n unit vectors at random, and keys for them.
func vectorsOf(seed uint64, n, dim int) ([]Key, [][]float32) {
	r := rand.New(rand.NewPCG(seed, 1))
	keys, vectors := make([]Key, n), make([][]float32, n)
	for i := range n {
		keys[i] = Key{ID: fmt.Sprintf("f-%016x", r.Uint64()), Text: r.Uint64()}
		vectors[i] = make([]float32, dim)
		for j := range dim {
			vectors[i][j] = float32(r.NormFloat64())
		}
		unit(vectors[i])
	}
	return keys, vectors
}

func put(t testing.TB, x *Index, e embed.Encoder, keys []Key, vectors [][]float32) {
	t.Helper()
	if err := x.Put(t.Context(), e, keys, vectors); err != nil {
		t.Fatal(err)
	}
}

func scan(t testing.TB, x *Index, name string, v []float32, k int) []Hit {
	t.Helper()
	hits, err := x.Scan(t.Context(), Query{Encoder: name, Vector: v, Limit: k})
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// unit brings a vector to length 1.
func unit(v []float32) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
}

var a16, b8 = named{"a@1", 16}, named{"b@1", 8}

func TestIndexKeepsWhatItWasGiven(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there")
	x := Open(dir, nil)
	if got := x.Missing("a@1", []Key{{ID: "f-1"}}); len(got) != 1 {
		t.Fatalf("nothing is there, and yet Missing gives %v", got)
	}
	keys, vectors := vectorsOf(1, 300, 16)
	put(t, x, a16, keys[:200], vectors[:200])
	put(t, x, a16, keys[200:], vectors[200:])
	few, small := vectorsOf(2, 5, 8)
	put(t, x, b8, few, small)
	for _, x := range []*Index{x, Open(dir, nil)} {
		if got := x.Missing("a@1", keys); len(got) != 0 {
			t.Errorf("missing %v, want none", got)
		}
		want := []EncoderEntries{{"a@1", 16, 300}, {"b@1", 8, 5}}
		if diff := cmp.Diff(want, x.Status().Encoders); diff != "" {
			t.Error(diff)
		}
		for i, k := range keys {
			v, ok := x.Vector("a@1", k)
			if !ok {
				t.Fatalf("no vector of %v", k)
			}
			for j := range v {
				if math.Abs(float64(v[j]-vectors[i][j])) > 0.005 {
					t.Fatalf("value %d of %v is %v, want %v", j, k, v[j], vectors[i][j])
				}
			}
		}
		if hits := scan(t, x, "a@1", vectors[7], 1); hits[0].Key != keys[7] || math.Abs(hits[0].Cosine-1) > 0.01 {
			t.Errorf("the nearest to a vector is %v, want itself, %v", hits, keys[7])
		}
		if hits := scan(t, x, "c@1", vectors[7], 1); len(hits) != 0 {
			t.Errorf("an encoder without vectors has hits: %v", hits)
		}
	}
}

func TestHeader(t *testing.T) {
	x := Open(t.TempDir(), nil)
	keys, vectors := vectorsOf(1, 3, 16)
	put(t, x, a16, keys, vectors)
	data, err := os.ReadFile(x.Status().Path)
	if err != nil {
		t.Fatal(err)
	}
	var h header
	if err := json.Unmarshal(data, &h); err != nil {
		t.Fatal(err)
	}
	if h.Checksum != h.sum() || h.Schema != 1 || h.Entries != 3 || h.Bytes != x.Status().Bytes {
		t.Errorf("header %s of a file of %d bytes", data, x.Status().Bytes)
	}
}

// Changed words, and a later vector of the same ID.
func TestIndexNeverAnswersWithWhatWasReplaced(t *testing.T) {
	dir := t.TempDir()
	x := Open(dir, nil)
	keys, vectors := vectorsOf(1, 50, 16)
	put(t, x, a16, keys, vectors)
	changed := []Key{{ID: keys[3].ID, Text: 99}}
	if got := x.Missing("a@1", changed); !slices.Equal(got, []int{0}) {
		t.Errorf("the words of %s changed, and yet Missing gives %v", keys[3].ID, got)
	}
	put(t, x, a16, changed, vectors[4:5])
	for _, x := range []*Index{x, Open(dir, nil)} {
		hits := scan(t, x, "a@1", vectors[3], 50)
		if len(hits) != 50 || slices.ContainsFunc(hits, func(h Hit) bool { return h.Key == keys[3] }) {
			t.Errorf("%d hits, the replaced vector among them or one too few", len(hits))
		}
		if _, ok := x.Vector("a@1", keys[3]); ok {
			t.Error("the replaced vector is still given")
		}
	}
}

func TestPutRefuses(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	two := named{"a@1", 2}
	for want, call := range map[string]func(x *Index) error{
		"1 keys and 2 vectors": func(x *Index) error { return x.Put(t.Context(), two, make([]Key, 1), make([][]float32, 2)) },
		"has 1 values":         func(x *Index) error { return x.Put(t.Context(), two, []Key{{ID: "f"}}, [][]float32{{1}}) },
		"holds NaN":            func(x *Index) error { return x.Put(t.Context(), two, []Key{{ID: "f"}}, [][]float32{{1, nan}}) },
		"holds -Inf":           func(x *Index) error { return x.Put(t.Context(), two, []Key{{ID: "f"}}, [][]float32{{1, inf}}) },
		"id of 1 to":           func(x *Index) error { return x.Put(t.Context(), two, []Key{{}}, [][]float32{{1, 0}}) },
		"need a name":          func(x *Index) error { return x.Put(t.Context(), named{"", 2}, nil, nil) },
		"1 to 8192 values":     func(x *Index) error { return x.Put(t.Context(), named{"a", 1 << 20}, nil, nil) },
	} {
		x := Open(t.TempDir(), nil)
		if err := call(x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if s := x.Status(); s.Bytes != 0 {
			t.Errorf("%q: something was stored", want)
		}
	}
}

func TestForgetLeavesNoByte(t *testing.T) {
	dir := t.TempDir()
	x := Open(dir, nil)
	keys, vectors := vectorsOf(1, 20, 16)
	put(t, x, a16, keys, vectors)
	put(t, x, a16, []Key{{ID: keys[4].ID, Text: 1}}, vectors[5:6])
	few, small := vectorsOf(1, 20, 8)
	put(t, x, b8, few, small)
	if err := Open(dir, nil).Forget(keys[4].ID, few[2].ID, "f-unknown"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, vectorFile))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), keys[4].ID) || strings.Contains(string(data), few[2].ID) {
		t.Error("a forgotten ID is still in the file")
	}
	if hits := scan(t, x, "a@1", vectors[0], 100); len(hits) != 19 {
		t.Errorf("%d hits, want 19", len(hits))
	}
	names, err := fs.Glob(os.DirFS(dir), "*")
	if err != nil || !slices.Equal(names, []string{vectorFile, headerFile}) {
		t.Errorf("the folder holds %v, %v", names, err)
	}
}

// Several processes, here indexes that share nothing but the folder, write at
// once: what was appended is there, whole.
func TestManyWriters(t *testing.T) {
	dir := t.TempDir()
	keys, vectors := vectorsOf(1, 400, 16)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			x := Open(dir, nil)
			for i := w * 100; i < w*100+100; i += 2 {
				if err := x.Put(t.Context(), a16, keys[i:i+2], vectors[i:i+2]); err != nil {
					t.Error(err)
				}
				if _, err := x.Scan(t.Context(), Query{Encoder: "a@1", Vector: vectors[i], Limit: 3}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	x := Open(dir, nil)
	if missing := x.Missing("a@1", keys); len(missing) != 0 {
		t.Errorf("%d of 400 are missing", len(missing))
	}
	if waste := x.Status().Waste; waste != 0 {
		t.Errorf("%d bytes are no block", waste)
	}
}

// Vectors put one by one do not leave a file of a thousand blocks.
func TestManySmallPuts(t *testing.T) {
	dir := t.TempDir()
	x := Open(dir, nil)
	keys, vectors := vectorsOf(1, 700, 16)
	for i := range keys {
		put(t, x, a16, keys[i:i+1], vectors[i:i+1])
	}
	y := Open(dir, nil)
	if missing := y.Missing("a@1", keys); len(missing) != 0 {
		t.Errorf("%d missing", len(missing))
	}
	if n := len(y.sets["a@1"].blocks); n > 260 {
		t.Errorf("%d blocks", n)
	}
}

// readWhole gives the file of vectors.
func readWhole(t testing.TB, dir string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, vectorFile))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
