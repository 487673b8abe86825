package knowledge

import (
	"context"
	"slices"
	"time"

	"leanctx/internal/journal"
	"leanctx/knowledge/search"
)

// Advice about likely duplicates under other names costs a remember nothing:
// it is looked for while the disk syncs, in whatever index is open already,
// and what is not found by then is left to health.
const (
	similarTime  = 5 * time.Millisecond
	similarFloor = 0.75 // share of the value's words, weighed, that another fact has
	similarMost  = 3
	similarHits  = 20 // to choose from: most may be superseded, or the fact itself
)

// glance is a search under way.
type glance struct {
	hits chan []search.Hit
	stop context.CancelFunc
}

// glance begins the search for facts like a value.
func (s *Store) glance(ctx context.Context, value string) *glance {
	if !s.ix.mu.TryLock() {
		return nil
	}
	index := s.ix.index
	s.ix.mu.Unlock()
	if index == nil || len(value) > similarValue {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, similarTime)
	g := &glance{hits: make(chan []search.Hit, 1), stop: stop}
	go func() {
		hits, _, err := index.Search(ctx, search.Query{Text: value, Limit: similarHits, Exact: true}, nil)
		if err == nil { // an index that fails has nothing to advise
			g.hits <- hits
		}
	}()
	return g
}

// similarValue is the length in bytes over which a value is not looked up: the
// search would outlast the sync.
const similarValue = 2 << 10

// similar names the facts found so far that are current and not settled with
// the one just remembered.
func (s *Store) similar(ctx context.Context, g *glance, r Remembered) []Similar {
	if g == nil {
		return nil
	}
	defer g.stop()
	if r.Outcome == Confirmed {
		return nil
	}
	var hits []search.Hit
	select {
	case hits = <-g.hits:
	default:
	}
	hits = slices.DeleteFunc(hits, func(h search.Hit) bool { return h.Relevance < similarFloor })
	if len(hits) == 0 {
		return nil
	}
	var out []Similar
	_ = s.log.View(ctx, func(st *state, _ journal.Head) error { // no view, no advice
		this := newID(r.Category, r.Key)
		for _, h := range hits {
			v := st.byID(h.ID)
			if v == nil || v.ArchivedAt != nil || len(out) == similarMost {
				continue
			}
			if other := newID(v.Category, v.Key); other != this && currentAt(st.versions(other), r.RecordedAt) == v && !st.settled(this, other) {
				out = append(out, Similar{v.Category, v.Key, v.Value, h.Relevance})
			}
		}
		return nil
	})
	return out
}
