package knowledge

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/search"
)

// indexed keeps the text index in step with the state. The index is derived
// and may be thrown away at any time; every version ever believed is in it,
// and what is superseded, archived or of another room is masked when it is
// asked, so that superseding a fact costs the index nothing.
type indexed struct {
	mu    sync.Mutex
	index *search.Index
	fed   fedTo
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
	x.index, x.fed = index, fedTo{}
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
	x.index, x.fed, x.apart = nil, fedTo{}, how == goWithout
}

func (x *indexed) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.index == nil {
		return nil
	}
	err := x.index.Close()
	x.index, x.fed = nil, fedTo{}
	return err
}

// fedTo says how far a state the index was fed.
type fedTo struct {
	of    *state // another one is to be fed from the beginning
	seen  int    // how much of its changed list
	epoch uint64
}

func (s *state) reach() fedTo { return fedTo{s, len(s.changed), s.epoch} }

// catchUp brings the index to the newest state and says how far that is. What
// it must add is collected under the read lock and added after it, so that no
// writer waits for an index.
func (s *Store) catchUp(ctx context.Context) (*search.Index, fedTo, error) {
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
	var to fedTo
	err = s.view(ctx, func(st *state, m moment) error {
		if x.lacking = x.unindexed(st); x.lacking {
			return errUnindexed
		}
		docs = x.unfed(st)
		to = st.reach()
		as = search.Generation{At: m.head.At, Epoch: st.indexEpoch()}
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
	return s.view(ctx, func(st *state, _ moment) error {
		if st.indexEpoch() != as.Epoch {
			return errors.Join(errMoved, index.Drop())
		}
		return nil
	})
}

// unfed lists what the index lacks of a state, each version once.
func (x *indexed) unfed(st *state) (docs []search.Doc) {
	if x.fed.of != st || x.fed.epoch != st.epoch {
		return x.missing(st)
	}
	fed := map[fact.ID]bool{}
	for _, n := range st.changed[x.fed.seen:] {
		if fed[n] {
			continue
		}
		fed[n] = true
		if n == lessonsChanged {
			docs = appendDocs(docs, st.lessons())
		}
		docs = appendDocs(docs, st.versions(n))
	}
	return docs
}

// missing lists what the newest generation on disk does not hold.
func (x *indexed) missing(st *state) []search.Doc {
	at, epoch, ok := x.index.Since()
	if !ok || epoch != st.indexEpoch() {
		return st.documents()
	}
	return st.documentsAfter(at)
}

// indexEpoch names the set of facts that older recorded times cannot join: an
// import brings recorded times of its own, an erasure takes facts out.
func (s *state) indexEpoch() string {
	erased := int64(0)
	for _, t := range s.tombstones {
		erased = max(erased, t.ErasedAt.UnixNano())
	}
	return strconv.FormatInt(s.lastImport().UnixNano(), 36) + "-" + strconv.FormatInt(erased, 36)
}

// lastTouched is no earlier than the commit that last changed the text the
// index holds of v: its making, or an assertion that added an alias.
func lastTouched(v *fact.Version) time.Time {
	t := v.RecordedFrom
	if v.LastConfirmed.After(t) {
		t = v.LastConfirmed
	}
	return t
}

func (s *state) documents() []search.Doc {
	docs := make([]search.Doc, 0, s.versionCount())
	for _, of := range s.texted(fact.ID{}) {
		docs = append(docs, of...)
	}
	return appendDocs(docs, s.lessons())
}

// documentsAfter is what commits after an instant may have changed.
func (s *state) documentsAfter(at time.Time) []search.Doc {
	var docs []search.Doc
	for _, vs := range s.all {
		for _, v := range vs {
			if lastTouched(v).After(at) {
				docs = append(docs, doc(v))
			}
		}
	}
	if s.base != nil {
		for i := range s.base.keys.TouchedAfter(at) {
			if s.base.changed[s.base.keys.FactOf(i)] {
				continue
			}
			if v := s.onDisk(i); v != nil {
				docs = append(docs, doc(v))
			}
		}
	}
	return appendDocs(docs, s.lessons())
}

// describe tells what the index is, without opening it.
func (x *indexed) describe() string {
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
	x.index, x.fed = nil, fedTo{}
	return err
}
