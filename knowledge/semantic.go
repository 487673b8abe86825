package knowledge

import (
	"context"

	"leanctx/knowledge/fact"
	"leanctx/knowledge/meaning"
)

// bearing is a question as an encoder has it.
type bearing struct {
	meaning.Encoding
	vector []float32
	names  []string // that what is near should hold; none where the caller asked for meaning
	scan   bool     // look at all facts, not only at those that words found
	asked  bool     // the caller asked for meaning: the floor is lower
	alone  bool     // words have no part in it

	ahead meaning.Ahead // the look at all facts, begun; nil: not yet
}

// searchBy answers a question with words and meaning. Words come first: what
// they find is only put into order by meaning, with vectors made on the spot,
// which costs a command half a millisecond and no file. When words find nothing
// or only weak hits, all vectors are looked at, with the best encoder whose
// vectors are complete. Where meaning is asked for that look begins at once, and
// words are looked for beside it. Either way words are looked for once.
func (s *Store) searchBy(ctx context.Context, q Question, archive bool) (Recalled, error) {
	a := asked{Question: q, archive: archive, words: &worded{}}
	wanted := q.Mode == modeSemantic || q.Mode == modeHybrid
	var ahead meaning.Ahead
	if !wanted {
		a.by = s.quick(ctx, q)
		hits, err := s.rankedBy(ctx, a)
		if err != nil || a.by == nil || !hits.weak() {
			return hits, err
		}
	} else if e := s.opts.Vectors.Encoders(true); len(e) > 0 && e[0].Instant {
		if by := s.encoded(ctx, q, e[0]); by != nil {
			ahead = s.opts.Semantic.Ahead(ctx, by.Name, by.vector)
			defer ahead.Close()
		}
	}
	if q.Mode == modeHybrid {
		if hits, err := s.rankedBy(ctx, a); err != nil {
			return hits, err
		}
	}
	by, err := s.bearing(ctx, q, wanted)
	if err != nil {
		return Recalled{}, err
	}
	if a.by = by; by != nil && by.Instant {
		by.ahead = ahead
	}
	return s.rankedBy(ctx, a)
}

// quick is the bearing of the instant encoder, nil where there is none.
func (s *Store) quick(ctx context.Context, q Question) *bearing {
	all := s.opts.Vectors.Encoders(false)
	if len(all) == 0 {
		return nil
	}
	return s.encoded(ctx, q, all[len(all)-1])
}

// encoded encodes a question; nil where that cannot be done: then words decide.
func (s *Store) encoded(ctx context.Context, q Question, e meaning.Encoding) *bearing {
	v, err := s.opts.Semantic.Encode(ctx, e.Name, meaning.Asked(q.Query))
	if err != nil {
		s.opts.Logger.Debug("a question has no vector", "encoder", e.Name, "error", err)
	}
	if len(v) == 0 {
		return nil
	}
	return &bearing{Encoding: e, vector: v}
}

// bearing is that of the best encoder whose vectors can be used now; nil where
// none can be. Where meaning is wanted what is missing is made first. Else the
// table has no part in the names of a question: it puts all Johns near each
// other.
func (s *Store) bearing(ctx context.Context, q Question, wanted bool) (*bearing, error) {
	var names []string
	rest := q.Query
	if !wanted {
		names, rest = meaning.Unnamed(q.Query)
	}
	for _, e := range s.opts.Vectors.Encoders(true) {
		if !e.Instant && !wanted && !s.opts.LongLived {
			continue // it takes longer than all else that a command does
		}
		var by *bearing
		if e.Instant { // the vectors need not be read where the question has none
			q.Query = rest
			if by = s.encoded(ctx, q, e); by == nil {
				continue
			}
		}
		ready, err := s.ready(ctx, e, wanted)
		if err != nil {
			return nil, err
		}
		if !ready {
			continue
		}
		if by == nil {
			by = s.encoded(ctx, q, e)
		}
		if by != nil {
			by.scan, by.asked, by.alone, by.names = true, wanted, q.Mode == modeSemantic, names
			return by, nil
		}
	}
	return nil, nil
}

// compare finds the cosines of what words found, and what they did not find.
func (s *Store) compare(ctx context.Context, a asked, facts []Found, keep func(string) bool) (map[string]float64, []meaning.Near, error) {
	by, cosines := a.by, map[string]float64{}
	among := make([]meaning.Meant, 0, min(len(facts), meaning.FusedMost))
	for _, x := range facts[:min(len(facts), meaning.FusedMost)] {
		among = append(among, meaning.Of(x.Version))
	}
	if len(among) > 0 {
		list, err := s.opts.Semantic.Near(ctx, by.Name, meaning.Nearby{Vector: by.vector, Limit: len(among), Among: among})
		if err != nil {
			return nil, nil, err
		}
		for _, n := range list {
			cosines[n.ID] = n.Cosine
		}
	}
	if !by.scan {
		return cosines, nil, nil
	}
	tail := s.unlearned(a.st, a.now, by.Encoding)
	near, err := s.opts.Semantic.Near(ctx, by.Name, meaning.Nearby{Vector: by.vector, Limit: a.Limit + 10, Allowed: keep, Tail: tail, Ahead: by.ahead})
	return cosines, near, err
}

// takes reports whether a near fact may be told: one that holds a name of the
// question, or is so near that it need not.
func (b *bearing) takes(v *fact.Version, cosine, least float64) bool {
	return len(b.names) == 0 || cosine >= least+meaning.OtherNames || meaning.HoldsOne(v.Category+" "+meaning.Of(v).Text, b.names)
}
