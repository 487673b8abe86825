package knowledge

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"leanctx/embed/vectors"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/meaning"
	"leanctx/knowledge/state"
)

// vectorSync keeps the vectors in step with the facts. What holds now, or will,
// has vectors; an ended version needs none. The file of the vectors says up to which
// commit they are complete. What later commits changed is the tail: the index of
// words has one too. Where the state does not know the tail, all facts are looked at.
type vectorSync struct {
	encoders  vectors.Encoders // nil: the store makes no vectors
	index     *vectors.Index
	log       *state.Log
	logger    *slog.Logger
	now       func() time.Time
	longLived bool

	lacking atomic.Bool // a question would have needed vectors that there are not

	maxLearn, maxLearnServer int // how many texts may be encoded before an answer
}

// How many texts may be encoded before an answer. Up to maxSpot are not kept, more are kept,
// and what exceeds the limits is left for after the answer.
const (
	maxSpot        = 64
	maxLearn       = 1024 // some 15 ms
	maxLearnServer = 8192 // a server does it once
)

// maxKeptVectors is how many bytes of vectors a server keeps in memory: some 25,000 facts.
const maxKeptVectors = 8 << 20

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

// lastingOf are the versions of a state that are valid now or will be.
func (x *vectorSync) lastingOf(st *state.State) (vs []*fact.Version) {
	now := x.now()
	for _, v := range st.Each() {
		if lasts(v, now) {
			vs = append(vs, v)
		}
	}
	return vs
}

// tail lists what changed since an instant to which the vectors of an encoder are complete. ok is
// false where that is not known without looking at all facts.
func (x *vectorSync) tail(k state.Reader, complete time.Time) (c vectors.Changes, ok bool) {
	if complete.IsZero() {
		return c, false
	}
	vs, ok := k.ChangedSince(complete)
	c = vectors.Changes{Texts: lasting(vs, x.now()), Since: complete, To: k.At}
	over := map[string]bool{}
	for _, v := range vs {
		over[v.ID], over[meaning.QuestionsID(v.ID)] = true, true
	}
	c.Over = without(over, c.Texts)
	return c, ok
}

// without are the ids that no text has.
func without(ids map[string]bool, texts []vectors.Text) []string {
	for _, t := range texts {
		delete(ids, t.ID)
	}
	return slices.Collect(maps.Keys(ids))
}

// facts counts the facts that have a vector of an encoder.
func (x *vectorSync) facts(ctx context.Context, encoder string) (n int, err error) {
	ids, err := x.index.IDs(encoder)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	err = x.log.View(ctx, func(st *state.State) error {
		n = 0
		for _, v := range x.lastingOf(st) {
			if ids[v.ID] {
				n++
			}
		}
		return nil
	})
	return n, err
}

// of gives the vectors of facts. Those that are kept are found. An instant encoder makes what
// lacks one, and all of them where the file would have to be read. Of another encoder what lacks
// one gets nil. text is a text in full, since texts may have sums alone. The vectors are in a space.
func (x *vectorSync) of(ctx context.Context, e vectors.Encoding, texts []vectors.Text, text func(i int) string, in *vectors.Space) (out [][]float32, err error) {
	if !e.Instant {
		return x.index.Vectors(e.Name, texts), nil
	}
	out = x.index.InMemory(e.Name, texts, in)
	var list []string
	var to []int // where each goes
	for i := range texts {
		if out[i] == nil {
			list, to = append(list, text(i)), append(to, i)
		}
	}
	return out, x.make(ctx, e, list, in, func(i int, v []float32) { out[to[i]] = v })
}

// make encodes texts now, into a space where the encoder can.
func (x *vectorSync) make(ctx context.Context, e vectors.Encoding, list []string, in *vectors.Space, set func(i int, v []float32)) error {
	if len(list) == 0 {
		return nil
	}
	return x.encoders.With(e.Name, func(use vectors.Encoder) (err error) {
		var made [][]float32
		if s, ok := use.(vectors.SpaceEncoder); ok {
			made, err = s.EncodeIn(ctx, list, in)
		} else {
			made, err = use.Encode(ctx, list)
		}
		for i, v := range made {
			set(i, v)
		}
		return err
	})
}

// knows reports whether an encoder knows a word of a question.
func (x *vectorSync) knows(encoder string, texts []string) (known bool) {
	err := x.encoders.With(encoder, func(use vectors.Encoder) error {
		known = slices.ContainsFunc(texts, use.Knows)
		return nil
	})
	return known && err == nil
}

