package knowledge

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"leanctx/embed/vectors"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/meaning"
	"leanctx/knowledge/state"
)

// vectorSync keeps the vectors in step with the facts. What holds now, or will,
// has vectors; what is over needs none.
type vectorSync struct {
	encoders  meaning.Encoders // nil: the store has no vectors
	index     *vectors.Index
	marks     meaning.Marks
	log       *state.Log
	logger    *slog.Logger
	longLived bool

	lacking atomic.Bool // a question would have needed vectors that there are not
}

// How many texts may be encoded before an answer. Up to spotMost are not kept, more are kept,
// and what is over the limits is left for after the answer.
const (
	spotMost    = 64
	learnMost   = 1024 // by a command: some 15 ms
	learnServer = 8192 // by a server, which does it once
)

// lasting are those of some versions that are valid now or will be, as texts.
func lasting(vs []*fact.Version, now time.Time) (out []vectors.Text) {
	for _, v := range vs {
		if lasts(v, now) {
			out = append(out, meaning.Of(v))
			if t, ok := meaning.OfQuestions(v); ok {
				out = append(out, t)
			}
		}
	}
	return out
}

func lasts(v *fact.Version, now time.Time) bool {
	return fact.Believed(v) && fact.Before(now, v.ValidUntil)
}

// missing lists what may lack a vector of an encoder. ok is false where that is
// not known without looking at all facts.
func (x *vectorSync) missing(k state.Known, e meaning.Encoding, now time.Time) (texts []vectors.Text, ok bool) {
	m, done, marked := x.marks.Of(e.Name)
	if !marked || m.Lacking || m.Epoch != k.Epoch() || x.entries(e.Name) < m.Entries {
		return nil, false
	}
	if done > 0 {
		if vs, ok := k.ChangedSince(done); ok {
			return lasting(vs, now), true
		}
	}
	vs, ok := k.TouchedAfter(m.At)
	return lasting(vs, now), ok
}

// entries counts the vectors that are kept of an encoder.
func (x *vectorSync) entries(encoder string) int {
	return x.index.Count(encoder, func(string) bool { return true })
}

// facts counts the vectors of an encoder, those of questions aside.
func (x *vectorSync) facts(encoder string) int {
	return x.index.Count(encoder, func(id string) bool { return !meaning.IsQuestions(id) })
}

// of gives the vectors of facts. An instant encoder makes them; of another one
// those that are kept are found, nil for one that there is not.
func (x *vectorSync) of(ctx context.Context, e meaning.Encoding, texts []vectors.Text) (out [][]float32, err error) {
	if !e.Instant {
		for _, t := range texts {
			out = append(out, x.index.Vector(e.Name, t))
		}
		return out, nil
	}
	list := make([]string, len(texts))
	for i, t := range texts {
		list[i] = t.Text
	}
	err = x.encoders.With(e.Name, func(use vectors.Encoder) error {
		out, err = use.Encode(ctx, list)
		return err
	})
	return out, err
}

// ask gives the vectors of those texts of a question that hold a word which the
// encoder knows.
func (x *vectorSync) ask(ctx context.Context, encoder string, texts []string) (out [][]float32, err error) {
	err = x.encoders.With(encoder, func(use vectors.Encoder) error {
		known := slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return !use.Knows(t) })
		if len(known) > 0 {
			out, err = use.Encode(ctx, known)
		}
		return err
	})
	return out, err
}

// ready reports whether the vectors of an encoder can be searched for a question.
// tail are the few texts that have none yet. Where meaning is wanted, what is
// missing is made first; else much of it is left for after the answer.
func (x *vectorSync) ready(ctx context.Context, e meaning.Encoding, wanted bool, now time.Time) (tail []vectors.Text, ok bool, err error) {
	known, n := false, 0
	if err := x.log.Look(ctx, func(k state.Known) error {
		if tail, known = x.missing(k, e, now); known {
			n = len(tail)
		} else {
			n = k.Count
		}
		return nil
	}); err != nil {
		return nil, false, err
	}
	if known && len(tail) <= spotMost {
		return tail, true, nil
	}
	most := learnMost
	if x.longLived {
		most = learnServer
	}
	switch {
	case !e.Instant && wanted && !x.longLived:
		n, err := x.backlog(ctx, e, now)
		return nil, n == 0, err
	case e.Instant && (wanted || n <= most):
		if _, err := x.learn(ctx, e, now, nil); err != nil {
			if ctx.Err() != nil {
				return nil, false, err
			}
			x.logger.Debug("vectors were not made", "encoder", e.Name, "error", err)
		}
		return nil, true, nil
	}
	x.lacking.Store(true)
	return nil, false, nil
}

// learn makes the vectors that an encoder lacks, the most salient facts first,
// and says how many.
func (x *vectorSync) learn(ctx context.Context, e meaning.Encoding, now time.Time, progress func(done, missing int)) (n int, err error) {
	texts, to, seq, err := x.all(ctx, e, now)
	if err != nil {
		return 0, err
	}
	if len(texts) > 0 {
		if err = x.encoders.With(e.Name, func(use vectors.Encoder) error {
			n, err = x.index.Fill(ctx, use, texts, progress)
			return err
		}); err != nil {
			return n, err
		}
	}
	x.mark(e, to, seq)
	return n, nil
}

