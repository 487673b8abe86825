package vectors

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
)

// Query asks for the vectors nearest to one.
type Query struct {
	Encoder string    // whose vectors, by name; it made Vector too
	Vector  []float32 // of length 1
	Limit   int       // how many hits, 1 or more
	// Allowed says whether a vector may be a hit, nil that each may. It is
	// asked only of those that are near enough, by one goroutine, and must not
	// call the Index.
	Allowed func(k Key) bool
}

// Hit is a vector found.
type Hit struct {
	Key
	Cosine float64 // -1 to 1, but for the rounding of the stored vector
}

// Scan gives the hits of a query, the nearest first and equal ones by ID. It is
// exact: every vector is looked at, on all cores, which takes some ten
// milliseconds for 100,000, so that no other index is needed below half a
// million. One that answers approximately can take its place: it must give the
// same order to what it finds.
//
// A vector of zeros, of a text without meaning to its encoder, is near nothing:
// as a query it has no hits, and it is none. Without vectors of the encoder there
// are no hits either. The error is the context's, or says that the query has not
// as many values as its encoder's vectors.
func (x *Index) Scan(ctx context.Context, q Query) ([]Hit, error) {
	x.mu.Lock()
	file := x.open(q.Encoder)
	x.mu.Unlock()
	if file != nil {
		defer file.Close()
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.sets[q.Encoder]
	if s == nil || s.n == 0 || q.Limit < 1 {
		return nil, ctx.Err()
	}
	if len(q.Vector) != s.dim {
		return nil, fmt.Errorf("query has %d values, the vectors of %s have %d", len(q.Vector), q.Encoder, s.dim)
	}
	whole, scale := wholeNumbers(q.Vector)
	if scale == 0 {
		return nil, ctx.Err()
	}
	w := &scoring{s: s, file: file, query: whole, scale: scale, scores: make([]float32, s.n)}
	w.share(ctx, runtime.GOMAXPROCS(0))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return w.best(q), nil
}

// wholeNumbers gives a vector as whole numbers times a scale, as fine as sums of
// products with int8 fit into 32 bits. The scale is 0 when there is nothing to
// compare: zeros, or values that are no numbers.
func wholeNumbers(v []float32) ([]int32, float64) {
	most := float32(0)
	for _, x := range v {
		most = max(most, x, -x)
	}
	whole := make([]int32, len(v))
	if most == 0 || most != most || math.IsInf(float64(most), 0) {
		return whole, 0
	}
	scale := float64(most) / float64(math.MaxInt32/(128*len(v)))
	for i, x := range v {
		whole[i] = int32(math.RoundToEven(float64(x) / scale))
	}
	return whole, scale
}

// chunk is how many vectors are scored between two looks at the context.
const chunk = 1024

// scoreRange scores the vectors from number on to the end of scores.
func (s *shelf) scoreRange(file *os.File, query []int32, scores []float32, number int, buffer *[]byte) {
	for number < len(scores) {
		b, i := s.at(number)
		end := min(b.n, i+len(scores)-number)
		rows := b.values(file, i, end, buffer)
		for ; i < end; i++ {
			if rows == nil {
				scores[number] = float32(math.NaN())
			} else {
				scores[number] = float32(dot(query, rows[:b.dim])) * b.scale(i)
				rows = rows[b.dim:]
			}
			number++
		}
	}
}

// dot is the product of whole numbers; row has as many int8 as query has
// values. The sums cannot overflow: see wholeNumbers.
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

// best picks the hits out of the scores. A vector is looked up, asked for and
// compared with its checksum only when it would be among them.
func (w *scoring) best(q Query) []Hit {
	worst := &hits{}
	s := w.s
	var buffer []byte
	for number, score := range w.scores {
		cosine := float64(score) * w.scale
		full := len(*worst) == q.Limit
		if cosine != cosine || full && cosine < (*worst)[0].Cosine || s.isDead(number) {
			continue
		}
		b, i := s.at(number)
		if b.scale(i) == 0 {
			continue
		}
		h := Hit{Key: b.key(i), Cosine: cosine}
		if full && !nearer(h, (*worst)[0]) || q.Allowed != nil && !q.Allowed(h.Key) {
			continue
		}
		if row := b.values(w.file, i, i+1, &buffer); row == nil || !b.sound(i, row) {
			continue
		}
		if full {
			(*worst)[0] = h
			heap.Fix(worst, 0)
		} else {
			heap.Push(worst, h)
		}
	}
	slices.SortFunc(*worst, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), strings.Compare(a.ID, b.ID))
	})
	return *worst
}

func nearer(a, b Hit) bool { return a.Cosine > b.Cosine || a.Cosine == b.Cosine && a.ID < b.ID }

// hits is a heap with the hit that would go first on top.
type hits []Hit

func (h hits) Len() int           { return len(h) }
func (h hits) Less(i, j int) bool { return nearer(h[j], h[i]) }
func (h hits) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *hits) Push(x any)        { *h = append(*h, x.(Hit)) }
func (h *hits) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
