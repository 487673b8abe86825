package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Options of an Index; nil and zero work.
type Options struct {
	Logger *slog.Logger // told what was found damaged; default: nobody

	// Fault, for tests, is asked before each mkdir, create, link and rename of a Sync, and before a file written is summed;
	// an error is what becomes of it.
	Fault func(op, name string) error
}

// Index finds facts by their words. Its methods may be called by several goroutines at once.
type Index struct {
	dir    string
	logger *slog.Logger
	fault  func(op, name string) error

	mu      sync.RWMutex
	stored  *overlay // the generation; nil where there is none
	batches []*batch // what came after it in large numbers
	memory  *memory  // and what came since
	removed map[string]bool
	syncing bool
	scratch sync.Pool // of searches in the generation
}

// ErrDamaged says that what was read from the index on disk is not what was written. Open and Sync pass by
// generations that are; should one turn out so during a search, the caller makes the index anew, from "".
var ErrDamaged = errors.New("the index on disk is damaged")

// damage makes an ErrDamaged of what went wrong with a file.
func damage(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

var errID = errors.New("an id is not empty and holds no zero byte")

// Open opens the index in dir, "" for one in memory alone. It reads the newest good generation there is and
// builds none: a generation that is damaged, of a newer build or of another mapping is as if absent, so is a
// directory that cannot be read. Nothing is created.
func Open(dir string, o *Options) (*Index, error) {
	x := &Index{dir: dir, logger: slog.New(slog.DiscardHandler), memory: newMemory(), removed: map[string]bool{}}
	if o != nil {
		x.fault = o.Fault
		if o.Logger != nil {
			x.logger = o.Logger
		}
	}
	if dir == "" {
		return x, nil
	}
	g, problems := openNewest(dir)
	for _, p := range problems {
		x.logger.Debug("index generation passed by", "error", p)
	}
	if g != nil {
		x.stored = newOverlay(g)
	}
	return x, nil
}

// Since returns the recorded time and the epoch that the generation read from disk is complete to. ok is
// false where there is none: everything is to be added.
func (x *Index) Since() (at time.Time, epoch string, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.stored == nil {
		return time.Time{}, "", false
	}
	return x.stored.header.At, x.stored.header.Epoch, true
}

// Pending is how many facts are in memory only: those a Sync would write.
func (x *Index) Pending() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n := len(x.memory.slots) + len(x.removed)
	for _, b := range x.batches {
		n += b.lengths.Docs
	}
	return n
}

// Add takes facts in. One of the same ID is replaced. On an error some of them may have been taken.
func (x *Index) Add(ctx context.Context, docs []Doc) error {
	ids := make([]string, len(docs))
	for i := range docs {
		ids[i] = docs[i].ID
		if ids[i] == "" || strings.ContainsRune(ids[i], 0) {
			return fmt.Errorf("fact %q: %w", ids[i], errID)
		}
	}
	var batches []*batch
	if len(docs) >= manyDocs {
		var err error
		if batches, err = newBatches(ctx, unique(docs)); err != nil {
			return err
		}
		docs = nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.mask(ids); err != nil {
		return err
	}
	if batches != nil {
		x.addMany(batches, ids)
	}
	for i := range docs {
		if err := ctx.Err(); err != nil {
			return err
		}
		d := docs[i]
		x.memory.add(&d)
		delete(x.removed, d.ID)
	}
	x.tidy()
	return nil
}

// manyDocs is from how many facts on they are made batches.
const manyDocs = 1000

// addMany takes facts in that are masked wherever else they were but in memory.
func (x *Index) addMany(batches []*batch, ids []string) {
	for _, id := range ids {
		x.memory.remove(id)
		delete(x.removed, id)
	}
	x.batches = append(x.batches, batches...)
}

// Remove takes facts out. An unknown id is none.
func (x *Index) Remove(ids []string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.mask(ids); err != nil {
		return err
	}
	for _, id := range ids {
		x.memory.remove(id)
		if x.syncing || x.stored != nil && x.stored.has(id) { // a Sync under way may be writing it
			x.removed[id] = true
		}
	}
	x.tidy()
	return nil
}

// mask hides what the generation and the batches have of the ids.
func (x *Index) mask(ids []string) (err error) {
	if len(ids) == 0 {
		return nil
	}
	for _, b := range x.batches {
		if err := b.hide(ids); err != nil {
			return err
		}
	}
	if x.stored == nil {
		return nil
	}
	defer guard(&err)
	o, err := x.stored.mask(ids)
	if err != nil {
		return damage(err)
	}
	x.stored = o
	return nil
}

// tidy makes the memory anew when most of it is dead, but for during a Sync, which counts on its numbers.
func (x *Index) tidy() {
	if !x.syncing {
		x.memory = x.memory.renew()
	}
}

// guard turns a panic of the library over a segment into ErrDamaged: an index is a cache and must not take
// the program down.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", ErrDamaged, p)
	}
}

// View calls use with what a search reads, which is good until it returns. A panic over a file, and whatever use says
// that is no end of a context, is [ErrDamaged].
func (x *Index) View(use func([]Source) error) (err error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	defer guard(&err)
	return damage(use(x.sources()))
}

func (x *Index) sources() []Source {
	var out []Source
	if x.stored != nil {
		out = append(out, x.stored.reader(&x.scratch))
	}
	for _, b := range x.batches {
		out = append(out, b)
	}
	return append(out, x.memory)
}
