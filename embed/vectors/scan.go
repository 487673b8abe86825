package vectors

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Hit is a text and its cosine to the question, -1 to 1.
type Hit struct {
	ID     string
	Cosine float64
}

// Scan compares all vectors of an encoder with those of a question, or of its
// parts, of which the nearest counts. It returns the nearest texts, equal ones by
// id. The error is the context's, or says that the question is not of this encoder.
func (x *Index) Scan(ctx context.Context, encoder string, question [][]float32, limit int) ([]Hit, error) {
	m := x.of(encoder)
	if m == nil || limit < 1 {
		return nil, ctx.Err()
	}
	var queries []query
	for _, v := range question {
		if len(v) != m.dim {
			return nil, fmt.Errorf("query has %d values, the vectors of %s have %d", len(v), m.encoder, m.dim)
		}
		if w := quantiseQuery(v); w.scale > 0 {
			queries = append(queries, w)
		}
	}
	if len(queries) == 0 {
		return nil, ctx.Err()
	}
	cosines := make([]float32, len(m.ids))
	parallel(ctx, len(m.ids), 1024, func(from, to int) {
		for i := from; i < to; i++ {
			best := float32(math.Inf(-1))
			for _, w := range queries {
				best = max(best, float32(dot(w.values, m.row(i)))*w.scale)
			}
			cosines[i] = best * m.scales[i]
		}
	})
	var hits []Hit
	for i, cosine := range cosines {
		// Vectors of zeros are near nothing; a cosine of two says that the numbers are none.
		if m.scales[i] == 0 || cosine < -2 || len(hits) == limit && float64(cosine) <= hits[limit-1].Cosine {
			continue
		}
		hits = insert(hits, Hit{m.ids[i], float64(cosine)}, limit, func(a, b Hit) int {
			return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), strings.Compare(a.ID, b.ID))
		})
	}
	return hits, ctx.Err()
}

// insert puts an element into a list in order, of which the first so many are kept.
func insert[T any](list []T, x T, most int, order func(a, b T) int) []T {
	at, _ := slices.BinarySearchFunc(list, x, order)
	list = slices.Insert(list, at, x)
	return list[:min(len(list), most)]
}

// parallel calls f for parts of 0 to n, on all processors, until the context ends.
func parallel(ctx context.Context, n, part int, f func(from, to int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+part-1)/part) {
		wg.Go(func() {
			for ctx.Err() == nil {
				to := int(next.Add(int64(part)))
				if to-part >= n {
					return
				}
				f(to-part, min(to, n))
			}
		})
	}
	wg.Wait()
}

// query is a vector as whole numbers times a scale. The numbers are kept for [query.dot]: of each
// eight, the first with the fifth in one word, and so on, then those that are left.
type query struct {
	values []int32
	scale  float32
}

// quantiseQuery gives a vector as whole numbers as fine as sums of products with
// eight bits fit into 32. The scale is 0 when there is nothing to compare: zeros,
// or values that are no numbers.
func quantiseQuery(v []float32) query {
	most := float32(0)
	for _, x := range v {
		most = max(most, x, -x)
	}
	out := query{values: make([]int32, len(v))}
	if most == 0 || most != most || math.IsInf(float64(most), 0) {
		return out
	}
	scale := float64(most) / float64(math.MaxInt32/(128*len(v)))
	for i, x := range v {
		out.values[i] = int32(math.RoundToEven(float64(x) / scale))
	}
	out.scale = float32(scale)
	return out
}

// dot is the product of whole numbers; row has as many int8 as query has values.
func dot(query []int32, row []byte) int32 {
	var a, b, c, d int32
	for len(query) >= 8 && len(row) >= 8 {
		q, r := (*[8]int32)(query), (*[8]byte)(row)
		a += q[0]*int32(int8(r[0])) + q[4]*int32(int8(r[4]))
		b += q[1]*int32(int8(r[1])) + q[5]*int32(int8(r[5]))
		c += q[2]*int32(int8(r[2])) + q[6]*int32(int8(r[6]))
		d += q[3]*int32(int8(r[3])) + q[7]*int32(int8(r[7]))
		query, row = query[8:], row[8:]
	}
	for i, q := range query {
		a += q * int32(int8(row[i]))
	}
	return a + b + c + d
}

// Pairing asks which texts are near each other: each of the first so many is
// compared with all after it.
type Pairing struct {
	Encoder string
	Texts   []Text // one without a vector is near nothing
	First   int
	Least   float64 // the cosine of a pair
	Limit   int     // the most pairs that one of the first is given, the nearest
	// Allowed says whether two texts, by their places, may be a pair; nil: each
	// two may. Several goroutines ask.
	Allowed func(i, j int) bool
}

// Pair is two texts, by their places, the first one first.
type Pair struct {
	A, B   int
	Cosine float64
}

// Pairs returns the pairs, the nearest first and equal ones by place. A million
// comparisons of 256 values take some 100 ms of one processor.
func (x *Index) Pairs(ctx context.Context, q Pairing) ([]Pair, error) {
	m := x.of(q.Encoder)
	rows, scales := make([][]byte, len(q.Texts)), make([]float64, len(q.Texts))
	for i, t := range q.Texts {
		if at, ok := m.find(t); ok {
			rows[i], scales[i] = m.row(at), float64(m.scales[at])
		}
	}
	order := func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	}
	after := func(i int) (near []Pair) {
		if scales[i] == 0 || q.Limit < 1 {
			return nil
		}
		query := make([]int32, len(rows[i]))
		for j, v := range rows[i] {
			query[j] = int32(int8(v))
		}
		for j := i + 1; j < len(rows); j++ {
			if scales[j] == 0 {
				continue
			}
			p := Pair{i, j, float64(dot(query, rows[j])) * scales[i] * scales[j]}
			if p.Cosine < q.Least || len(near) == q.Limit && p.Cosine <= near[q.Limit-1].Cosine || q.Allowed != nil && !q.Allowed(i, j) {
				continue
			}
			near = insert(near, p, q.Limit, order)
		}
		return near
	}
	found := make([][]Pair, min(q.First, len(rows)))
	parallel(ctx, len(found), 1, func(i, _ int) { found[i] = after(i) })
	all := slices.Concat(found...)
	slices.SortFunc(all, order)
	return all, ctx.Err()
}