// ask gives the vectors of the texts of a question, nil for one of which the encoder
// knows no word.
func (x *vectorSync) ask(ctx context.Context, encoder string, texts []string) (out [][]float32, err error) {
	err = x.encoders.With(encoder, func(use vectors.Encoder) error {
		var known []string
		var to []int // where each goes
		for i, t := range texts {
			if use.Knows(t) {
				known, to = append(known, t), append(to, i)
			}
		}
		out = make([][]float32, len(texts))
		if len(known) == 0 {
			return nil
		}
		made, err := use.Encode(ctx, known)
		for i, v := range made {
			out[to[i]] = v
		}
		return err
	})
	return out, err
}

// nearest begins to search the kept vectors, beside what the caller does meanwhile. The function
// that it returns waits for the result.
func (x *vectorSync) nearest(ctx context.Context, encoder string, question [][]float32) func() ([]vectors.Hit, error) {
	var hits []vectors.Hit
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		hits, err = x.index.Scan(ctx, encoder, question, maxNear)
		if err != nil && ctx.Err() == nil && !errors.Is(err, vectors.ErrDamaged) {
			err = x.unread(err)
		}
	}()
	return func() ([]vectors.Hit, error) { <-done; return hits, err }
}

// unread says that the vectors cannot be read now. Words answer without them.
func (x *vectorSync) unread(err error) error {
	x.logger.Warn("recall by meaning does without the vectors", "error", err)
	return nil
}

// ready reports whether the vectors of an encoder can be searched for a question.
// tail are the few texts that have none yet. Where meaning is wanted, what is
// missing is made first; else much of it is left for after the answer.
func (x *vectorSync) ready(ctx context.Context, e vectors.Encoding, wanted bool) (tail []vectors.Text, ok bool, err error) {
	known, n, over := false, 0, 0
	complete, err := x.index.Complete(e.Name)
	if err != nil {
		return nil, false, x.unread(err)
	}
	if err := x.log.ViewSome(ctx, func(k state.Reader) error {
		var c vectors.Changes
		if c, known = x.tail(k, complete); known {
			tail, n, over = c.Texts, len(c.Texts), len(c.Over)/2 // a fact's, and its questions'
		} else {
			n = k.Count
		}
		return nil
	}); err != nil {
		return nil, false, err
	}
	if known && n <= maxSpot && (over <= maxSpot || !e.Instant) { // more could be nearer than all that holds
		return tail, true, nil
	}
	most := x.maxLearn
	if x.longLived {
		most = x.maxLearnServer
	}
	switch {
	case !e.Instant && wanted && !x.longLived:
		n, err := x.backlog(ctx, e, false)
		return nil, n == 0, err
	case e.Instant && (wanted || n <= most):
		x.update(ctx, e)
		return nil, ctx.Err() == nil, ctx.Err()
	}
	x.lacking.Store(!x.index.Newer()) // vectors of a newer version stay as they are
	return nil, false, nil
}

// fill makes the vectors that an encoder lacks, the most salient facts first,
// and says how many. all looks at all facts, and removes the vectors of ended versions.
func (x *vectorSync) fill(ctx context.Context, e vectors.Encoding, all bool, progress func(done, missing int)) (n int, err error) {
	erased := x.erased(ctx)
	c, err := x.changes(ctx, e, all)
	if err != nil {
		return 0, err
	}
	if missing, err := x.index.SetComplete(e.Name, c); err != nil || missing == 0 && len(c.Over) == 0 {
		return 0, err
	}
	err = x.encoders.With(e.Name, func(use vectors.Encoder) error {
		n, err = x.index.Fill(ctx, use, c, progress)
		return err
	})
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFirst) // what was made is kept when ctx ends
	defer cancel()
	if x.erased(after) != erased {
		err = errors.Join(err, x.prune(after)) // there may be vectors of what was erased meanwhile
	}
	return n, err
}

// erased counts the facts that were erased.
func (x *vectorSync) erased(ctx context.Context) (n int) {
	_ = x.log.ViewSome(ctx, func(k state.Reader) error {
		n = 0
		for range k.Tombstones() {
			n++
		}
		return nil
	})
	return n
}

// update is fill for who can do without: what fails is only logged.
func (x *vectorSync) update(ctx context.Context, e vectors.Encoding) {
	if _, err := x.fill(ctx, e, false, nil); err != nil && ctx.Err() == nil {
		x.logger.Debug("vectors were not made", "encoder", e.Name, "error", err)
	}
}

