package knowledge

import (
	"context"
	"errors"
	"slices"
	"time"

	"leanctx/knowledge/fact"
	"leanctx/knowledge/meaning"
	"leanctx/knowledge/state"
)

// unlearned lists what may lack a vector of an encoder, as far as the state can
// tell without reading all facts.
func (s *Store) unlearned(st *state.State, now time.Time, e meaning.Encoding) []meaning.Meant {
	k, fed, ok := s.mark(st, e)
	if !ok {
		return meant(st, time.Time{}, now)
	}
	if fed.Of(st) {
		return meantSince(st, fed, now)
	}
	return meant(st, k.At, now)
}

// mark is that of an encoder; ok: it tells about this state.
func (s *Store) mark(st *state.State, e meaning.Encoding) (k meaning.Learnt, fed state.Cursor, ok bool) {
	k, fed, ok = s.marks.Of(e.Name)
	return k, fed, ok && !k.Lacking && k.Epoch == st.Epoch() && s.entries(e.Name) >= k.Entries
}

// entries counts the vectors that there are of an encoder.
func (s *Store) entries(encoder string) int {
	for _, x := range s.opts.Vectors.Report().Entries {
		if x.Encoder == encoder {
			return x.Entries
		}
	}
	return 0
}

// meant lists what holds, or will, and was touched after an instant; all of it
// after the zero one.
func meant(st *state.State, after, now time.Time) (out []meaning.Meant) {
	add := func(v *fact.Version) {
		if lasts(v, now) && fact.Touched(v).After(after) {
			out = append(out, meaning.Of(v))
		}
	}
	for _, v := range st.Each() {
		add(v)
	}
	for _, v := range st.Lessons() {
		add(v)
	}
	return out
}

// meantSince lists what holds of the facts changed since the vectors were brought
// so far.
func meantSince(st *state.State, fed state.Cursor, now time.Time) (out []meaning.Meant) {
	add := func(vs []*fact.Version) {
		for _, v := range vs {
			if lasts(v, now) {
				out = append(out, meaning.Of(v))
			}
		}
	}
	names, lessons := st.ChangedSince(fed)
	for _, n := range names {
		add(st.Versions(n))
	}
	if lessons {
		add(st.Lessons())
	}
	return out
}

// lasts reports whether v is valid now or will be: what is over needs no vector.
func lasts(v *fact.Version, now time.Time) bool {
	return fact.Believed(v) && (v.ValidUntil == nil || v.ValidUntil.After(now))
}

// How many texts may be encoded before an answer: none of them is kept, all are
// kept, and more than that is left for after the answer.
const (
	spotMost    = 64
	learnMost   = 1024 // by a command: some 15 ms
	learnServer = 8192 // by a server, which does it once
)

// ready makes the vectors of an encoder usable for a question and reports
// whether they are. Where meaning is wanted it takes the time that it takes;
// else what is much is left for after the answer.
func (s *Store) ready(ctx context.Context, e meaning.Encoding, wanted bool) (bool, error) {
	if !e.Instant {
		return s.complete(ctx, e)
	}
	n := 0
	err := s.View(ctx, func(st *state.State, now time.Time) error {
		n = len(s.unlearned(st, now, e))
		return nil
	})
	if err != nil {
		return false, err
	}
	most := learnMost
	if s.opts.LongLived {
		most = learnServer
	}
	switch {
	case n <= spotMost:
		return true, nil
	case wanted, n <= most:
		if _, err := s.learn(ctx, e, nil); err != nil {
			if ctx.Err() != nil {
				return false, err
			}
			s.opts.Logger.Debug("vectors were not made", "encoder", e.Name, "error", err)
		}
		return true, nil
	}
	s.lacking.Store(true)
	return false, nil
}

// learn makes the vectors that an encoder lacks, what matters most first, and
// says how many.
func (s *Store) learn(ctx context.Context, e meaning.Encoding, progress func(done, missing int)) (n int, err error) {
	u, err := s.unmade(ctx, e, !e.Instant)
	if err != nil {
		return 0, err
	}
	if len(u.texts) > 0 {
		if n, err = s.opts.Semantic.Learn(ctx, e.Name, u.texts, progress); err != nil {
			return n, err
		}
	}
	s.remark(e, u)
	return n, nil
}

// mattersFirst puts the texts of the most salient facts first.
func (s *Store) mattersFirst(st *state.State, now time.Time, texts []meaning.Meant) {
	weight := make(map[string]float64, len(texts))
	for _, t := range texts {
		if v := st.ByID(t.ID); v != nil {
			weight[t.ID] = s.salience(v, now)
		}
	}
	slices.SortStableFunc(texts, func(a, b meaning.Meant) int {
		switch x, y := weight[a.ID], weight[b.ID]; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
}

// keepVectors brings the vectors of every encoder up to date, in the background
// of a long-lived store until ctx ends: the instant one first, since it serves
// until the others are complete.
func (s *Store) keepVectors(ctx context.Context) {
	if s.opts.Semantic == nil {
		return
	}
	tick := time.NewTicker(tidyEach)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, e := range slices.Backward(s.opts.Vectors.Encoders(false)) {
			if _, err := s.learn(ctx, e, nil); err != nil && ctx.Err() == nil {
				s.opts.Logger.Debug("vectors were not made", "encoder", e.Name, "error", err)
			}
		}
	}
}

// settleVectors is for after a command's answer: the next one shall find
// vectors.
func (s *Store) settleVectors() {
	if s.opts.Semantic == nil || !s.lacking.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleFirst)
	defer cancel()
	for _, e := range s.opts.Vectors.Encoders(false) {
		if !e.Instant {
			continue
		}
		if _, err := s.learn(ctx, e, nil); err != nil {
			s.opts.Logger.Debug("vectors were not made", "encoder", e.Name, "error", err)
		}
	}
}

// dropVectors takes the vectors of erased versions off the disk: all, where it
// is not known which they were.
func (s *Store) dropVectors(ids []string) error {
	if s.opts.Vectors == nil {
		return nil
	}
	if len(ids) == 0 {
		ids = nil
	}
	return errors.Join(s.marks.Forget(), s.opts.Vectors.Drop(ids))
}

// BuiltInVectors brings the vectors of the built-in encoder up to date. It
// returns nil where there is none.
func (s *Store) BuiltInVectors(ctx context.Context) (*meaning.Encoding, error) {
	if s.opts.Semantic == nil {
		return nil, nil
	}
	all := s.opts.Vectors.Encoders(false)
	if len(all) == 0 || !all[len(all)-1].Instant {
		return nil, nil
	}
	e := all[len(all)-1]
	if _, err := s.learn(ctx, e, nil); err != nil {
		s.opts.Logger.Debug("vectors were not made", "encoder", e.Name, "error", err)
	}
	return &e, ctx.Err()
}
