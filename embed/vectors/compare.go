package vectors

import (
	"context"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// scoring is a query on its way through all vectors of an encoder.
type scoring struct {
	s      *shelf
	file   *os.File // of the values that are not in memory
	query  []int32
	scale  float64
	scores []float32 // of each vector the product with the query, to be multiplied with scale
	next   atomic.Int64
}

// work takes part in a scoring until nothing is left to be taken or ctx ends.
func (w *scoring) work(ctx context.Context) {
	var buffer []byte
	for ctx.Err() == nil {
		to := int(w.next.Add(chunk))
		if to-chunk >= w.s.n {
			return
		}
		w.s.scoreRange(w.file, w.query, w.scores[:min(to, w.s.n)], to-chunk, &buffer)
	}
}

// share does the work on so many processors, this goroutine's included.
func (w *scoring) share(ctx context.Context, workers int) {
	var wg sync.WaitGroup
	for range min(workers, (w.s.n+chunk-1)/chunk) - 1 {
		wg.Go(func() { w.work(ctx) })
	}
	w.work(ctx)
	wg.Wait()
}

// Comparison is a scan that was begun before its answer is needed. It is to be
// closed, and not used by several goroutines at once.
type Comparison struct {
	x     *Index
	query Query
	stop  context.CancelFunc
	begun chan struct{} // closed when work is known
	done  chan struct{} // closed when all of it is done but what Scan does itself
	of    *shelf        // that work is about, as it was then
	work  *scoring      // nil: nothing to compare
}

// Compare begins to compare a vector with all of its encoder's, beside what the
// caller does meanwhile: a processor is left to him. See [Comparison.Scan].
func (x *Index) Compare(ctx context.Context, encoder string, vector []float32) *Comparison {
	ctx, stop := context.WithCancel(ctx)
	c := &Comparison{x: x, query: Query{Encoder: encoder, Vector: vector}, stop: stop, begun: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.begin()
		close(c.begun)
		if c.work != nil {
			c.work.share(ctx, max(1, runtime.GOMAXPROCS(0)-1))
		}
	}()
	return c
}

// begin reads what is new. The work is on a copy of the shelf, to which vectors
// may be added meanwhile.
func (c *Comparison) begin() {
	x := c.x
	x.mu.Lock()
	defer x.mu.Unlock()
	file := x.open(c.query.Encoder)
	s := x.sets[c.query.Encoder]
	if s != nil && len(c.query.Vector) == s.dim {
		if whole, scale := wholeNumbers(c.query.Vector); scale != 0 {
			c.of = s
			c.work = &scoring{s: new(*s), file: file, query: whole, scale: scale, scores: make([]float32, s.n)}
			return
		}
	}
	if file != nil {
		_ = file.Close()
	}
}

// Scan gives what [Index.Scan] would give now, in less time. Where the vectors
// changed meanwhile all is compared anew.
func (c *Comparison) Scan(ctx context.Context, limit int, allowed func(Key) bool) ([]Hit, error) {
	q := c.query
	q.Limit, q.Allowed = limit, allowed
	<-c.begun
	if c.work != nil && limit > 0 {
		c.work.work(ctx)
	}
	<-c.done
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x := c.x
	x.mu.Lock()
	x.refresh()
	x.mu.Unlock()
	x.mu.RLock()
	if c.work != nil && limit > 0 && int(c.work.next.Load()) >= c.work.s.n && x.sets[q.Encoder] == c.of && c.of.n == c.work.s.n {
		defer x.mu.RUnlock()
		return c.work.best(q), nil
	}
	x.mu.RUnlock()
	return x.Scan(ctx, q)
}

// Close ends the work, if it is still going on.
func (c *Comparison) Close() {
	c.stop()
	<-c.done
	if c.work != nil && c.work.file != nil {
		_ = c.work.file.Close()
		c.work.file = nil
	}
}
