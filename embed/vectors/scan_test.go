package vectors

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"leanctx/internal/proctest"
)

// The plain way: every cosine with the stored vectors in float64, and a sort.
func slowScan(x *Index, name string, q []float32, k int) []Hit {
	var all []Hit
	if err := x.read(func(f *opened) error {
		return f.each(f.sets[name], func(b block) {
			for i := range b.count {
				h := Hit{ID: b.id(i)}
				for j := range q {
					h.Cosine += float64(q[j]) * float64(int8(b.row(i)[j])) * float64(b.scale(i))
				}
				all = append(all, h)
			}
		})
	}); err != nil {
		panic(err)
	}
	slices.SortFunc(all, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), strings.Compare(a.ID, b.ID))
	})
	return all[:min(k, len(all))]
}

func TestScanIsExact(t *testing.T) {
	for _, dim := range []int{1, 7, 8, 33, 256, 384} {
		e := named{"a@1", dim}
		x := Open(t.TempDir())
		keys, vectors := vectorsOf(uint64(dim), 5000, dim)
		put(t, x, e, keys, vectors)
		for i := range 100 {
			keys[i].Text += " changed" // and equal vectors
		}
		put(t, x, e, keys[:100], vectors[100:200])
		_, queries := vectorsOf(3, max(1, 5/proctest.Stride), dim)
		for _, q := range queries {
			for _, k := range []int{1, 10, 6000} {
				got, want := scan(t, x, "a@1", q, k), slowScan(x, "a@1", q, k)
				if len(got) != len(want) {
					t.Fatalf("%d values: %d hits, want %d", dim, len(got), len(want))
				}
				for i := range got {
					if math.Abs(got[i].Cosine-want[i].Cosine) > 1e-5 {
						t.Fatalf("%d values: hit %d has %v, want %v", dim, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// Equal vectors come by ID, whatever the cores did and wherever they are cut off.
func TestScanTies(t *testing.T) {
	x := Open(t.TempDir())
	keys, vectors := vectorsOf(1, 9000, 16)
	for i := range vectors {
		vectors[i] = vectors[i%3]
	}
	put(t, x, a16, keys, vectors)
	want := scan(t, x, "a@1", vectors[0], 9000)
	if !slices.IsSortedFunc(want, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), strings.Compare(a.ID, b.ID))
	}) {
		t.Error("equal hits are not in the order of their IDs")
	}
	for _, k := range []int{1, 2, 100, 3001} {
		if diff := gocmp.Diff(want[:k], scan(t, x, "a@1", vectors[0], k)); diff != "" {
			t.Errorf("the first %d are not those of the whole:\n%s", k, diff)
		}
	}
}

func TestScanRefuses(t *testing.T) {
	x := Open(t.TempDir())
	keys, vectors := vectorsOf(1, 10, 16)
	put(t, x, a16, keys, vectors)
	if _, err := x.Scan(t.Context(), "a@1", [][]float32{make([]float32, 8)}, 1); err == nil || !strings.Contains(err.Error(), "8 values") {
		t.Errorf("a query of another size: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Scan(ended, "a@1", vectors[:1], 1); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	for _, limit := range []int{0, -1} {
		if hits := scan(t, x, "a@1", vectors[0], limit); len(hits) != 0 {
			t.Errorf("limit %d: %v", limit, hits)
		}
	}
	nan := make([]float32, 16)
	nan[3] = float32(math.NaN())
	for _, v := range [][]float32{nan, make([]float32, 16)} {
		if hits := scan(t, x, "a@1", v, 3); len(hits) != 0 {
			t.Errorf("query %v: %v, want no hits", v, hits)
		}
	}
}

func TestZeroVectorsAreNearNothing(t *testing.T) {
	x := Open(t.TempDir())
	empty := []Text{{ID: "f-empty"}}
	put(t, x, a16, empty, [][]float32{make([]float32, 16)})
	_, vectors := vectorsOf(1, 1, 16)
	if hits := scan(t, x, "a@1", vectors[0], 1); len(hits) != 0 {
		t.Errorf("%v, want no hits", hits)
	}
	if missing := missing(t, x, empty); len(missing) != 0 {
		t.Error("a vector of zeros counts as missing")
	}
}

// The floor is what a scan cannot be faster than in plain Go: the products
// alone, on all cores, out of one slice.
func BenchmarkScan(b *testing.B) {
	const n, dim = 100_000, 256
	dir := b.TempDir()
	x := Open(dir)
	keys, vectors := vectorsOf(1, n, dim)
	put(b, x, named{"a@1", dim}, keys, vectors)
	query, flat := quantiseQuery(vectors[n/2]), make([]byte, n*dim)
	out := make([]int32, n)
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			var wg sync.WaitGroup
			cores := runtime.GOMAXPROCS(0)
			for c := range cores {
				wg.Go(func() {
					for i := n * c / cores; i < n*(c+1)/cores; i++ {
						out[i] = query.dot(flat[i*dim : (i+1)*dim])
					}
				})
			}
			wg.Wait()
		}
	})
	b.Run("scan", func(b *testing.B) {
		for b.Loop() {
			if hits, err := x.Scan(b.Context(), "a@1", vectors[n/2:n/2+1], 10); err != nil || len(hits) != 10 {
				b.Fatal(hits, err)
			}
		}
	})
	b.Run("cold", func(b *testing.B) { // the whole of a command's question
		for b.Loop() {
			if hits := scan(b, Open(dir), "a@1", vectors[n/2], 10); len(hits) != 10 {
				b.Fatal(hits)
			}
		}
	})
	b.Run("add", func(b *testing.B) { // one more text, and the file written anew
		for i := 0; b.Loop(); i++ {
			put(b, x, named{"a@1", dim}, []Text{{ID: "new", Text: strings.Repeat("x", i)}}, vectors[:1])
		}
	})
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			if got := missing(b, Open(dir), keys[:1]); len(got) != 0 {
				b.Fatal(got)
			}
		}
	})
	b.Run("read", func(b *testing.B) { // load's floor
		for b.Loop() {
			if len(readWhole(b, dir)) < n*dim {
				b.Fatal("short")
			}
		}
	})
}

// Of a question in parts the nearest part counts.
func TestScanOfParts(t *testing.T) {
	x := Open(t.TempDir())
	texts, vectors := vectorsOf(1, 50, 16)
	put(t, x, a16, texts, vectors)
	hits, err := x.Scan(t.Context(), "a@1", vectors[3:6], 3)
	if err != nil || len(hits) != 3 {
		t.Fatal(hits, err)
	}
	for _, want := range texts[3:6] {
		if !slices.ContainsFunc(hits, func(h Hit) bool { return h.ID == want.ID && h.Cosine > .99 }) {
			t.Errorf("%v is not among %v", want, hits)
		}
	}
}

// There are as many workers as the caller made buffers for, however many processors there are by now.
func TestParallelWorkers(t *testing.T) {
	var calls atomic.Int64
	parallel(t.Context(), 1, 1000, func(on, _ int) {
		if calls.Add(1); on != 0 {
			t.Errorf("worker %d of one", on)
		}
	})
	if calls.Load() != 1000 {
		t.Errorf("%d calls", calls.Load())
	}
}
