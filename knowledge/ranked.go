package knowledge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"leanctx/knowledge/search"
)

// rankedTries is how often a search begins anew because the facts changed
// after the index was brought up to them.
const rankedTries = 4

// errMoved means that the state is not the one the index was brought up to.
var errMoved = errors.New("the facts changed meanwhile")

// ranked searches by words, with or without the archive. The index and the
// state it is masked with must be at the same commit: else a value that was
// superseded a moment ago is masked and its successor not found.
func (s *Store) ranked(ctx context.Context, q Question, archive bool) (Recalled, error) {
	wanted := sync.OnceValue(func() intent { return s.intent(ctx) })
	for moved, damaged := 0, 0; ; {
		ask := s.rankedNow
		if moved == rankedTries {
			ask = s.rankedAtOnce
		}
		r, err := ask(ctx, asked{Question: q, archive: archive, intent: wanted})
		switch {
		case errors.Is(err, search.ErrDamaged) && damaged < goWithout:
			damaged++
			s.ix.renew(damaged)
		case errors.Is(err, errMoved) && moved < rankedTries:
			moved++
		default:
			return r, err
		}
	}
}

// rankedNow is one try.
func (s *Store) rankedNow(ctx context.Context, a asked) (r Recalled, err error) {
	index, fed, err := s.catchUp(ctx)
	if err != nil {
		return Recalled{}, err
	}
	err = s.view(ctx, func(st *state, m moment) error {
		if st.reach() != fed {
			return errMoved
		}
		a.st, a.moment = st, m
		r, err = s.rankedIn(ctx, index, a)
		return err
	})
	return r, err
}

// rankedAtOnce feeds the index and searches it on one state, while the writers
// of this process wait. It is for when they never pause.
func (s *Store) rankedAtOnce(ctx context.Context, a asked) (r Recalled, err error) {
	x := &s.ix
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.open(s.dir); err != nil {
		return Recalled{}, err
	}
	err = s.view(ctx, func(st *state, m moment) error {
		docs, _ := x.unfed(st)
		if err := x.index.Add(ctx, docs); err != nil {
			return err
		}
		x.fed = st.reach()
		a.st, a.moment = st, m
		r, err = s.rankedIn(ctx, x.index, a)
		return err
	})
	return r, err
}

// asked is a question, and the state that it is put to.
type asked struct {
	Question
	st      *state
	moment  moment
	archive bool
	intent  func() intent // asked for only if there is a tie
}

func (s *Store) rankedIn(ctx context.Context, index *search.Index, a asked) (Recalled, error) {
	q, st := a.Question, a.st
	f, err := q.frame(a.moment, s.clock())
	if err != nil {
		return Recalled{}, err
	}
	r := Recalled{frame: f}
	lessons := map[string]*Version{}
	for _, v := range st.lessons() {
		lessons[v.ID] = v
	}
	version := func(id string) *Version { return cmp.Or(st.byID(id), lessons[id]) }
	g := &glimpse{state: st, frame: &f, last: -1}
	keep := func(id string) bool {
		v := g.seen(id)
		if v == nil {
			v = lessons[id]
		}
		if v == nil || !f.holds(v, true) {
			return false
		}
		r.archived = r.archived || v.ArchivedAt != nil
		return a.archive || v.ArchivedAt == nil || f.holds(v, false)
	}
	// Near-ties are settled below, so a few more than asked for are looked at.
	hits, total, err := index.Search(ctx, search.Query{Text: q.Query, Limit: q.Limit + 10, Explain: q.Explain}, keep)
	if err != nil {
		return Recalled{}, err
	}
	r.Total = total
	for _, h := range hits {
		v := version(h.ID)
		if v == nil {
			continue // it cannot be read: the answer will not be used
		}
		x := found(v, &f)
		x.Score, x.Parts, x.raw = min(h.Relevance, 1), h.Parts, h.Score
		r.Facts = append(r.Facts, x)
	}
	s.settleTies(r.Facts, &f, a.intent)
	r.cut()
	return r, nil
}

// nearTie is how close two scores must be, as a share of the better, for what
// the caller works on, and then salience, to decide between them. Neither ever
// outranks relevance.
const nearTie = 0.01

// settleTies reorders neighbours whose scores are within nearTie of the first
// of their group.
func (s *Store) settleTies(facts []Found, f *frame, intent func() intent) {
	for start := 0; start < len(facts); {
		end := start + 1
		for end < len(facts) && facts[end].Score == facts[start].Score && facts[end].raw >= facts[start].raw*(1-nearTie) {
			end++
		}
		slices.SortStableFunc(facts[start:end], func(a, b Found) int {
			wanted := intent()
			return cmp.Or(cmp.Compare(wanted.meets(b.Category, b.Key, b.Value), wanted.meets(a.Category, a.Key, a.Value)), cmp.Compare(s.salience(b.v, f.now), s.salience(a.v, f.now)), byName(a.v, b.v))
		})
		start = end
	}
}
