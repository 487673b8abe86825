package ledger

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"time"

	"leanctx/formats"
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
// state. [Log.View] and [Log.Update] see it when they are through, throw away
// what came of it and begin anew on a whole state, which knows how to deal with
// damage.

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

// Partial reports whether there are facts that are still on disk.
func (s *State) Partial() bool { return s.base != nil }

// failed tells why what was read of s is not to be used; nil when it is.
func (s *State) failed() error {
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
func partly(s *State, err error) error {
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
func (s *State) unchanged() iter.Seq2[int, fact.ID] {
	return func(yield func(int, fact.ID) bool) {
		for row := range s.base.keys.Facts() {
			if !s.base.changed[row] && !yield(row, s.base.name(row)) {
				return
			}
		}
	}
}
