package vectors

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sort"
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
// id. The error is the context's or [ErrDamaged], or says that the question is not
// of this encoder, or that the file cannot be read now.
func (x *Index) Scan(ctx context.Context, encoder string, question [][]float32, limit int) (hits []Hit, err error) {
	err = x.read(func(f *opened) error {
		s := f.sets[encoder]
		if s == nil || limit < 1 {
			return ctx.Err()
		}
		queries := make([]query, len(question))
		for i, v := range question {
			if len(v) != s.Dim {
				return fmt.Errorf("query has %d values, the vectors of %s have %d", len(v), encoder, s.Dim)
			}
			queries[i] = quantiseQuery(v)
		}
		queries = slices.DeleteFunc(queries, func(q query) bool { return q.scale == 0 })
		if len(queries) == 0 {
			return ctx.Err()
		}
		workers := processors() // asked once: the runtime may change it meanwhile
		buffers, near := make([][]byte, workers), make([]nearest, workers)
		for i := range near {
			near[i].rows = make([]nearRow, 0, min(limit, s.Entries))
		}
		failed := make([]error, workers)
		parallel(ctx, workers, len(s.Blocks), func(on, i int) {
			if failed[on] != nil {
				return
			}
			b, err := f.block(s, i, buffers[on])
			if err != nil {
				failed[on] = err
				return
			}
			buffers[on] = b.data
			near[on].add(b, queries, limit)
		})
		if err := errors.Join(failed...); err != nil {
			return err
		}
		for _, n := range near {
			hits = slices.Grow(hits, len(n.rows))
			for _, r := range n.rows {
				hits = append(hits, Hit{n.id(r), float64(r.cosine)})
			}
		}
		slices.SortFunc(hits, nearer)
		hits = hits[:min(len(hits), limit)]
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return hits, nil
}

func nearer(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), strings.Compare(a.ID, b.ID))
}

// nearest are the nearest vectors so far, the nearest first, of which a number is kept. Rows hold no
// pointers: most are moved many times and then dropped.
type nearest struct {
	rows []nearRow
	ids  []byte
}

type nearRow struct {
	cosine float32
	id     int32 // where its id begins in ids; below zero: ^i is row i of the block that is compared now
	length uint8 // of its id
}

func (n *nearest) id(r nearRow) string { return string(n.ids[r.id:][:r.length]) }

// add adds the vectors of a block. Blocks and rows come in the order of their ids, so of two that are
// equally near the first is kept.
func (n *nearest) add(b block, queries []query, limit int) {
	rows := b.data[len(b.data)-b.count*b.dim:]
	for i := range b.count {
		best := float32(math.Inf(-1))
		for _, q := range queries {
			best = max(best, float32(q.dot(rows[i*b.dim:(i+1)*b.dim]))*q.scale)
		}
		scale := b.scale(i)
		cosine := best * scale
		// Vectors of zeros are near nothing; a cosine of two says that the numbers are none.
		if scale == 0 || cosine < -2 || len(n.rows) == limit && cosine <= n.rows[limit-1].cosine {
			continue
		}
		at := sort.Search(len(n.rows), func(i int) bool { return n.rows[i].cosine < cosine })
		if len(n.rows) < limit {
			n.rows = append(n.rows, nearRow{})
		}
		copy(n.rows[at+1:], n.rows[at:])
		n.rows[at] = nearRow{cosine: cosine, id: ^int32(i)}
	}
	for i := range n.rows {
		if r := &n.rows[i]; r.id < 0 {
			id := b.idBytes(int(^r.id)) // of at most maxName bytes
			r.id, r.length = int32(len(n.ids)), uint8(len(id))
			n.ids = append(n.ids, id...)
		}
	}
}

// insert puts an element into a list in order, of which only the first are kept.
func insert[T any](list []T, x T, most int, order func(a, b T) int) []T {
	at, _ := slices.BinarySearchFunc(list, x, order)
	list = slices.Insert(list, at, x)
	return list[:min(len(list), most)]
}

func processors() int { return runtime.GOMAXPROCS(0) }

// parallel calls f for 0 to n, by several workers at once, until the context ends. on says by
// which of them, so that each can have a buffer.
func parallel(ctx context.Context, workers, n int, f func(on, i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for on := range min(workers, n) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(on, i)
			}
		})
	}
	wg.Wait()
}

