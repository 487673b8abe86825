package vectors

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Query asks which texts are nearest in meaning.
type Query struct {
	Encoder string
	Vectors [][]float32 // of the question, or of its parts: the nearest part counts
	Limit   int
	Allowed func(id string) bool // nil: all
}

// Hit is a text and its cosine to the question, -1 to 1.
type Hit struct {
	ID     string
	Cosine float64
}

// Scan compares all vectors of an encoder with a question and returns the
// nearest, equal ones by id. The error is the context's, or says that the
// question is not of this encoder.
func (x *Index) Scan(ctx context.Context, q Query) ([]Hit, error) {
	m, file := x.open(q.Encoder)
	if file != nil {
		defer file.Close()
	}
	if m == nil || q.Limit < 1 {
		return nil, ctx.Err()
	}
	var queries []whole
	for _, v := range q.Vectors {
		if len(v) != m.dim {
			return nil, fmt.Errorf("query has %d values, the vectors of %s have %d", len(v), m.encoder, m.dim)
		}
		if w := wholeNumbers(v); w.scale > 0 {
			queries = append(queries, w)
		}
	}
	if len(queries) == 0 {
		return nil, ctx.Err()
	}
	cosines := make([]float32, m.n)
	inChunks(ctx, m.n, func(from, to int, buffer *[]byte) {
		rows := m.read(file, from, to, buffer)
		for i := from; i < to; i++ {
			best := float32(math.Inf(-1))
			if rows != nil {
				for _, w := range queries {
					best = max(best, float32(dot(w.values, rows[:m.dim]))*w.scale)
				}
				rows = rows[m.dim:]
			}
			cosines[i] = best * m.scale(i)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return m.nearest(q, cosines, file), nil
}

// open returns the vectors of an encoder, and the file if their numbers are
// there.
func (x *Index) open(encoder string) (*matrix, *os.File) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for range 3 {
		x.load()
		m := x.sets[encoder]
		if m == nil || m.rows != nil {
			return m, nil
		}
		file, err := os.Open(filepath.Join(x.dir, vectorFile))
		if err != nil {
			continue
		}
		if info, err := file.Stat(); err == nil && os.SameFile(info, x.stamp) && info.Size() == x.stamp.Size() {
			return m, file
		}
		_ = file.Close() // it was replaced meanwhile
	}
	return nil, nil
}

// read returns rows, from memory or from the file into the buffer. Nil says that
// they are not to be had.
func (m *matrix) read(file *os.File, from, to int, buffer *[]byte) []byte {
	if m.rows != nil {
		return m.rows[from*m.dim : to*m.dim]
	}
	*buffer = slices.Grow((*buffer)[:0], (to-from)*m.dim)[:(to-from)*m.dim]
	if _, err := file.ReadAt(*buffer, m.offset+int64(from)*int64(m.dim)); err != nil {
		return nil
	}
	return *buffer
}

// inChunks calls f for parts of 0 to n, on all processors, until the context
// ends. Each goroutine has a buffer of its own.
func inChunks(ctx context.Context, n int, f func(from, to int, buffer *[]byte)) {
	const chunk = 1024
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+chunk-1)/chunk) {
		wg.Go(func() {
			var buffer []byte
			for ctx.Err() == nil {
				to := int(next.Add(chunk))
				if to-chunk >= n {
					return
				}
				f(to-chunk, min(to, n), &buffer)
			}
		})
	}
	wg.Wait()
}

// nearest picks the hits. A vector's id and checksum are looked at only when it
// would be among them.
func (m *matrix) nearest(q Query, cosines []float32, file *os.File) (hits []Hit) {
	var buffer []byte
	for i, cosine := range cosines {
		full := len(hits) == q.Limit
		if m.scale(i) == 0 || cosine < -2 || full && float64(cosine) <= hits[len(hits)-1].Cosine {
			continue // equal ones come by id already
		}
		h := Hit{string(m.id(i)), float64(cosine)}
		if q.Allowed != nil && !q.Allowed(h.ID) || !m.sound(i, m.read(file, i, i+1, &buffer)) {
			continue
		}
		if full {
			hits = hits[:len(hits)-1]
		}
		at, _ := slices.BinarySearchFunc(hits, h, func(a, b Hit) int {
			return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), strings.Compare(a.ID, b.ID))
		})
		hits = slices.Insert(hits, at, h)
	}
	return hits
}

// whole is a vector as whole numbers times a scale.
type whole struct {
	values []int32
	scale  float32
}

// wholeNumbers gives a vector as whole numbers as fine as sums of products with
// int8 fit into 32 bits. The scale is 0 when there is nothing to compare: zeros,
// or values that are no numbers.
func wholeNumbers(v []float32) whole {
	most := float32(0)
	for _, x := range v {
		most = max(most, x, -x)
	}
	out := whole{values: make([]int32, len(v))}
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
// comparisons of 256 values take some 150 ms of one processor.
func (x *Index) Pairs(ctx context.Context, q Pairing) ([]Pair, error) {
	x.mu.Lock()
	x.loadWhole()
	m := x.sets[q.Encoder]
	x.mu.Unlock()
	rows, scales := make([][]byte, len(q.Texts)), make([]float64, len(q.Texts))
	for i, t := range q.Texts {
		if at, ok := m.find(t); ok {
			rows[i], scales[i] = m.row(at), float64(m.scale(at))
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
			full := len(near) == q.Limit
			if p.Cosine < q.Least || full && p.Cosine <= near[len(near)-1].Cosine || q.Allowed != nil && !q.Allowed(i, j) {
				continue
			}
			if full {
				near = near[:len(near)-1]
			}
			at, _ := slices.BinarySearchFunc(near, p, order)
			near = slices.Insert(near, at, p)
		}
		return near
	}
	var mu sync.Mutex
	var all []Pair
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= min(q.First, len(rows)) {
					return
				}
				near := after(i)
				mu.Lock()
				all = append(all, near...)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.SortFunc(all, order)
	return all, ctx.Err()
}
