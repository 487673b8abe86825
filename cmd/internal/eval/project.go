package eval

import (
	"context"
	"errors"
	"hash/fnv"
	"os"
	"path/filepath"
	"sync"
	"time"

	"leanctx/knowledge"
	"leanctx/knowledge/meaning"
)

// project is a store in a directory of its own, for the time of a set.
type project struct {
	dir     string
	store   *knowledge.Store
	vectors meaning.Vectors
	meter   *meter
	bare    *bare
	pending int // remembers since the bare file was written to
}

// meter adds up what remembering took.
type meter struct {
	facts       int
	spent, bare time.Duration
}

// turn is how many remembers go before as many bare appends: few enough that
// both see the same machine, enough that neither finds the other's cache.
const turn = 64

// open makes an empty project. It is opened as a server opens it, so that what
// happens in the background there happens here.
func (b *bench) open(m *meter) (*project, error) {
	return b.openAs(m, &knowledge.Options{LongLived: true})
}

func (b *bench) openAs(m *meter, o *knowledge.Options) (*project, error) {
	dir, err := os.MkdirTemp(b.Temp, "lean-ctx-eval-")
	if err != nil {
		return nil, err
	}
	p := &project{dir: dir, meter: m}
	if b.Semantic != nil {
		with := *o
		with.Semantic, p.vectors = b.Semantic(filepath.Join(dir, "knowledge"))
		with.Vectors = chosen{p.vectors, b}
		o = &with
	}
	if p.store, err = knowledge.Open(filepath.Join(dir, "knowledge"), o); err == nil {
		p.bare, err = newBare(filepath.Join(dir, "bare"), filepath.Join(dir, "knowledge", "knowledge.journal"))
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// close ends the project and takes it off the disk.
func (p *project) close() error {
	var errs []error
	if p.store != nil {
		errs = append(errs, p.store.Close())
	}
	if p.bare != nil {
		errs = append(errs, p.bare.file.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(p.dir))...)
}

// remember asserts a fact and now and then lets the bare file catch up.
func (p *project) remember(ctx context.Context, a knowledge.Assertion) (knowledge.Remembered, error) {
	start := time.Now()
	r, err := p.store.Remember(ctx, a)
	if err != nil {
		return r, err
	}
	p.meter.spent += time.Since(start)
	p.meter.facts++
	if p.pending++; p.pending >= turn {
		err = p.settle()
	}
	return r, err
}

// rememberAll asserts facts from several goroutines. Those of one key stay in
// their order, because one goroutine has them all.
func (p *project) rememberAll(ctx context.Context, as []knowledge.Assertion, workers int) error {
	shares := make([][]knowledge.Assertion, workers)
	for _, a := range as {
		i := hash(name{a.Category, a.Key}) % uint64(workers)
		shares[i] = append(shares[i], a)
	}
	errs := make([]error, workers)
	var wg sync.WaitGroup
	start := time.Now()
	for i, share := range shares {
		wg.Go(func() {
			for _, a := range share {
				if _, errs[i] = p.store.Remember(ctx, a); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	p.meter.spent += time.Since(start)
	p.meter.facts += len(as)
	p.pending += len(as)
	if err := errors.Join(errs...); err != nil || p.pending < turn {
		return err
	}
	return p.settle()
}

// settle lets the bare file catch up with the journal.
func (p *project) settle() error {
	d, err := p.bare.match(p.pending)
	p.meter.bare += d
	p.pending = 0
	return err
}

func hash(n name) uint64 {
	h := fnv.New64a()
	h.Write([]byte(n.category))
	h.Write([]byte{0})
	h.Write([]byte(n.key))
	return h.Sum64()
}

// sampled reports whether a key belongs to the sample.
func (b *bench) sampled(n name) bool { return hash(n)%uint64(b.Sample) == 0 }

// bare is what a commit costs at least: an append and an fsync.
type bare struct {
	file    *os.File
	journal string
	before  int64  // the journal's size at the last turn
	line    []byte // as long as a commit was on average
}

func newBare(path, journal string) (*bare, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	return &bare{file: f, journal: journal}, err
}

// match appends and syncs n times what a commit wrote since the last turn, and
// says how long it took. A journal that was cut in between by a snapshot does
// not tell; then the size before holds on.
func (b *bare) match(n int) (time.Duration, error) {
	if n == 0 {
		return 0, nil
	}
	info, err := os.Stat(b.journal)
	if err != nil {
		return 0, err
	}
	if grown := info.Size() - b.before; grown > 0 {
		b.line = make([]byte, max(grown/int64(n), 1))
	}
	b.before = info.Size()
	start := time.Now()
	for range n {
		if _, err := b.file.Write(b.line); err != nil {
			return 0, err
		}
		if err := b.file.Sync(); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}
