package knowledge

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"leanctx/knowledge/search"
	"leanctx/knowledge/state"
)

// SyncIndex moves what the index holds only in memory into a generation on
// disk, and merges what there is there, if it is worth it and no other process
// is at it. It ends soon after ctx does, and what it had no time for is left to
// the next time. It is for after an answer, never before one.
func (s *Store) SyncIndex(ctx context.Context) error { return s.write(ctx, syncTail) }

// write makes a generation of what the index holds only in memory, if it is at
// least so many versions, or of too many segments.
func (s *Store) write(ctx context.Context, least int) error {
	index, tail, as, whole, err := s.pending(ctx, least)
	if errors.Is(err, errUnindexed) {
		if _, err := s.grow(ctx); !errors.Is(err, errMoved) {
			return err
		}
		return nil // it is begun anew when it is next asked for
	}
	if err != nil || tail == nil {
		return err
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	docs := s.everything(ctx, giveUp)
	if whole {
		docs = nil
	}
	if err := tail.Sync(ctx, docs); err != nil {
		return err
	}
	if err := s.unlessErased(ctx, index, as); !errors.Is(err, errMoved) {
		return err
	}
	return nil
}

// pending brings the index up to date and takes what it holds only in memory,
// both under one lock: a commit between the two would be left out of what says
// that it holds it. tail is nil where they are fewer and there is nothing to
// merge; whole: there is nothing else.
func (s *Store) pending(ctx context.Context, least int) (index *search.Index, tail *search.Tail, as search.Generation, whole bool, err error) {
	s.ix.mu.Lock()
	defer s.ix.mu.Unlock()
	as, err = s.feed(ctx)
	index = s.ix.index
	if err == nil && (index.Pending() >= least || index.Scattered(ctx)) {
		tail = index.Begin(as)
		_, _, stored := index.Since()
		whole = !stored
	}
	return index, tail, as, whole, err
}

// everything is what a generation is made of that comes after none. After
// another one it is not looked at, and then need not be read from the disk.
// When the facts cannot be had, give up is called and the one document yielded
// is nothing to be written: half an index would hide facts.
func (s *Store) everything(ctx context.Context, giveUp context.CancelCauseFunc) iter.Seq[search.Doc] {
	return func(yield func(search.Doc) bool) {
		var docs []search.Doc
		err := s.View(ctx, func(st *state.State, _ time.Time) error {
			docs = documentsOf(st)
			return nil
		})
		if err != nil {
			giveUp(err)
			docs = make([]search.Doc, 1)
		}
		slices.Values(docs)(yield)
	}
}

// syncTail is how many versions may be only in memory before a generation is
// worth writing: a cold command would index them before each answer, at 35 µs
// each.
const syncTail = 64
