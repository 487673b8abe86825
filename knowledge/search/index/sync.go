package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"leanctx/knowledge/search/blocks"
	"leanctx/knowledge/search/segment"
)

// Generation says what a generation holds: every fact recorded up to At, in an epoch of the store. A store
// whose past was rewritten (an erasure, a damaged file replaced) begins a new epoch.
type Generation struct {
	At    time.Time
	Epoch string
}

const (
	lockName   = "index.lock"
	tempPrefix = "tmp-"
)

// Sync writes what is in memory as the next generation and reads from that from then on: the newest
// generation's segments, shared with it, and one of what came after; or one of all docs, where there is no
// generation of this epoch; nil docs say that what is in memory is all there is. to is what the index has been brought up to by Add and Remove, and docs are all
// its facts. Of several processes one does it; the others, which find index.lock taken, return at once and
// without an error. Searches, Add and Remove go on meanwhile. Nothing is to be done again after an error:
// the index answers as before.
func (x *Index) Sync(ctx context.Context, to Generation, docs iter.Seq[Doc]) error {
	t := x.Begin(to)
	if t == nil {
		return nil
	}
	return t.Sync(ctx, docs)
}

// Sync is [Index.Sync] of the tail.
func (t *Tail) Sync(ctx context.Context, docs iter.Seq[Doc]) (err error) {
	x, to := t.index, t.to
	defer x.end()
	defer guard(&err)
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return err
	}
	unlock, held, err := lock(filepath.Join(x.dir, lockName))
	if err != nil || !held {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	base, _ := openNewest(x.dir)
	if base != nil && base.header.Epoch != to.Epoch {
		base = nil
	}
	if base != nil && !base.header.At.Before(to.At) {
		return x.fewer(ctx, base, t)
	}
	if docs == nil {
		base = nil // the tail has all that it has
	}
	// The tail goes on a generation that is no older than the one it came after: others want all facts.
	if base != nil && (t.epoch != to.Epoch || base.header.At.Before(t.since)) {
		base = nil
	}
	g, err := x.write(ctx, base, t, docs)
	if base != nil && lost(err) {
		x.logger.Debug("index generation made anew", "error", err)
		g, err = x.write(ctx, nil, t, docs)
	}
	if err != nil {
		return err
	}
	err = x.adopt(g, t) // before the one that is read from now on goes
	x.sweep(g.number)
	return err
}

// fewer takes over a generation that holds the tail, with its segments merged where that is worth it and ctx has the time.
func (x *Index) fewer(ctx context.Context, base *generation, t *Tail) error {
	if !base.scattered(ctx) {
		return x.adopt(base, t)
	}
	g, err := x.rewrite(ctx, base)
	if err != nil || g == nil {
		return errors.Join(err, x.adopt(base, t))
	}
	err = x.adopt(g, t)
	x.sweep(g.number)
	return err
}

// rewrite makes a generation of another and nothing else, nil where ctx had no time for it.
func (x *Index) rewrite(ctx context.Context, base *generation) (*generation, error) {
	b, err := x.builder(header{Mapping: mappingVersion, At: base.header.At, Epoch: base.header.Epoch})
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(b.dir)
	if err := b.keep(base, new(Tail)); err != nil {
		return nil, err
	}
	if merged, err := b.merge(ctx); !merged || err != nil {
		return nil, err
	}
	if err := b.finish(); err != nil {
		return nil, err
	}
	return x.place(b)
}

// lost reports whether an error says that the generation built upon is not what was written.
func lost(err error) bool {
	for _, why := range []error{ErrDamaged, blocks.ErrDamaged, segment.ErrDamaged, fs.ErrNotExist} {
		if errors.Is(err, why) {
			return true
		}
	}
	return false
}

// Tail is what was in memory when a Sync began.
type Tail struct {
	index   *Index
	to      Generation
	slots   int // of the memory
	docs    []*Doc
	batches []*batch // with what was hidden of them then
	removed []string
	since   time.Time // of the generation it came after
	epoch   string
}

