package knowledge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/table"
)

// A command that asks for one fact should not parse a hundred thousand. So a
// state may be partial: of the snapshot it has the key table, and reads the
// facts it is asked for; facts that commits touched since are in memory as in
// any other state. It gives the same answers as a whole one.
//
// A question about very many facts reads them in passing and keeps none, and so
// is a new snapshot written: a server of 100,000 facts would else need several
// times the memory, for good or for a moment.
//
// When what was read is not what the table says, that leaves an error in the
// state. [Store.view] and [Store.commit] see it when they are through, throw
// away what came of it and begin anew on a whole state, which knows how to deal
// with damage.

func damagedFact(at int64) error { return fmt.Errorf("the fact at %d is damaged", at) }

// base is the part of a partial state that is still on disk.
type base struct {
	keys    *table.Table
	file    io.ReaderAt
	settled time.Time // after it no version has an earlier period
	changed []bool    // by fact: a commit since the snapshot has touched it

	mu    sync.Mutex // views run side by side
	facts map[int][]*fact.Version
	err   error // why the state's answers are worth nothing
}

// fetch reads the versions of a fact.
func (b *base) fetch(row int) []*fact.Version {
	b.mu.Lock()
	defer b.mu.Unlock()
	if vs, ok := b.facts[row]; ok || b.err != nil {
		return vs
	}
	vs, err := b.read(row)
	if err != nil {
		b.err = err
	}
	if len(b.facts) >= factsKept {
		clear(b.facts)
	}
	b.facts[row] = vs
	return vs
}

// factsKept is how many facts that were read are kept at most.
const factsKept = 4096

// clone is for a state that is no longer folded into.
func (b *base) clone() *base {
	if b == nil {
		return nil
	}
	return &base{keys: b.keys, file: b.file, settled: b.settled, changed: slices.Clone(b.changed), facts: map[int][]*fact.Version{}}
}

func (b *base) read(row int) ([]*fact.Version, error) {
	at, size, sum := b.keys.Place(row)
	text := make([]byte, size)
	if _, err := b.file.ReadAt(text, at); err != nil {
		return nil, err
	}
	if table.Sum(text) != sum {
		return nil, damagedFact(at)
	}
	return formats.DecodeFacts(text)
}

func (b *base) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
}

// failed tells why what was read of s is not to be used; nil when it is.
func (s *state) failed() error {
	if s.base == nil {
		return nil
	}
	if err := s.base.keys.Err(); err != nil {
		return err
	}
	s.base.mu.Lock()
	defer s.base.mu.Unlock()
	return s.base.err
}

// partialError says that a partial state could not give an answer.
type partialError struct{ reason error }

func (e *partialError) Error() string { return "partial state: " + e.reason.Error() }

// partly is err, unless it comes from a state that failed.
func partly(s *state, err error) error {
	if reason := s.failed(); reason != nil {
		return &partialError{reason}
	}
	return err
}

func (b *base) find(n fact.ID) (row int, ok bool) { return b.keys.Find(n.Category, n.Key) }

func (b *base) name(row int) fact.ID {
	category, key := b.keys.Name(row)
	return fact.ID{Category: category, Key: key}
}

// versions reads a fact by its name.
func (b *base) versions(n fact.ID) []*fact.Version {
	row, ok := b.find(n)
	if !ok {
		return nil
	}
	return b.fetch(row)
}

// unchanged yields the facts that no commit since the snapshot has touched.
func (s *state) unchanged() iter.Seq2[int, fact.ID] {
	return func(yield func(int, fact.ID) bool) {
		for row := range s.base.keys.Facts() {
			if !s.base.changed[row] && !yield(row, s.base.name(row)) {
				return
			}
		}
	}
}

// partials is what the stores of one directory know about reading in parts.
type partials struct {
	dir     string
	from    int64                          // the size of the smallest snapshot with a table
	whole   atomic.Bool                    // no partial states: what one was read from is damaged
	again   atomic.Int32                   // how many do again on a whole state what a partial one was not enough for
	refused atomic.Bool                    // there is no table for the snapshot, though one would help
	on      atomic.Pointer[table.Snapshot] // that the state was last read from in parts; nil when it was read whole
	made    atomic.Pointer[built]          // the table of what is read from, where there was none
	tried   atomic.Pointer[table.Snapshot] // that a long-lived store was to be read from
}

// schema is that of the fact file, which the snapshot is.
const schema = formats.Schema

// tableName is the key table's name within the directory of the index.
const tableName = "keys"

// tableFrom is the size in bytes of the smallest snapshot with a key table; a
// smaller one is read whole in no time.
const tableFrom = 1 << 20

func (p *partials) path() string { return filepath.Join(p.dir, "index", tableName) }

func snapshotOf(h journal.Header, size int64) table.Snapshot {
	return table.Snapshot{Seq: h.Seq, Generation: h.Generation, Size: size, Checksum: h.Checksum}
}

// OpenSnapshot makes a partial state, if there is a key table for the snapshot.
func (m machine) OpenSnapshot(f io.ReaderAt, size int64, h journal.Header) (*state, bool) {
	p := m.partials
	if p == nil {
		return nil, false
	}
	p.on.Store(nil)
	if p.whole.Load() || p.again.Load() > 0 || size < p.from {
		return nil, false
	}
	s, err := p.open(f, size, h)
	p.refused.Store(err != nil)
	if err == nil {
		p.on.Store(new(snapshotOf(h, size)))
	}
	return s, err == nil
}

func (p *partials) open(f io.ReaderAt, size int64, h journal.Header) (*state, error) {
	keys, err := table.Open(p.path(), snapshotOf(h, size))
	if err != nil {
		keys, err = p.make(f, size)
	}
	if err != nil {
		return nil, err
	}
	d, err := readRest(f, size, keys)
	if err != nil {
		return nil, err
	}
	s := fromDocument(d)
	maps.Insert(s.rooms, keys.Rooms())
	s.base = &base{keys: keys, file: f, settled: keys.Settled(), changed: make([]bool, keys.Facts()), facts: map[int][]*fact.Version{}}
	return s, nil
}

// make makes the table that is missing, at a third of what it costs to read the snapshot whole. It is written after
// the answer.
func (p *partials) make(f io.ReaderAt, size int64) (keys *table.Table, err error) {
	t := &built{}
	err = journal.ReadChecked(f, size, func(r io.Reader, size int64, h journal.Header) (err error) {
		t.of = snapshotOf(h, size)
		t.data, err = table.Build(context.Background(), r, t.of)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.made.Store(t)
	return table.New(t.data, t.of)
}

// built is a table that is not written yet.
type built struct {
	of   table.Snapshot
	data []byte
}

// readRest reads what the snapshot holds beside its facts.
func readRest(f io.ReaderAt, size int64, keys *table.Table) (*formats.Document, error) {
	from, to, sum := keys.Rest()
	if from > to || to > size {
		return nil, fmt.Errorf("facts from %d to %d in a snapshot of %d bytes", from, to, size)
	}
	text := make([]byte, from+size-to)
	if _, err := f.ReadAt(text[:from], 0); err != nil {
		return nil, err
	}
	if n, err := f.ReadAt(text[from:], to); n < int(size-to) {
		return nil, err
	}
	if table.Sum(text) != sum {
		return nil, errors.New("what stands around the facts is damaged")
	}
	return formats.DecodeNative(text)
}

var _ journal.Partial[*state] = machine{}
