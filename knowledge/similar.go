package knowledge

import (
	"cmp"
	"context"
	"slices"

	"leanctx/internal/journal"
	"leanctx/knowledge/search"
)

// Advice about likely duplicates under other names costs a remember nothing:
// it is looked for beside the commit, in whatever index is open already, and
// what is not found when the disk has synced is left to health. To wait for it
// was rejected, since a busy machine would make every remember pay. The look is
// bounded by what it reads, so that it mostly is over by then.
const (
	similarFloor = 0.75 // share of the value's words, weighed, that another fact has
	similarMost  = 3
)

// glance is a look under way.
type glance chan *search.Alike

// glance begins to look for facts like a value.
func (s *Store) glance(value string) glance {
	if !s.ix.mu.TryLock() {
		return nil
	}
	index := s.ix.index
	s.ix.mu.Unlock()
	if index == nil || len(value) > similarValue {
		return nil
	}
	g := make(glance, 1)
	go func() {
		a, err := index.Alike(value, similarFloor)
		if err != nil { // an index that fails has nothing to advise
			a = nil
		}
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
	_ = s.log.View(ctx, func(st *state, _ journal.Head) error { // no view, no advice
		this := newID(r.Category, r.Key)
		for _, version := range near.IDs {
			v := st.byID(version)
			if v == nil || v.ArchivedAt != nil || len(out) == similarMost {
				continue
			}
			other := newID(v.Category, v.Key)
			now := currentAt(st.versions(other), r.RecordedAt)
			if other == this || now == nil || now.ID != version || st.settled(this, other) {
				continue
			}
			if share := near.Covers(doc(v)); share >= similarFloor {
				out = append(out, Similar{v.Category, v.Key, v.Value, share})
			}
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b Similar) int { return cmp.Compare(b.Relevance, a.Relevance) })
	return out
}
