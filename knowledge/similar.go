package knowledge

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/ledger"
	"leanctx/knowledge/search"
)

// Advice about likely duplicates under other names costs a remember nothing:
// it is looked for beside the commit, in whatever index is open already, and
// what is not found when the disk has synced is left to health. To wait for it
// was rejected, since a busy machine would make every remember pay. The look is
// bounded by what it reads, so that it mostly is over by then.
//
// It takes some of a processor all the same, and more when the index is cold, which a stream of remembers on a machine of
// two pays for: 1.1 to 2 times what it costs without an index. So after each look there is a rest: of a hundred times
// what the look took in a stream, where one fact in twenty has a look and the others pay nothing, but of no more than a
// second unless looks would take over a twentieth of the time. Who remembers a fact now and then always has one. A rest of
// twenty times was rejected: every fourth fact of a stream paid for one, which was 1.1 times in the middle. To look after the
// answer and tell with the next one was rejected: the advice would stand under another fact, and a command has no next.
const (
	similarFloor = 0.75 // share of the value's words, weighed, that another fact has
	similarMost  = 3
	restLeast    = 20  // times what a look took
	restMost     = 100 // times it, within restLong
	restLong     = time.Second
)

// resting is how long no look follows one that took so long.
func resting(took time.Duration) time.Duration {
	return max(restLeast*took, min(restMost*took, restLong))
}

// glance is a look under way.
type glance chan *search.Alike

// glance begins to look for facts like a value, unless it is time to rest.
func (s *Store) glance(value string) glance {
	if time.Since(s.began) < time.Duration(s.rest.Load()) {
		return nil
	}
	return s.look(value)
}

// look begins to look for facts like a value.
func (s *Store) look(value string) glance {
	if !s.ix.mu.TryLock() {
		return nil
	}
	index := s.ix.index
	s.ix.mu.Unlock()
	if index == nil || len(value) > similarValue {
		return nil
	}
	g := make(glance, 1)
	s.rest.Store(math.MaxInt64) // one at a time
	go func() {
		start := time.Now()
		a, err := index.Alike(value, similarFloor)
		if err != nil { // an index that fails has nothing to advise
			a = nil
		}
		s.rest.Store(int64(time.Since(s.began) + resting(time.Since(start))))
		g <- a
	}()
	return g
}

// similarValue is the length in bytes over which a value is not looked up:
// taking it apart would outlast the sync.
const similarValue = 2 << 10

// similar names the facts found that are current and not settled with the one
// just remembered.
func (s *Store) similar(ctx context.Context, g glance, r Remembered) []Similar {
	if g == nil || r.Outcome == Confirmed {
		return nil
	}
	select {
	case near := <-g:
		return s.alike(ctx, near, r)
	default:
		return nil
	}
}

func (s *Store) alike(ctx context.Context, near *search.Alike, r Remembered) []Similar {
	if near == nil || len(near.IDs) == 0 {
		return nil
	}
	var out []Similar
	_ = s.log.Peek(ctx, func(st *ledger.State, _ journal.Head) error { // no view, no advice
		this := fact.IDOf(r.Category, r.Key)
		for _, version := range near.IDs {
			v := st.ByID(version)
			if v == nil || v.ArchivedAt != nil || len(out) == similarMost {
				continue
			}
			other := fact.IDOf(v.Category, v.Key)
			now := fact.CurrentAt(st.Versions(other), r.RecordedAt)
			if other == this || now == nil || now.ID != version || settled(st, this, other) {
				continue
			}
			if share := near.Covers(ledger.Doc(v)); share >= similarFloor {
				out = append(out, Similar{v.Category, v.Key, v.Value, share})
			}
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b Similar) int { return cmp.Compare(b.Relevance, a.Relevance) })
	return out
}
