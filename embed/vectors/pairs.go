package vectors

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Pairing asks which of some vectors are near each other.
type Pairing struct {
	Encoder string
	Keys    []Key   // one without a vector is near nothing
	First   int     // each of so many from the beginning is compared with all after it
	Least   float64 // the cosine of a pair
	Limit   int     // the most pairs that one of the first is given; the nearest
	// Allowed says whether two keys, by their places, may be a pair; nil: each
	// two may. It is asked by several goroutines, of those that are near enough.
	Allowed func(i, j int) bool
}

// Pair is two keys, by their places, the first one first.
type Pair struct {
	A, B   int
	Cosine float64
}

// row is a vector as it is kept.
type row struct {
	values []byte
	scale  float64
}

// Pairs gives the pairs of a pairing, the nearest first and equal ones by place.
// A million comparisons of 256 values take some 150 ms of one processor, of all
// of which it makes use. The error is the context's.
func (x *Index) Pairs(ctx context.Context, q Pairing) ([]Pair, error) {
	x.mu.Lock()
	x.whole()
	x.mu.Unlock()
	x.mu.RLock()
	defer x.mu.RUnlock()
	if q.Limit < 1 {
		return nil, ctx.Err()
	}
	rows := make([]row, len(q.Keys))
	for i, k := range q.Keys {
		if b, at, ok := x.sets[q.Encoder].find(k); ok {
			rows[i] = row{b.row(at), float64(b.scale(at))}
		}
	}
	var next atomic.Int64
	var mu sync.Mutex
	var all []Pair
	work := func() {
		var whole []int32
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= min(q.First, len(rows)) {
				return
			}
			if rows[i].scale == 0 {
				continue
			}
			whole = whole[:0]
			for _, v := range rows[i].values {
				whole = append(whole, int32(int8(v)))
			}
			if near := q.after(i, whole, rows); len(near) > 0 {
				mu.Lock()
				all = append(all, near...)
				mu.Unlock()
			}
		}
	}
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	slices.SortFunc(all, orderPairs)
	return all, ctx.Err()
}

// after gives the pairs of a place with those behind it.
func (q *Pairing) after(i int, whole []int32, rows []row) (near []Pair) {
	for j := i + 1; j < len(rows); j++ {
		if rows[j].scale == 0 || len(rows[j].values) != len(whole) {
			continue
		}
		cosine := float64(dot(whole, rows[j].values)) * rows[i].scale * rows[j].scale
		full := len(near) == q.Limit
		if cosine < q.Least || full && cosine <= near[len(near)-1].Cosine || q.Allowed != nil && !q.Allowed(i, j) {
			continue
		}
		if full {
			near = near[:len(near)-1]
		}
		p := Pair{i, j, cosine}
		at, _ := slices.BinarySearchFunc(near, p, orderPairs)
		near = slices.Insert(near, at, p)
	}
	return near
}

func orderPairs(a, b Pair) int {
	return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
}
