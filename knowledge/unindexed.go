package knowledge

import (
	"context"
	"errors"
	"strings"
	"time"

	"leanctx/knowledge/fact"
	"leanctx/knowledge/search"
	"leanctx/knowledge/state"
)

// Nobody waits for an index. Where there is none, questions are answered from the facts' text itself, close to what
// the index would answer (see [search.Unindexed]), and the index is made afterwards, a slice at a time: a server does it in
// the background, a command for a moment after its answer, and the next command goes on.

// fewUnindexed is how many versions an index is made of in memory, before the answer, 40 µs each.
const fewUnindexed = 2000

// errUnindexed says that too many versions are in no index.
var errUnindexed = errors.New("there is no index yet")

// unindexed reports whether so much is missing from the index that it is not waited for.
func (x *indexed) unindexed(st *state.State) bool {
	if x.apart || x.bound || x.fed.Of(st) {
		return false
	}
	_, epoch, ok := x.index.Since()
	return (!ok || epoch != st.Epoch()) && st.VersionCount() >= x.few
}

// rankedUnindexed is one try without an index.
func (s *Store) rankedUnindexed(ctx context.Context, a asked) (r Recalled, err error) {
	err = s.View(ctx, func(st *state.State, now time.Time) error {
		a.st, a.now = st, now
		r, err = s.rankedIn(ctx, unindexedOf(st), a)
		return err
	})
	s.wake()
	return r, err
}

// unindexed is the facts to be searched as they are.
func unindexedOf(st *state.State) *search.Unindexed {
	lessons := st.Lessons()
	return &search.Unindexed{
		Docs: func(yield func(*search.Doc) bool) {
			for _, v := range st.Each() {
				if d := docOf(v); !yield(&d) {
					return
				}
			}
			for _, v := range lessons {
				if d := docOf(v); !yield(&d) {
					return
				}
			}
		},
		Doc: func(version string) (search.Doc, bool) {
			if v := st.ByID(version); v != nil {
				return docOf(v), true
			}
			for _, v := range lessons {
				if v.ID == version {
					return docOf(v), true
				}
			}
			return search.Doc{}, false
		},
	}
}

// grow makes the index that is missing, as far as ctx lets it. It tells whether the index is there.
func (s *Store) grow(ctx context.Context) (done bool, err error) {
	s.ix.mu.Lock()
	err = s.ix.open(s.dir)
	index := s.ix.index
	s.ix.mu.Unlock()
	if err != nil {
		return false, err
	}
	var last search.Generation
	done, err = index.Grow(ctx, func(after string, most int) (search.Slice, error) {
		slice, err := s.slice(context.WithoutCancel(ctx), after, most)
		last = slice.Generation
		return slice, err
	})
	if err != nil || !done || last.Epoch == "" {
		return done, err
	}
	return done, s.unlessErased(ctx, index, last)
}

// slice is the facts after a place, some more than most so that all versions of one come together; the lessons are last.
func (s *Store) slice(ctx context.Context, after string, most int) (slice search.Slice, err error) {
	err = s.View(ctx, func(st *state.State, now time.Time) error {
		slice = search.Slice{Generation: search.Generation{At: st.At(), Epoch: st.Epoch()}, Done: true}
		for n, vs := range st.Sorted() {
			if n.Compare(nameAt(after)) <= 0 {
				continue
			}
			if len(slice.Docs) >= most {
				slice.Done = false
				return nil
			}
			slice.Docs = appendDocs(slice.Docs, vs)
			slice.Last = placeOf(n)
		}
		slice.Docs = appendDocs(slice.Docs, st.Lessons())
		slice.Last = strings.Repeat("\xff", 8)
		return nil
	})
	return slice, err
}

// wake has a server make the index now.
func (s *Store) wake() {
	select {
	case s.ix.wanted <- struct{}{}:
	default: // it knows, or there is none
	}
}

// placeOf is a name as a place in the order of the facts; "" is before all.
func placeOf(n fact.ID) string { return n.Category + "\x00" + n.Key }

func nameAt(place string) fact.ID {
	category, key, _ := strings.Cut(place, "\x00")
	return fact.ID{Category: category, Key: key}
}
