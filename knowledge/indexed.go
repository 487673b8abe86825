package knowledge

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/search"
	"leanctx/knowledge/state"
)

// indexed keeps the text index in step with the state. The index is derived
// and may be thrown away at any time; every version ever believed is in it,
// and what is superseded, archived or of another room is masked when it is
// asked, so that superseding a fact costs the index nothing.
type indexed struct {
	mu    sync.Mutex
	index *search.Index
	fed   state.Cursor
	apart bool // from the disk, which is not to be trusted

	few     int  // versions that are indexed before an answer
	lacking bool // too much for it to be waited for
	bound   bool // to memory: it cannot be written

	wanted chan struct{} // told that the index is missing; nil where nobody would make it
}

// open opens the index if it is not open. Called under the lock.
func (x *indexed) open(dir string) error {
	if x.index != nil {
		return nil
	}
	dir = filepath.Join(dir, "index")
	if x.apart {
		dir = ""
	}
	index, err := search.Open(dir, nil)
	if err != nil {
		return err
	}
	x.index, x.fed = index, state.Cursor{}
	return nil
}

// What is done about an index found damaged, one after another.
const (
	openAnew  = 1 + iota // another process may have replaced what is on disk
	throwAway            // what is on disk is thrown away
	goWithout            // it can not be thrown away: the index has nothing to do with it any more
)

// renew closes the index; it is opened again, and fed from the facts with what
// it lacks, when it is next needed.
func (x *indexed) renew(how int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.index != nil && how == throwAway {
		_ = x.index.Drop() // if that fails it is found damaged again
	}
	// It is not closed: another search may be on in it.
	x.index, x.fed, x.apart = nil, state.Cursor{}, how == goWithout
}

func (x *indexed) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.index == nil {
		return nil
	}
	err := x.index.Close()
	x.index, x.fed = nil, state.Cursor{}
	return err
}

// catchUp brings the index to the newest state and says how far that is. What
// it must add is collected under the read lock and added after it, so that no
// writer waits for an index.
func (s *Store) catchUp(ctx context.Context) (*search.Index, state.Cursor, error) {
	s.ix.mu.Lock()
	defer s.ix.mu.Unlock()
	_, err := s.feed(ctx)
	return s.ix.index, s.ix.fed, err
}

// feed is catchUp under the lock. It says what the index then holds, no more
// and no less.
func (s *Store) feed(ctx context.Context) (as search.Generation, err error) {
	x := &s.ix
	if err := x.open(s.dir); err != nil {
		return as, err
	}
	var docs []search.Doc
	var to state.Cursor
	err = s.View(ctx, func(st *state.State, now time.Time) error {
		if x.lacking = x.unindexed(st); x.lacking {
			return errUnindexed
		}
		docs = x.unfed(st)
		to = st.Cursor()
		as = search.Generation{At: st.At(), Epoch: st.Epoch()}
		return nil
	})
	if err == nil && len(docs) > 0 {
		err = x.index.Add(ctx, docs)
	}
	if err == nil {
		x.fed = to
	}
	return as, err
}

// unlessErased drops a generation just written if something was erased
// meanwhile, maybe by another process: it must not come back with it.
func (s *Store) unlessErased(ctx context.Context, index *search.Index, as search.Generation) error {
	return s.View(ctx, func(st *state.State, _ time.Time) error {
		if st.Epoch() != as.Epoch {
			return errors.Join(errMoved, index.Drop())
		}
		return nil
	})
}

// unfed lists what the index lacks of a state, each version once.
func (x *indexed) unfed(st *state.State) (docs []search.Doc) {
	if !x.fed.Of(st) {
		return x.missing(st)
	}
	names, lessons := st.ChangedSince(x.fed)
	for _, n := range names {
		docs = appendDocs(docs, st.Versions(n))
	}
	if lessons {
		docs = appendDocs(docs, st.Lessons())
	}
	return docs
}

// missing lists what the newest generation on disk does not hold.
func (x *indexed) missing(st *state.State) []search.Doc {
	at, epoch, ok := x.index.Since()
	if !ok || epoch != st.Epoch() {
		return documentsOf(st)
	}
	return documentsAfter(st, at)
}

// documentsOf is all that is indexed of a state.
func documentsOf(st *state.State) []search.Doc {
	docs := make([]search.Doc, 0, st.VersionCount())
	for _, vs := range st.All() {
		docs = appendDocs(docs, vs)
	}
	return appendDocs(docs, st.Lessons())
}

// documentsAfter is what commits after an instant may have changed.
func documentsAfter(st *state.State, at time.Time) []search.Doc {
	var docs []search.Doc
	for _, v := range st.Each() {
		if fact.Touched(v).After(at) {
			docs = append(docs, docOf(v))
		}
	}
	return appendDocs(docs, st.Lessons())
}

// IndexStatus tells what the index is, without opening it.
func (s *Store) IndexStatus() string {
	x := &s.ix
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.index == nil {
		return "not opened yet (made when first searched)"
	}
	at, _, ok := x.index.Since()
	if !ok {
		return fmt.Sprintf("in memory, %s", prose.Count(x.index.Pending(), "version"))
	}
	return fmt.Sprintf("on disk up to %s, %s in memory", at.Format(time.RFC3339), prose.Count(x.index.Pending(), "version"))
}

// drop takes the index off the disk: it may hold what was erased.
func (x *indexed) drop(dir string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.apart {
		x.index, x.apart = nil, false
	}
	if err := x.open(dir); err != nil {
		return err
	}
	err := errors.Join(x.index.Drop(), x.index.Close())
	x.index, x.fed = nil, state.Cursor{}
	return err
}

// appendDocs adds versions as the text index takes them.
func appendDocs(docs []search.Doc, vs []*fact.Version) []search.Doc {
	for _, v := range vs {
		docs = append(docs, docOf(v))
	}
	return docs
}

func docOf(v *fact.Version) search.Doc {
	return search.Doc{ID: v.ID, Category: v.Category, Key: v.Key, Value: v.Value, Aliases: v.Aliases}
}