// all lists what may lack a vector, and what is complete once it has one.
func (x *vectorSync) all(ctx context.Context, e meaning.Encoding, now time.Time) (texts []vectors.Text, to meaning.Progress, seq uint64, err error) {
	known := false
	note := func(k state.Known) { to, seq = meaning.Progress{At: k.At, Epoch: k.Epoch()}, k.Seq }
	if err = x.log.Look(ctx, func(k state.Known) error {
		texts, known = x.missing(k, e, now)
		note(k)
		return nil
	}); err != nil || known {
		return texts, to, seq, err
	}
	err = x.log.View(ctx, func(st *state.State) error {
		note(st.Known())
		var vs []*fact.Version
		for _, v := range st.Each() {
			if lasts(v, now) {
				vs = append(vs, v)
			}
		}
		if !e.Instant { // it takes long: what matters most comes first
			weight := make(map[*fact.Version]float64, len(vs))
			for _, v := range vs {
				weight[v] = fact.Salience(v, now, fact.Retrievals{})
			}
			slices.SortFunc(vs, func(a, b *fact.Version) int { return cmp.Or(cmp.Compare(weight[b], weight[a]), fact.ByName(a, b)) })
		}
		texts = lasting(append(vs, st.Lessons()...), now)
		return nil
	})
	return texts, to, seq, err
}

// mark notes how far an encoder came.
func (x *vectorSync) mark(e meaning.Encoding, to meaning.Progress, seq uint64) {
	if to.Entries = x.entries(e.Name); to.Entries == 0 {
		return
	}
	if err := x.marks.Set(e.Name, to, seq); err != nil {
		x.logger.Debug("the vectors' mark was not written", "error", err)
	}
}

// backlog counts what has no vector of an encoder, and marks what it found, so
// that the next look costs nothing.
func (x *vectorSync) backlog(ctx context.Context, e meaning.Encoding, now time.Time) (n int, err error) {
	texts, to, seq, err := x.all(ctx, e, now)
	if err != nil {
		return 0, err
	}
	if len(texts) > 0 {
		n = len(x.index.Missing(e.Name, texts))
	}
	to.Lacking = n > 0
	x.mark(e, to, seq)
	return n, nil
}

// keep brings the vectors of every encoder up to date, the instant one first,
// since it serves until the others are complete.
func (x *vectorSync) keep(ctx context.Context, now time.Time) {
	if x.encoders == nil {
		return
	}
	for _, e := range slices.Backward(x.encoders.Usable(false)) {
		if _, err := x.learn(ctx, e, now, nil); err != nil && ctx.Err() == nil {
			x.logger.Debug("vectors were not made", "encoder", e.Name, "error", err)
		}
	}
}

// settle is for after a command's answer: the next one shall find vectors.
func (x *vectorSync) settle(now time.Time) {
	if x.encoders == nil || !x.lacking.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleFirst)
	defer cancel()
	few := false
	if err := x.log.Look(ctx, func(k state.Known) error { few = k.Count <= learnServer; return nil }); err != nil || !few {
		return // it takes longer: imports, compactions and servers do it
	}
	if e := x.instant(); e != nil {
		if _, err := x.learn(ctx, *e, now, nil); err != nil {
			x.logger.Debug("vectors were not made", "encoder", e.Name, "error", err)
		}
	}
}

// instant is the built-in encoder, nil where there is none.
func (x *vectorSync) instant() *meaning.Encoding {
	if x.encoders == nil {
		return nil
	}
	all := x.encoders.Usable(false)
	if len(all) == 0 || !all[len(all)-1].Instant {
		return nil
	}
	return &all[len(all)-1]
}

// forget takes the vectors of versions that are no longer believed off the disk.
func (x *vectorSync) forget(ids []string) {
	if x.encoders == nil || len(ids) == 0 {
		return
	}
	if err := x.index.Forget(withQuestions(ids)...); err != nil {
		x.logger.Debug("vectors were not removed", "error", err)
	}
	for _, e := range x.encoders.Usable(false) { // there are fewer now, and none is missing
		if m, done, ok := x.marks.Of(e.Name); ok && !m.Lacking {
			m.Entries = min(m.Entries, x.entries(e.Name))
			if err := x.marks.Set(e.Name, m, done); err != nil {
				x.logger.Debug("the vectors' mark was not written", "error", err)
			}
		}
	}
}

// drop takes the vectors of versions that were erased off the disk.
func (x *vectorSync) drop(ids []string) error {
	if x.encoders == nil {
		return nil
	}
	return errors.Join(x.marks.Forget(), x.index.Forget(withQuestions(ids)...))
}

// orphans are the versions that have vectors and are no longer there.
func (x *vectorSync) orphans(ctx context.Context) (versions []string, err error) {
	if x.index == nil {
		return nil, nil
	}
	known := map[string]bool{}
	err = x.log.View(ctx, func(st *state.State) error {
		for _, v := range st.Each() {
			known[v.ID] = true
		}
		for _, v := range st.Lessons() {
			known[v.ID] = true
		}
		return nil
	})
	for _, e := range x.index.Entries() {
		x.index.Count(e.Name, func(id string) bool {
			if version := meaning.VersionOf(id); !known[version] && !slices.Contains(versions, version) {
				versions = append(versions, version)
			}
			return false
		})
	}
	return versions, err
}

// withQuestions are the ids of all vectors that versions may have.
func withQuestions(ids []string) (all []string) {
	for _, id := range ids {
		all = append(all, id, meaning.QuestionsID(id))
	}
	return all
}

// BuiltInVectors brings the vectors of the built-in encoder up to date. It
// returns nil where there is none.
func BuiltInVectors(ctx context.Context, s *Store) (*meaning.Encoding, error) {
	e := s.vectors.instant()
	if e == nil {
		return nil, nil
	}
	if _, err := s.vectors.learn(ctx, *e, s.Now(), nil); err != nil {
		s.opts.Logger.Debug("vectors were not made", "encoder", e.Name, "error", err)
	}
	return e, ctx.Err()
}
