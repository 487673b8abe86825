package knowledge

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime/debug"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/ledger"
)

// One import is one commit, up to importEach facts: others see all of it or nothing. A commit is held in memory several
// times (as facts, as events, as a line, as the state it makes), 9 GB of a file of a million, so a larger one is several
// commits, each a store as good as any. What is wrong with the file is known before the first of them. An
// import that ends in the middle is repeated: what is there is skipped or said again, and the outcome is that of one that
// ran through. A commit written line by line was rejected: recovery would have to know of half commits.
const importEach = 50_000

// roomEach is how long the journal grows in bytes, in a large import, before the snapshot takes it up and what was imported
// leaves the memory; longer where the snapshot is large, so that all the snapshots written are three times the last.
const roomEach = 128 << 20

// sparingPercent is how much garbage, in percent of what lives, there may be in the memory during a large import. It
// costs a twentieth more time than the usual 100, and saves half a gigabyte at a million facts.
const (
	sparingPercent = 50
	usualPercent   = 100
)

// sparing has the collector run earlier until done is called. It is the whole process's, so who finds it set that
// low, by a user or another import, leaves it alone. A rest that a command has given the collector is over after it:
// the memory is full of what was imported.
func sparing() (done func()) {
	before := debug.SetGCPercent(sparingPercent)
	if before <= sparingPercent {
		debug.SetGCPercent(before)
		return func() {}
	}
	return func() { debug.SetGCPercent(min(before, usualPercent)) }
}

// batches divides a file: the names, of each all it says, in the order of the file. What is beside facts comes with the
// last, a tombstone with what came under its name later.
func batches(p formats.Parsed, most int) []formats.Parsed {
	seed := maphash.MakeSeed()
	batchOf := map[uint64]int{}
	place := func(category, key string) int {
		h := maphash.Comparable(seed, fact.IDOf(category, key))
		n, ok := batchOf[h]
		if !ok {
			n = len(batchOf) / most
			batchOf[h] = n
		}
		return n
	}
	out := []formats.Parsed{{Kind: p.Kind}}
	at := func(n int) *formats.Parsed {
		for len(out) <= n {
			out = append(out, formats.Parsed{Kind: p.Kind})
		}
		return &out[n]
	}
	for i, r := range p.Records {
		b := at(place(r.Category, r.Key))
		b.Records, b.Lines = append(b.Records, r), append(b.Lines, p.Lines[i])
	}
	if d := p.Document; d != nil {
		for _, v := range d.Facts {
			b := at(place(v.Category, v.Key))
			if b.Document == nil {
				b.Document = &formats.Document{Schema: d.Schema}
			}
			b.Document.Facts = append(b.Document.Facts, v)
		}
		if len(out) > 1 {
			last := out[len(out)-1].Document
			rest := *d
			rest.Facts, rest.Tombstones = last.Facts, nil
			*last = rest
			for _, t := range d.Tombstones {
				b := out[min(place(t.Category, t.Key), len(out)-1)].Document
				b.Tombstones = append(b.Tombstones, t)
			}
		}
	}
	if len(out) == 1 {
		return []formats.Parsed{p}
	}
	return out
}

// commitAll imports a file, batch by batch.
func (m *merger) commitAll(ctx context.Context, parsed formats.Parsed) error {
	each := importEach
	if m.store.opts.importEach > 0 {
		each = m.store.opts.importEach
	}
	all := countOf(parsed)
	parts := batches(parsed, each)
	for i := range parts {
		m.before = m.r
		err := m.commit(ctx, parts[i])
		if err != nil && ctx.Err() != nil && !errors.Is(err, journal.ErrInDoubt) {
			return &InterruptedError{In: m.before.Parsed, Of: all, cause: err}
		}
		if err != nil && i > 0 {
			return fmt.Errorf("%s of the file are in and stay, import it again for the rest: %w", prose.Count(m.before.Parsed, "fact"), err)
		}
		if err != nil {
			return err
		}
		parts[i] = formats.Parsed{}
		if i+1 < len(parts) && !m.in.DryRun {
			m.store.makeRoom(ctx)
		}
	}
	return nil
}

// countOf is how many facts a file has, as [Imported] counts them.
func countOf(p formats.Parsed) int {
	n := len(p.Records)
	if p.Document != nil {
		names := map[fact.ID]bool{}
		for _, v := range p.Document.Facts {
			names[fact.IDOf(v.Category, v.Key)] = true
		}
		n += len(names)
	}
	return n
}

// InterruptedError is an import that was told to end before its last commit.
type InterruptedError struct {
	In, Of int // facts, counted as [Imported] counts them
	cause  error
}

func (e *InterruptedError) Error() string {
	if e.In == 0 {
		return "interrupted: nothing was imported"
	}
	return fmt.Sprintf("interrupted: %s of %s are in and stay; import again to go on", prose.Number(e.In), prose.Count(e.Of, "fact"))
}

// Unwrap returns what ended it, the context's error.
func (e *InterruptedError) Unwrap() error { return e.cause }

func (m *merger) commit(ctx context.Context, p formats.Parsed) error {
	if m.in.DryRun {
		return m.store.view(ctx, func(st *ledger.State, at moment) error { _, err := m.decide(ctx, st, p, at.now); return err })
	}
	err := m.store.update(ctx, func(st *ledger.State, now time.Time) ([]ledger.Event, error) { return m.decide(ctx, st, p, now) })
	m.over, m.events, m.st = nil, nil, nil
	return err
}

// makeRoom has what was imported so far leave the memory, now and then.
func (s *Store) makeRoom(ctx context.Context) {
	at := s.log.Stats()
	if at.JournalBytes <= max(roomEach, at.SnapshotBytes/2) {
		return
	}
	if err := s.log.Unload(ctx); err != nil { // it takes more memory, and that is all
		s.opts.Logger.Debug("an import goes on in memory", "error", err)
	}
}
