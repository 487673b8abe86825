package knowledge

import (
	"context"
	"time"

	"leanctx/knowledge/meaning"
	"leanctx/knowledge/state"
)

// complete reports whether a slow encoder has a vector of all that holds. All
// facts are looked at where no mark says it, once for each commit and by a server
// once at all: from then on its background work does.
func (s *Store) complete(ctx context.Context, e meaning.Encoding) (bool, error) {
	few, none := false, false
	err := s.View(ctx, func(st *state.State, now time.Time) error {
		k, _, ok := s.mark(st, e)
		n := s.entries(e.Name)
		none = n == 0 || k.Lacking && k.Entries == n && k.Epoch == st.Epoch() && k.At.Equal(st.At())
		if ok {
			few = len(s.unlearned(st, now, e)) <= spotMost
		}
		return nil
	})
	if err != nil || none || !few && s.opts.LongLived && s.looked.Swap(true) {
		return false, err
	}
	n, err := s.backlog(ctx, e)
	return n == 0, err
}

// unmade is what may lack a vector of an encoder.
type unmade struct {
	texts  []meaning.Meant
	to     meaning.Learnt // what is complete once they have one
	fed    state.Cursor
	marked bool // all else has
}

// unmade collects it; ordered: what matters most comes first.
func (s *Store) unmade(ctx context.Context, e meaning.Encoding, ordered bool) (u unmade, err error) {
	err = s.View(ctx, func(st *state.State, now time.Time) error {
		_, _, u.marked = s.mark(st, e)
		u.texts = s.unlearned(st, now, e)
		u.to, u.fed = meaning.Learnt{At: st.At(), Epoch: st.Epoch()}, st.Cursor()
		if ordered && len(u.texts) > 1 {
			s.mattersFirst(st, now, u.texts)
		}
		return nil
	})
	return u, err
}

// remark notes how far an encoder came.
func (s *Store) remark(e meaning.Encoding, u unmade) {
	if u.to.Entries = s.entries(e.Name); u.to.Entries == 0 {
		return
	}
	if err := s.marks.Set(e.Name, u.to, u.fed); err != nil {
		s.opts.Logger.Debug("the vectors' mark was not written", "error", err)
	}
}

// backlog counts what has no vector of an encoder, by the vectors that there are.
// Where no mark told it leaves one, so that the next look costs nothing.
func (s *Store) backlog(ctx context.Context, e meaning.Encoding) (int, error) {
	u, err := s.unmade(ctx, e, false)
	if err != nil {
		return 0, err
	}
	n := 0
	if len(u.texts) > 0 {
		n = s.opts.Semantic.Lacking(e.Name, u.texts)
	}
	if n == 0 || !u.marked {
		u.to.Lacking = n > 0
		s.remark(e, u)
	}
	return n, nil
}
