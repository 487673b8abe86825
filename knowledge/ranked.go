package knowledge

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"leanctx/knowledge/fact"
	"leanctx/knowledge/intent"
	"leanctx/knowledge/meaning"
	"leanctx/knowledge/search"
	"leanctx/knowledge/state"
)

// rankedTries is how often a search begins anew because the facts changed
// after the index was brought up to them.
const rankedTries = 4

// errMoved means that the state is not the one the index was brought up to.
var errMoved = errors.New("the facts changed meanwhile")

// ranked searches by words, with or without the archive. The index and the
// state it is masked with must be at the same commit: else a value that was
// superseded a moment ago is masked and its successor not found. by, where it
// is not nil, lets meaning have a part.
func (s *Store) ranked(ctx context.Context, q Question, archive bool, by *bearing) (Recalled, error) {
	return s.rankedBy(ctx, asked{Question: q, archive: archive, by: by})
}

func (s *Store) rankedBy(ctx context.Context, a asked) (Recalled, error) {
	a.intent = sync.OnceValue(func() intent.Words { return s.Intent(ctx) })
	for moved, damaged := 0, 0; ; {
		ask := s.rankedNow
		if moved == rankedTries {
			ask = s.rankedAtOnce
		}
		r, err := ask(ctx, a)
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
	if errors.Is(err, errUnindexed) {
		return s.rankedUnindexed(ctx, a)
	}
	if err != nil {
		return Recalled{}, err
	}
	err = s.View(ctx, func(st *state.State, now time.Time) error {
		if st.Cursor() != fed {
			return errMoved
		}
		a.st, a.now = st, now
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
	err = s.View(ctx, func(st *state.State, now time.Time) error {
		if x.unindexed(st) {
			return errUnindexed
		}
		docs := x.unfed(st)
		if err := x.index.Add(ctx, docs); err != nil {
			return err
		}
		x.fed = st.Cursor()
		a.st, a.now = st, now
		r, err = s.rankedIn(ctx, x.index, a)
		return err
	})
	if errors.Is(err, errUnindexed) {
		return s.rankedUnindexed(ctx, a)
	}
	return r, err
}

// searcher is an index, or what stands for one that is missing.
type searcher interface {
	Search(ctx context.Context, q search.Query, keep func(id string) bool) ([]search.Hit, int, error)
}

// asked is a question, and the state that it is put to.
type asked struct {
	Question
	st      *state.State
	now     time.Time
	archive bool
	intent  func() intent.Words // asked for only if there is a tie
	by      *bearing            // nil: words decide
	words   *worded             // what they found, for the next try or look; nil: there is none
}

// worded is what words found, which holds for one state.
type worded struct {
	of    state.Cursor
	found Recalled
}

// before gives what words found in this state before.
func (a *asked) before() (Recalled, bool) {
	if a.words == nil || a.words.of != a.st.Cursor() {
		return Recalled{}, false
	}
	r := a.words.found
	r.Facts = slices.Clone(r.Facts)
	return r, true
}

func (s *Store) rankedIn(ctx context.Context, index searcher, a asked) (Recalled, error) {
	q, st := a.Question, a.st
	f, err := q.frame(a.now, s.Now())
	if err != nil {
		return Recalled{}, err
	}
	r, known := a.before()
	if known {
		f = r.frame
	}
	r.frame = f
	lessons := map[string]*fact.Version{}
	for _, v := range st.Lessons() {
		lessons[v.ID] = v
	}
	version := func(id string) *fact.Version { return cmp.Or(st.ByID(id), lessons[id]) }
	keep := func(id string) bool {
		v := version(id)
		if v == nil || !f.holds(v, true) {
			return false
		}
		r.archived = r.archived || v.ArchivedAt != nil
		return a.archive || v.ArchivedAt == nil || f.holds(v, false)
	}
	m := masked{keep, version}
	if !known && (a.by == nil || !a.by.alone) {
		if err := s.worded(ctx, index, a, &r, m); err != nil {
			return Recalled{}, err
		}
	}
	if a.by != nil {
		if err := s.fuse(ctx, a, &r, m); err != nil {
			return Recalled{}, err
		}
	}
	r.cut()
	return r, nil
}

// worded searches by words alone.
func (s *Store) worded(ctx context.Context, index searcher, a asked, r *Recalled, m masked) error {
	hits, total, err := index.Search(ctx, search.Query{Text: a.Query, Limit: a.most(), Explain: a.Explain}, m.keep)
	if err != nil {
		return err
	}
	if r.Total = total; len(hits) < a.most() {
		r.Total = len(hits) // these are all; without an index the number is an estimate
	}
	for _, h := range hits {
		v := m.version(h.ID)
		if v == nil {
			continue // it cannot be read: the answer will not be used
		}
		x := found(v, &r.frame)
		x.Score, x.Parts, x.raw, x.named = min(h.Relevance, 1), h.Parts, h.Score, h.Named
		r.best, r.named = max(r.best, x.Score), r.named || h.Named
		r.Facts = append(r.Facts, x)
	}
	s.settleTies(r.Facts, &r.frame, a.intent)
	if a.words != nil {
		*a.words = worded{a.st.Cursor(), *r}
		a.words.found.Facts = slices.Clone(r.Facts)
	}
	return nil
}

// most is how many hits by words are looked at: a few more than asked for, to
// settle near-ties, and as many as meaning puts into order.
func (a *asked) most() int {
	if a.by != nil || a.words != nil {
		return max(a.Limit+10, meaning.FusedMost)
	}
	return a.Limit + 10
}

// masked is what a search sees of a state.
type masked struct {
	keep    func(id string) bool
	version func(id string) *fact.Version
}

// fuse lets meaning have its part in an answer. The answer says so only if it
// had one: if what is shown is other than words alone would show.
func (s *Store) fuse(ctx context.Context, a asked, r *Recalled, m masked) error {
	cosines, near, err := s.compare(ctx, a, r.Facts, m.keep)
	if err != nil {
		return err
	}
	c := meaning.Calibrated(a.by.Encoding)
	j := meaning.Fusion{Cosines: cosines, Weak: r.weak(), Asked: a.by.asked, Least: c.Least(a.by.asked, a.st.VersionCount()), Weigh: c.Words}
	facts := make(map[string]Found, len(r.Facts)+len(near))
	for _, x := range r.Facts {
		facts[x.ID] = x
		j.Words = append(j.Words, meaning.Hit{ID: x.ID, Words: x.raw, Named: x.named})
	}
	for _, n := range near {
		v := m.version(n.ID)
		if v == nil || !a.by.takes(v, n.Cosine, j.Least) {
			continue
		}
		j.Near = append(j.Near, meaning.Hit{ID: n.ID, Cosine: n.Cosine})
		if _, known := facts[n.ID]; !known {
			x := found(v, &r.frame)
			x.Score = meaning.Alike(n.Cosine, j.Least)
			facts[n.ID] = x
		}
	}
	var joined []Found
	for _, h := range j.Join() {
		x := facts[h.ID]
		x.Semantic = h.Cosine
		joined = append(joined, x)
	}
	if sameFacts(r.Facts, joined, a.Limit) {
		return nil
	}
	for i := range joined {
		if x := &joined[i]; a.Explain && x.Semantic != 0 {
			x.Parts = maps.Clone(x.Parts)
			if x.Parts == nil {
				x.Parts = map[string]float64{}
			}
			x.Parts["meaning"], x.Parts["words"] = x.Semantic, x.raw
		}
	}
	r.Facts, r.Encoder = joined, a.by.Name
	r.Total = max(r.Total, len(joined))
	return nil
}

// weak reports whether words found nothing that can be relied on.
func (r *Recalled) weak() bool {
	return len(r.Facts) == 0 || r.best < meaning.WeakBelow && !r.named
}

// sameFacts reports whether two lists begin with the same facts, as many as are
// shown.
func sameFacts(a, b []Found, limit int) bool {
	a, b = a[:min(len(a), limit)], b[:min(len(b), limit)]
	return slices.EqualFunc(a, b, func(x, y Found) bool { return x.ID == y.ID })
}

// nearTie is how close two scores must be, as a share of the better, for what
// the caller works on, and then salience, to decide between them. Neither ever
// outranks relevance.
const nearTie = 0.01

// settleTies reorders neighbours whose scores are within nearTie of the first
// of their group.
func (s *Store) settleTies(facts []Found, f *frame, intent func() intent.Words) {
	for start := 0; start < len(facts); {
		end := start + 1
		for end < len(facts) && facts[end].Score == facts[start].Score && facts[end].raw >= facts[start].raw*(1-nearTie) {
			end++
		}
		slices.SortStableFunc(facts[start:end], func(a, b Found) int {
			wanted := intent()
			return cmp.Or(cmp.Compare(wanted.Meets(b.Category, b.Key, b.Value), wanted.Meets(a.Category, a.Key, a.Value)), cmp.Compare(s.salience(b.Version, f.now), s.salience(a.Version, f.now)), fact.ByName(a.Version, b.Version))
		})
		start = end
	}
}
