package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"sync/atomic"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/table"
)

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
func (m machine) OpenSnapshot(f io.ReaderAt, size int64, h journal.Header) (*State, bool) {
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

func (p *partials) open(f io.ReaderAt, size int64, h journal.Header) (*State, error) {
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
