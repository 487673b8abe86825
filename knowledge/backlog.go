package knowledge

import (
	"context"
	"errors"
	"time"

	"leanctx/knowledge/ledger"
	"leanctx/knowledge/meaning"
)

// complete reports whether a slow encoder has a vector of all that holds. All
// facts are looked at where no mark says it, once for each commit and by a server
// once at all: from then on its background work does.
func (s *Store) complete(ctx context.Context, e meaning.Encoding) (bool, error) {
	few, none := false, false
	err := s.view(ctx, func(st *ledger.State, m moment) error {
		k, _, ok := s.mark(st, e)
		n := s.entries(e.Name)
		none = n == 0 || k.Lacking && k.Entries == n && k.Epoch == st.Epoch() && k.At.Equal(m.head.At)
		if ok {
			tail, err := s.unlearned(st, m, e)
			few = len(tail) <= spotMost
			return err
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
	fed    ledger.Reach
	marked bool // all else has
}

// unmade collects it; ordered: what matters most comes first.
func (s *Store) unmade(ctx context.Context, e meaning.Encoding, ordered bool) (u unmade, err error) {
	err = s.view(ctx, func(st *ledger.State, m moment) (err error) {
		_, _, u.marked = s.mark(st, e)
		if u.texts, err = s.unlearned(st, m, e); errors.Is(err, errUnmarked) {
			u.texts, err = meant(st, time.Time{}, m.now), nil
		}
		u.to, u.fed = meaning.Learnt{At: m.head.At, Epoch: st.Epoch()}, st.Reach()
		if ordered && len(u.texts) > 1 {
			s.mattersFirst(st, m, u.texts)
		}
		return err
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