// query is a vector as whole numbers times a scale. The numbers are kept for [query.dot]: of each
// eight, the first with the fifth in one word, and so on, then those that are left.
type query struct {
	scale float32
	words []uint64
	rest  []int32
	sum   int32 // of the numbers in words
}

// quantiseQuery gives a vector as whole numbers as fine as sums of products with
// eight bits fit into 32. The scale is 0 when there is nothing to compare: zeros,
// or values that are no numbers.
func quantiseQuery(v []float32) query {
	most := float32(0)
	for _, x := range v {
		most = max(most, x, -x)
	}
	if most == 0 || most != most || math.IsInf(float64(most), 0) {
		return query{}
	}
	scale := float64(most) / float64(math.MaxInt32/(256*len(v)))
	values := make([]int32, len(v))
	for i, x := range v {
		values[i] = int32(math.RoundToEven(float64(x) / scale))
	}
	return newQuery(values, float32(scale))
}

func newQuery(values []int32, scale float32) query {
	q := query{scale: scale}
	for ; len(values) >= 8; values = values[8:] {
		for i := range 4 {
			q.words = append(q.words, uint64(values[i])<<32+uint64(values[i+4]))
			q.sum += values[i] + values[i+4]
		}
	}
	q.rest = values
	return q
}

// dot is the product with a row of as many int8. One multiplication of 64 bits makes two products:
// (a + b<<32) * (y + x<<32) has a*x + b*y in its upper half, where what overflows is lost, and
// a*y in the lower one. For that a and b must not be negative, so 128 is added to each number
// of the row, and 128 times the sum of the query taken away in the end.
func (q *query) dot(row []byte) int32 {
	const lanes, offset = 0x000000ff_000000ff, 0x80808080_80808080
	words := q.words
	var even, odd uint64
	for len(words) >= 4 && len(row) >= 8 {
		r := binary.LittleEndian.Uint64(row) ^ offset
		even += (r & lanes) * words[0]
		odd += (r >> 8 & lanes) * words[1]
		even += (r >> 16 & lanes) * words[2]
		odd += (r >> 24 & lanes) * words[3]
		words, row = words[4:], row[8:]
	}
	even += odd
	low := int64(int32(even))
	sum := int32((int64(even)-low)>>32) - 128*q.sum
	for i, v := range q.rest {
		sum += v * int32(int8(row[i]))
	}
	return sum
}

// Pairing asks which texts are near each other: each of the first texts is
// compared with all after it.
type Pairing struct {
	Encoder   string
	Texts     []Text // one without a vector is near nothing
	First     int
	MinCosine float64 // the cosine of a pair
	Limit     int     // the most pairs that one of the first is given, the nearest
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
	rows, scales := make([][]byte, len(q.Texts)), make([]float64, len(q.Texts))
	if err := x.read(func(f *opened) error {
		return f.find(q.Encoder, q.Texts, func(i int, b block, at int) { rows[i], scales[i] = b.row(at), float64(b.scale(at)) })
	}); err != nil {
		return nil, ctx.Err() // as if there were none
	}
	order := func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	}
	after := func(i int) (near []Pair) {
		if scales[i] == 0 || q.Limit < 1 {
			return nil
		}
		values := make([]int32, len(rows[i]))
		for j, v := range rows[i] {
			values[j] = int32(int8(v))
		}
		query := newQuery(values, 1)
		for j := i + 1; j < len(rows); j++ {
			if scales[j] == 0 {
				continue
			}
			p := Pair{i, j, float64(query.dot(rows[j])) * scales[i] * scales[j]}
			if p.Cosine < q.MinCosine || len(near) == q.Limit && p.Cosine <= near[q.Limit-1].Cosine || q.Allowed != nil && !q.Allowed(i, j) {
				continue
			}
			near = insert(near, p, q.Limit, order)
		}
		return near
	}
	found := make([][]Pair, min(q.First, len(rows)))
	parallel(ctx, processors(), len(found), func(_, i int) { found[i] = after(i) })
	all := slices.Concat(found...)
	slices.SortFunc(all, order)
	return all, ctx.Err()
}