// Begin takes what a [Tail.Sync] is to write, which the caller runs in any case. to is exactly what the index has
// been brought up to: were it later, what came between would be missing for ever; were it earlier, what another
// process has written up to there would be taken for more than it is. So Begin belongs under the lock that
// orders the caller's Adds. It is nil where there is no directory, and where a Sync of this index is under way.
func (x *Index) Begin(to Generation) *Tail {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.syncing || x.dir == "" {
		return nil
	}
	x.syncing = true
	t := &Tail{index: x, to: to, slots: len(x.memory.entries), removed: sortedIDs(x.removed)}
	for i := range x.memory.entries {
		if e := &x.memory.entries[i]; !e.dead {
			t.docs = append(t.docs, e.doc)
		}
	}
	for _, b := range x.batches {
		b := *b
		b.dead = b.dead.Clone()
		t.batches = append(t.batches, &b)
	}
	if x.stored != nil {
		t.since, t.epoch = x.stored.header.At, x.stored.header.Epoch
	}
	return t
}

func (x *Index) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.syncing = false
	x.tidy()
}

// adopt makes g the generation that is read and forgets the tail that it holds. What was added or removed
// since the tail was taken stays in memory.
func (x *Index) adopt(g *generation, t *Tail) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	o, memory := newOverlay(g), newMemory()
	hide := sortedIDs(x.removed)
	for i := t.slots; i < len(x.memory.entries); i++ {
		if e := &x.memory.entries[i]; !e.dead {
			memory.add(e.doc)
			hide = append(hide, e.ID)
		}
	}
	batches := x.batches[min(len(t.batches), len(x.batches)):]
	for _, b := range batches {
		hide = append(hide, b.ids()...)
	}
	o, err := o.mask(hide)
	if err != nil {
		return err
	}
	for _, id := range t.removed {
		if !g.has(id) {
			delete(x.removed, id)
		}
	}
	x.stored, x.batches, x.memory = o, batches, memory
	return nil
}

// has reports whether a generation holds an id.
func (g *generation) has(id string) bool {
	for _, s := range g.segments {
		if found, err := s.numbersOf([]string{id}); err != nil || !found.IsEmpty() {
			return true
		}
	}
	return false
}

// write makes the next generation under a name of its own and renames it into place, whole.
func (x *Index) write(ctx context.Context, base *generation, t *Tail, docs iter.Seq[Doc]) (*generation, error) {
	b, err := x.builder(header{Mapping: mappingVersion, At: t.to.At, Epoch: t.to.Epoch})
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(b.dir)
	if base != nil || docs == nil {
		err = b.extend(ctx, base, t)
	} else {
		err = b.build(ctx, docs)
	}
	if err != nil {
		return nil, fmt.Errorf("write an index generation: %w", err)
	}
	return x.place(b)
}

// builder begins a generation, under a name of its own until [Index.place]. Who has it removes its directory at the end.
func (x *Index) builder(h header) (*builder, error) {
	if err := x.fails("mkdir", x.dir); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp(x.dir, tempPrefix)
	if err != nil {
		return nil, err
	}
	return &builder{dir: temp, fails: x.fails, header: h}, nil
}

// place writes a generation's header and renames its directory into place.
func (x *Index) place(b *builder) (*generation, error) {
	if err := x.fails("create", headerName); err != nil {
		return nil, err
	}
	if err := writeHeader(b.dir, b.header); err != nil {
		return nil, err
	}
	_, greatest, err := generations(x.dir)
	if err != nil {
		return nil, err
	}
	if err := x.fails("rename", b.dir); err != nil {
		return nil, err
	}
	if err := os.Rename(b.dir, filepath.Join(x.dir, generationName(greatest+1))); err != nil {
		return nil, err
	}
	return openGeneration(x.dir, greatest+1)
}

// fails is the error of a file operation that a test has fail.
func (x *Index) fails(op, name string) error {
	if x.fault == nil {
		return nil
	}
	return x.fault(op, name)
}

// Close frees what the index holds. It is not used after.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stored, x.batches, x.memory, x.removed = nil, nil, newMemory(), map[string]bool{}
	return nil
}