// changes lists what may lack a vector, as of the newest commit: where that is known what came since
// the vectors were complete, else, or with all, everything.
func (x *vectorSync) changes(ctx context.Context, e vectors.Encoding, all bool) (c vectors.Changes, err error) {
	complete, err := x.index.Complete(e.Name)
	if err != nil {
		return c, err
	}
	known := false
	if err = x.log.ViewSome(ctx, func(k state.Reader) error {
		c, known = x.tail(k, complete)
		return nil
	}); err != nil || known && !all {
		return c, err
	}
	kept, err := x.index.IDs(e.Name) // before the state: what others add meanwhile stays
	if err != nil {
		return c, err
	}
	err = x.log.View(ctx, func(st *state.State) error {
		vs, now := x.lastingOf(st), x.now()
		if !e.Instant { // it takes long: what matters most comes first
			weight := make(map[*fact.Version]float64, len(vs))
			for _, v := range vs {
				weight[v] = fact.Salience(v, now, fact.Retrievals{})
			}
			slices.SortFunc(vs, func(a, b *fact.Version) int { return cmp.Or(cmp.Compare(weight[b], weight[a]), fact.ByName(a, b)) })
		}
		c = vectors.Changes{Texts: lasting(vs, now), To: st.At()}
		c.Over = without(kept, c.Texts)
		return nil
	})
	return c, err
}

// backlog counts what has no vector of an encoder. If nothing lacks one it is noted,
// so that the next look costs nothing.
func (x *vectorSync) backlog(ctx context.Context, e vectors.Encoding, all bool) (int, error) {
	c, err := x.changes(ctx, e, all)
	if err != nil {
		return 0, err
	}
	return x.index.SetComplete(e.Name, c)
}

// keep brings the vectors of every encoder up to date, the instant one first,
// since it serves until the others are complete.
func (x *vectorSync) keep(ctx context.Context) {
	if x.encoders == nil {
		return
	}
	for _, e := range slices.Backward(x.encoders.Usable(false)) {
		x.update(ctx, e)
	}
}

// settle is for after a command's answer: the next one shall find vectors. After
// synced, an index on disk that a command has written, the next one does not know the
// tail of today. It reports whether too many are missing to be made here, so that another process makes them.
func (x *vectorSync) settle(synced bool) (many bool) {
	if !synced && !x.lacking.Load() {
		return false // before the encoder is loaded: most commands need none
	}
	e := x.instant()
	if e == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleFirst)
	defer cancel()
	complete, err := x.index.Complete(e.Name)
	if err != nil {
		return false
	}
	few := false
	if err := x.log.ViewSome(ctx, func(k state.Reader) error {
		var tail vectors.Changes
		known := false
		if synced {
			tail, known = x.tail(k, complete)
		}
		few = known && len(tail.Texts) <= x.maxLearnServer || x.lacking.Load() && k.Count <= x.maxLearnServer
		return nil
	}); err == nil && few {
		x.update(ctx, *e)
	}
	return !few && x.lacking.Load()
}

// instant is the built-in encoder, nil where there is none.
func (x *vectorSync) instant() *vectors.Encoding {
	if x.encoders == nil {
		return nil
	}
	all := x.encoders.Usable(false)
	if len(all) == 0 || !all[len(all)-1].Instant {
		return nil
	}
	return &all[len(all)-1]
}

// prune takes the vectors off the disk of all that does not last: ended versions, what
// was erased, and what is unknown here. Then all facts are looked at again.
func (x *vectorSync) prune(ctx context.Context) error {
	keep := map[string]bool{}
	if err := x.log.View(ctx, func(st *state.State) error {
		for _, v := range x.lastingOf(st) {
			keep[v.ID], keep[meaning.QuestionsID(v.ID)] = true, true
		}
		return nil
	}); err != nil {
		return err
	}
	return x.index.Prune(func(id string) bool { return keep[id] })
}

// BuiltInVectors brings the vectors of the built-in encoder up to date. It
// returns nil where there is none. Where they could not be kept, this process has them.
func BuiltInVectors(ctx context.Context, s *Store) (*vectors.Encoding, error) {
	e := s.vectors.instant()
	if e == nil {
		return nil, nil
	}
	s.vectors.update(ctx, *e)
	return e, ctx.Err()
}
