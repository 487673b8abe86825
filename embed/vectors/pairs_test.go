package vectors

import (
	"context"
	"errors"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The plain way gives the same pairs, of vectors that are there.
func TestPairsAreExact(t *testing.T) {
	for _, dim := range []int{1, 7, 33, 256} {
		x := Open(t.TempDir())
		keys, vectors := vectorsOf(uint64(dim), 300, dim)
		put(t, x, named{"a@1", dim}, keys[:290], vectors[:290]) // ten have none
		odd := func(i, j int) bool { return (i+j)%2 == 1 }
		const least = .1
		var want []Pair
		for i := range 40 {
			for _, h := range slowScan(x, "a@1", stored(t, x, keys[i]), 300) {
				for j := i + 1; j < 290; j++ {
					if keys[j].ID == h.ID && h.Cosine >= least && odd(i, j) {
						want = append(want, Pair{i, j, h.Cosine})
					}
				}
			}
		}
		got, err := x.Pairs(t.Context(), Pairing{Encoder: "a@1", Texts: keys, First: 40, MinCosine: least, Limit: 300, Allowed: odd})
		byPlace := cmpopts.SortSlices(func(a, b Pair) bool { return a.A < b.A || a.A == b.A && a.B < b.B })
		if d := gocmp.Diff(want, got, byPlace, cmpopts.EquateApprox(0, 1e-6)); err != nil || d != "" {
			t.Errorf("%d values: %v %s", dim, err, d)
		}
		for i := 1; i < len(got); i++ {
			if got[i-1].Cosine < got[i].Cosine {
				t.Fatalf("%d values: %v before %v", dim, got[i-1], got[i])
			}
		}
		few, err := x.Pairs(t.Context(), Pairing{Encoder: "a@1", Texts: keys, First: 1, MinCosine: -1, Limit: 2})
		best := slowScan(x, "a@1", stored(t, x, keys[0]), 3)[1:]
		if err != nil || len(few) != 2 || keys[few[0].B].ID != best[0].ID && few[0].Cosine < best[0].Cosine-1e-6 {
			t.Errorf("%d values: %v, want %v", dim, few, best)
		}
	}
}

func stored(t *testing.T, x *Index, k Text) []float32 {
	t.Helper()
	v := x.Vectors("a@1", []Text{k})[0]
	if v == nil {
		t.Fatal("no vector of", k)
	}
	return v
}

func TestPairsOfNothing(t *testing.T) {
	x := Open(t.TempDir())
	keys, vectors := vectorsOf(1, 3, 8)
	put(t, x, named{"a@1", 8}, keys, append(vectors[:2:2], make([]float32, 8)))
	for _, q := range []Pairing{{}, {Encoder: "a@1"}, {Encoder: "a@1", Texts: keys, First: 9}, {Encoder: "b@1", Texts: keys, First: 9, Limit: 1, MinCosine: -1},
		{Encoder: "a@1", Texts: keys[1:], First: 9, Limit: 1, MinCosine: -1}} {
		if got, err := x.Pairs(t.Context(), q); err != nil || len(got) > 0 {
			t.Errorf("%+v: %v, %v", q, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Pairs(ctx, Pairing{Encoder: "a@1", Texts: keys, First: 3, Limit: 1}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Three thousand facts, each with each, beside as many comparisons by a scan.
func BenchmarkPairs(b *testing.B) {
	x := Open(b.TempDir())
	keys, vectors := vectorsOf(1, 3000, 256)
	put(b, x, named{"a@1", 256}, keys, vectors)
	b.Run("pairs", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.Pairs(b.Context(), Pairing{Encoder: "a@1", Texts: keys, First: len(keys), MinCosine: .85, Limit: 16}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			for range len(keys) / 2 {
				scan(b, x, "a@1", vectors[0], 16)
			}
		}
	})
}
