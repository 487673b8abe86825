package knowledge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"leanctx/embed/vectors"
	"leanctx/formats"
	"leanctx/internal/args"
	"leanctx/internal/journal"
	"leanctx/internal/language"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/index"
	"leanctx/knowledge/meaning"
	"leanctx/knowledge/recall"
	"leanctx/knowledge/state"
)

// Question asks for facts. Category and key filter, the query ranks; any may
// be given together, none asks for what was confirmed last.
type Question struct {
	Query           string   `json:"query,omitempty" arg:"1" long:"true" jsonschema:"words to look for"`
	Category        string   `json:"category,omitempty" short:"c" jsonschema:"only this room; alone: list the room"`
	Key             string   `json:"key,omitempty" short:"k" jsonschema:"only the fact of exactly this key or alias"`
	Tags            []string `json:"tags,omitempty" jsonschema:"only facts that have all of these"`
	Mode            string   `json:"mode,omitempty" enum:"auto,exact,lexical,semantic,hybrid" jsonschema:"how to search (default auto)"`
	AsOf            string   `json:"as_of,omitempty" jsonschema:"what was true then: RFC 3339, a day (its end, UTC), a month, an age such as 3d, or words (last week)"`
	KnownAt         string   `json:"known_at,omitempty" jsonschema:"what was known then: only what had been recorded"`
	Limit           int      `json:"limit,omitempty" jsonschema:"most facts to show (default 10)"`
	Offset          int      `json:"offset,omitempty" jsonschema:"without a query: skip this many facts of the list"`
	IncludeArchived bool     `json:"include_archived,omitempty" jsonschema:"also facts outside the active set"`
	Explain         bool     `json:"explain,omitempty" jsonschema:"show the parts of each score"`

	// Prompt says that the query is a prompt, not a question. Then dates in it are ignored,
	// weak answers are left out, and no retrieval is counted.
	Prompt bool `json:"-"`

	// Nothing, if set, is called when no fact is found.
	Nothing func(context.Context) `json:"-"`

	// Said, if set, is asked where no fact is a firm answer to a query about now.
	Said SaidBy `json:"-"`
}

// The modes of a search.
const (
	modeAuto     = "auto"
	modeExact    = "exact"
	modeLexical  = "lexical"
	modeSemantic = "semantic"
	modeHybrid   = "hybrid"
)

const (
	defaultLimit = 10
	maxQuery     = 100 << 10 // bytes
)

// query is a checked question and the instants it is about.
type query struct {
	Question
	filter      state.Filter // what may be an answer, the query aside
	asOf        string       // as_of as given or read from the query, "" for now
	now         time.Time
	hasTime     bool // as_of or known_at was given, or read from the query
	dateDropped bool // the date in the query found nothing, and was then left out
	named       bool // the query is the key: mode exact
	archived    bool // only what is outside the active set
	rules       bool // only what says how to work
}

// Recall returns the facts that answer a question, best first. Only facts believed valid at
// the question's instant are answers. Finding nothing is an answer, not an error. Reading
// changes no fact.
func (s *Store) Recall(ctx context.Context, q Question) (Recalled, error) {
	if err := q.check(); err != nil {
		return Recalled{}, err
	}
	ctx = journal.Once(ctx)
	s.use.Refresh()
	l := lookup{store: s, question: q}
	r, err := l.answer(ctx)
	if err == nil && l.parsed != nil && r.Read == nil {
		err = l.join(ctx, &r)
	}
	if err == nil && len(r.Facts) > 0 {
		err = s.ViewSome(ctx, func(k state.Reader, _ time.Time) error {
			r.markDisputed(k)
			r.addPlans(k)
			return nil
		})
		l.markOutdated(ctx, &r)
	}
	if err == nil && len(r.Facts)+len(r.Missing)+r.archived == 0 && !q.Prompt {
		err = s.ViewSome(ctx, func(k state.Reader, now time.Time) error {
			r.nameNearest(k, now)
			return nil
		})
	}
	for i, f := range r.Facts {
		if q.Explain {
			if f.Parts == nil {
				r.Facts[i].Parts = map[string]float64{}
			}
			r.Facts[i].Parts["salience"] = fact.Salience(f.Version, r.query.now, s.use.Of(f.Version))
		}
		r.Facts[i].SourceState = s.SourceState(f.Version, r.query.now)
	}
	if err == nil {
		r.Reminders, err = l.surfacing(ctx, &r.query)
	}
	if err == nil && (q.Query != "" || q.Key != "") && !q.Prompt {
		s.use.Note(r.ids())
	}
	if err == nil && r.firm() == 0 && q.Query != "" && q.Said != nil && r.Read == nil && !r.query.hasTime {
		r.Said = q.Said(ctx, q.Query)
	}
	if err == nil && len(r.Facts) == 0 && q.Nothing != nil {
		q.Nothing(ctx)
	}
	return r, err
}

func (q *Question) check() error {
	var err error
	q.Limit, err = refusal.Limit(q.Limit, defaultLimit)
	switch {
	case err != nil:
		return err
	case q.Offset < 0:
		return refusal.Argument("offset", "offset %d is negative", q.Offset)
	case q.Offset > 0 && strings.TrimSpace(q.Query) != "":
		return refusal.Argument("offset", "offset is for lists: what answers a query has an order, and a limit")
	case len(q.Query) > maxQuery:
		return refusal.Argument("query", "query has %d bytes, more than %d", len(q.Query), maxQuery)
	case !slices.Contains([]string{"", modeAuto, modeExact, modeLexical, modeSemantic, modeHybrid}, q.Mode):
		return refusal.Argument("mode", "mode %q is none of auto, exact, lexical, semantic, hybrid", prose.Clip(q.Mode, 40))
	}
	q.Query = strings.ToValidUTF8(q.Query, string(utf8.RuneError))
	if strings.TrimSpace(q.Query) == "" {
		q.Query = "" // a blank query is none
	}
	return nil
}

// lookup finds the answer to one question, which is checked.
type lookup struct {
	store    *Store
	question Question
	archived bool // only what is outside the active set may answer
	rules    bool // only what says how to work may

	parsed  *recall.Question // a question in words, taken apart
	meaning *questionMeaning // and as an encoder has it; nil: words alone decide
	pieces  *recall.Pieces   // of a prompt that facts are told beside; nil: it is a question
	matters []index.Term     // the words of what the prompt is about to do
	instant bool             // only an encoder that makes vectors at once
}

func (l *lookup) answer(ctx context.Context) (Recalled, error) {
	if l.question.Query != "" && l.question.Mode != modeExact {
		return l.search(ctx)
	}
	return l.list(ctx)
}

// query settles the instants a question is about.
func (l *lookup) query(now time.Time) (query, error) {
	q, clock := l.question, l.store.Now()
	f := query{Question: q, now: now, hasTime: q.AsOf != "" || q.KnownAt != "", archived: l.archived, rules: l.rules}
	f.filter = state.Filter{
		Category: q.Category, Key: q.Key, Tags: q.Tags, Now: now, AsOf: now,
		Archived: q.IncludeArchived || f.hasTime || q.Key != "" || q.Query != "", // all but lists of what is current
	}
	if q.AsOf != "" {
		t, err := args.ParseInstant("as_of", q.AsOf, clock, true)
		if err != nil {
			return f, err
		}
		f.filter.AsOf, f.asOf = t.Time, t.Text
	}
	if q.KnownAt != "" {
		t, err := args.ParseInstant("known_at", q.KnownAt, clock, true)
		if err != nil {
			return f, err
		}
		f.filter.Known = t.Time
		if q.AsOf == "" {
			f.filter.AsOf, f.asOf = t.Time, t.Text
		}
	}
	return f, nil
}

// listed is a fact of a list.
type listed struct {
	name fact.ID
	fact.Summary
	version  *fact.Version // nil: not read yet
	salience float64       // zero in a list of the latest
}

// list answers a question without words to rank by: a room or a key, ordered by salience, or the
// latest, by when they were confirmed. The summaries give the order, and of a list of what holds
// now only the facts that are shown are read.
func (l *lookup) list(ctx context.Context) (r Recalled, err error) {
	s, q := l.store, &l.question
	named := q.Query != ""
	if named {
		q.Key, q.Query = q.Query, ""
	}
	answer := func(k state.Reader, now time.Time, facts func(f *query, add func(fact.ID, fact.Summary, *fact.Version))) error {
		q.Category, q.Key = present(k, q.Category, q.Key)
		f, err := l.query(now)
		if err != nil {
			return err
		}
		f.named = named
		r = Recalled{query: f}
		latest := f.Category == "" && f.Key == ""
		var all []*listed
		add := func(n fact.ID, x fact.Summary, v *fact.Version) {
			if x.Archived && !f.filter.Archived {
				r.archived++
				return
			}
			one := &listed{n, x, v, 0}
			if !latest {
				one.salience = x.Salience(now, s.use.With(x.ID, x.Read))
			}
			all = append(all, one)
		}
		facts(&f, add)
		shown := first(all, f.Offset+f.Limit, func(a, b *listed) int {
			rank := cmp.Compare(b.salience, a.salience)
			if latest {
				rank = b.LastConfirmed.Compare(a.LastConfirmed)
			}
			return cmp.Or(later(a.Unconfirmed, b.Unconfirmed), rank, a.name.Compare(b.name), a.Period.From.Compare(b.Period.From), a.RecordedFrom.Compare(b.RecordedFrom), cmp.Compare(a.ID, b.ID))
		})
		for _, x := range shown[min(f.Offset, len(shown)):] {
			if x.version == nil {
				x.version = state.Version(k, x.name, x.ID)
			}
			if x.version != nil { // else the index cannot be read, and this is done again
				r.Facts = append(r.Facts, found(x.version, &f))
			}
		}
		if r.Total = len(all); r.Total > 0 {
			r.archived = 0
		}
		r.cut()
		if f.Key != "" {
			r.missingNamed(k)
		}
		return nil
	}
	if q.Key == "" && (q.AsOf != "" || q.KnownAt != "" || len(q.Tags) > 0) {
		err = s.View(ctx, func(st *state.State, now time.Time) error {
			return answer(st.Reader(), now, func(f *query, add func(fact.ID, fact.Summary, *fact.Version)) {
				all := f.filter
				all.Archived = true
				for n, v := range st.Matching(&all) {
					add(n, fact.Summarize(v), v)
				}
			})
		})
		return r, err
	}
	err = s.ViewSome(ctx, func(k state.Reader, now time.Time) error {
		return answer(k, now, func(f *query, add func(fact.ID, fact.Summary, *fact.Version)) {
			if f.Key != "" {
				for _, v := range state.MatchingNamed(k, &f.filter) {
					add(fact.IDOf(v.Category, v.Key), fact.Summarize(v), v)
				}
				return
			}
			room := fact.IDOf(f.Category, "").Category
			for n, x := range k.Summaries(now) {
				if x.Period.Contains(now) && (f.Category == "" || n.Category == room) {
					add(n, x, nil)
				}
			}
		})
	})
	return r, err
}

// later orders what is unconfirmed after the rest.
func later(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// first are the first n of a list in an order: few of many, so not all are sorted.
func first[T any](list []T, n int, order func(a, b T) int) (out []T) {
	for _, x := range list {
		out = keepFirst(out, x, n, order)
	}
	return out
}

// keepFirst adds an element to the first n of a list in an order.
func keepFirst[T any](out []T, x T, n int, order func(a, b T) int) []T {
	if len(out) == n && (n == 0 || order(x, out[n-1]) >= 0) {
		return out
	}
	i, _ := slices.BinarySearchFunc(out, x, order)
	out = slices.Insert(out, i, x)
	return out[:min(len(out), n)]
}

// search answers a question with words. One about the past is read first: see past.go.
func (l *lookup) search(ctx context.Context) (Recalled, error) {
	if q := &l.question; q.AsOf == "" && q.KnownAt == "" && !q.Prompt && !l.archived && q.Mode != modeSemantic {
		if words := language.Words(q.Query[:min(len(q.Query), maxDated)]); len(words) <= maxDatedWords {
			if span, ok := language.Impossible(words); ok {
				return l.undated(ctx, q.Query[span[0]:span[1]])
			}
		}
		now := l.store.Now()
		asks, ok := language.ReadPast(q.Query, now, now)
		if each := language.ReadSeveral(q.Query, now, now); ok || each != nil {
			return l.past(ctx, &asks, each)
		}
	}
	r, err := l.ordinary(ctx)
	if err == nil && r.firm() == 0 && len(r.Missing) == 0 && !r.query.hasTime && !l.archived && !l.question.Prompt && l.question.Mode != modeSemantic {
		err = l.former(ctx, &r)
	}
	return r, err
}

// A question is read for a date that does not exist if it is no longer than this.
const (
	maxDatedWords = 30
	maxDated      = 4 << 10 // bytes
)

// undated answers a question whose date does not exist: nothing was true then. Where a value holds what looks like such a date,
// it is what is looked for.
func (l *lookup) undated(ctx context.Context, date string) (Recalled, error) {
	r, err := l.ordinary(ctx)
	if err == nil && (r.firm() == 0 || !fact.HoldsTerms(r.Facts[0].Key+" "+r.Facts[0].Value, date)) {
		r = Recalled{query: r.query, Impossible: date}
		r.cut()
	}
	return r, err
}

// ordinary answers a question about the present, or about a date: package recall ranks what the index finds
// by words and the vectors by meaning. A date in the question is taken for as_of
// unless that finds nothing, or a stored value holds that date.
func (l *lookup) ordinary(ctx context.Context) (Recalled, error) {
	s, q := l.store, l.question
	if s.opts.Encoders == nil && q.Mode == modeSemantic {
		return Recalled{}, refusal.Argument("mode", "mode semantic needs vectors, and this store has none: use mode=auto")
	}
	var newest time.Time
	if err := s.ViewSome(ctx, func(k state.Reader, now time.Time) error { newest = k.At; return nil }); err != nil {
		return Recalled{}, err
	}
	o := recall.Options{Now: s.Now(), Newest: newest, NoDates: q.AsOf != "" || q.KnownAt != "" || q.Prompt}
	l.parsed = recall.Parse(q.Query, &o)
	dated := *l
	if d := l.parsed.Date; d != nil {
		dated.question.AsOf = d.Day()
	}
	r, held, err := dated.rank(ctx)
	if err != nil || l.parsed.Date == nil {
		return r, err
	}
	if len(r.Facts) > 0 && !held {
		if d := l.parsed.Date; len(d.Also) > 0 {
			err = l.also(ctx, &r, d.Also)
		} else if d.Period() && r.firm() > 0 {
			err = s.ViewSome(ctx, func(k state.Reader, _ time.Time) error {
				r.withinPeriod(d.From, func(f *Found) []*fact.Version { return k.Versions(fact.IDOf(f.Category, f.Key)) })
				return nil
			})
		}
		r.DateRead = r.query.asOf
		return r, err
	}
	o.NoDates = true
	l.parsed = recall.Parse(q.Query, &o)
	r, _, err = l.rank(ctx)
	r.query.dateDropped = !held
	return r, err
}

// maxAlso is at how many other dates a question is answered that names several.
const maxAlso = 3

// also adds to an answer as of a date what else was true at the other dates of the question, beside what each fact was at the
// first one.
func (l *lookup) also(ctx context.Context, r *Recalled, dates []language.Date) error {
	for _, d := range dates[:min(len(dates), maxAlso)] {
		one := *l
		one.question.AsOf = d.Day()
		found, _, err := one.rank(ctx)
		if err != nil {
			return err
		}
		r.query.asOf += " and " + d.Day()
		for _, f := range found.Facts[:found.firm()] {
			if slices.ContainsFunc(r.Facts, func(x Found) bool { return x.ID == f.ID }) {
				continue
			}
			at := r.firm()
			if i := slices.IndexFunc(r.Facts, func(x Found) bool { return !x.Maybe && x.Category == f.Category && x.Key == f.Key }); i >= 0 {
				for at = i + 1; at < r.firm() && r.Facts[at].Category == f.Category && r.Facts[at].Key == f.Key; at++ {
				}
				f.Score = r.Facts[i].Score
			} else if at > 0 {
				f.Score = min(f.Score, r.Facts[at-1].Score)
			}
			r.Facts = slices.Insert(r.Facts, at, f)
			r.Total++
		}
	}
	r.cut()
	return nil
}

// maxCandidates is how many hits by words, and how many by meaning, are ranked.
const maxCandidates = 50

// rank answers a question that was taken apart. held tells that a value holds the date that the
// question names.
func (l *lookup) rank(ctx context.Context) (r Recalled, held bool, err error) {
	parsed, s := l.parsed, l.store
	l.rules = l.question.Prompt && parsed.Steers()
	err = l.find(ctx, func(f query, c *candidates) {
		r = Recalled{query: f}
		held = parsed.Date != nil && slices.ContainsFunc(c.versions, func(v *fact.Version) bool { return parsed.Date.Mentions(v.Value) })
		c.answer(&r, parsed, l.meaning)
		r.missingIn(parsed, c.valueless)
	})
	if x := s.log.IndexStatus(); s.opts.LongLived && !x.Newer && (!x.Stored || x.Pending > 4*syncTail) {
		s.work.wake()
	}
	return r, held, err
}

// find gives use the facts that may answer, for as long as it runs. It may do so twice. If the kept
// vectors prove to be damaged they count as absent, so it begins again without them.
func (l *lookup) find(ctx context.Context, use func(query, *candidates)) error {
	for {
		if err := l.findOnce(ctx, use); !errors.Is(err, vectors.ErrDamaged) {
			return err
		}
	}
}

func (l *lookup) findOnce(ctx context.Context, use func(query, *candidates)) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if l.meaning, err = l.encode(ctx); err != nil {
		return err
	}
	if m := l.meaning; m != nil && m.nearest != nil {
		defer func() { cancel(); _, _ = m.nearest() }() // it ends before this does, also after an error
	}
	space := spaces.Get().(*vectors.Space)
	defer spaces.Put(space)
	return l.store.log.Search(ctx, func(k state.Reader, x *state.Index) error {
		f, err := l.query(l.store.at(k.At))
		if err != nil {
			return err
		}
		space.Reset()
		c, err := l.candidates(ctx, k, x, &f, space)
		if err == nil {
			use(f, c)
		}
		return err
	})
}

// spaces hold the vectors of candidates while they are ranked.
var spaces = sync.Pool{New: func() any { return &vectors.Space{} }}

// candidates are the facts that may answer, each once.
type candidates struct {
	versions  []*fact.Version
	words     int // how many of them were found by words, the first ones
	ranked    []recall.Candidate
	readings  []*reading        // of the versions, in a server
	valueless [][]*fact.Version // facts found by words that have no value at the question's instant
	more      bool              // not all that the words are in was looked at
	practice  []*fact.Version   // what a user demands that the words of the lookup's purposes are in
}

// resolve says what the words of the question count in a corpus.
func (l *lookup) resolve(c recall.Corpus) error {
	err := l.parsed.Resolve(c)
	if l.pieces != nil && err == nil {
		err = l.pieces.Resolve(c)
	}
	return err
}

func (l *lookup) candidates(ctx context.Context, k state.Reader, x *state.Index, f *query, space *vectors.Space) (*candidates, error) {
	parsed, m := l.parsed, l.meaning
	c, seen := &candidates{}, map[string]bool{}
	add := func(v *fact.Version) {
		if v != nil && !seen[v.ID] && f.filter.Matches(k, v) && (!f.archived || v.ArchivedAt != nil) && (!f.rules || fact.IsRule(v)) {
			seen[v.ID] = true
			c.versions = append(c.versions, v)
		}
	}
	if err := l.resolve(corpus{ctx, x}); err != nil {
		return nil, err
	}
	if m == nil || !m.only {
		boosts := index.DefaultBoosts
		if f.hasTime || parsed.Past {
			boosts[index.Former] = 1
		}
		query := index.Query{Boosts: boosts, Category: formats.FoldName(f.Category), Limit: max(maxCandidates, f.Limit)}
		for _, t := range f.Tags {
			query.Tags = append(query.Tags, formats.FoldName(t))
		}
		for _, w := range parsed.Words() {
			query.Terms = append(query.Terms, index.Term(w))
		}
		hits, err := x.Search(ctx, query)
		// What others wrote for this very question must not keep out what was said here.
		c.more = len(hits) >= query.Limit
		if err == nil && c.more && foreign(x, hits) > len(hits)/4 {
			query.Confirmed = true
			var own []index.Hit
			own, err = x.Search(ctx, query)
			if hits = appendHits(hits, own); err == nil && len(own) > 0 {
				err = l.resolve(confirmedCorpus{corpus{ctx, x}})
			}
		}
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			vs, before := x.Versions(h.ID), len(c.versions)
			for _, v := range vs {
				add(v)
			}
			if len(vs) > 0 && len(c.versions) == before {
				c.valueless = append(c.valueless, vs)
			}
		}
	}
	if len(l.matters) > 0 {
		hits, err := x.Search(ctx, index.Query{Boosts: index.DefaultBoosts, Terms: l.matters, Limit: 2 * maxCandidates})
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			for _, v := range x.Versions(h.ID) {
				if fact.ByUser(v) && !fact.Unconfirmed(v) && f.filter.Matches(k, v) {
					c.practice = append(c.practice, v)
				}
			}
		}
	}
	c.words = len(c.versions)
	if m != nil && m.nearest != nil {
		near, err := m.nearest()
		if err != nil {
			return nil, err
		}
		for _, t := range m.tail { // too few to be kept yet: all are candidates
			near = append(near, vectors.Hit{ID: t.ID})
		}
		for _, n := range near {
			id := meaning.VersionOf(n.ID)
			if seen[id] {
				continue
			}
			v, err := x.Version(ctx, id)
			if err != nil {
				return nil, err
			}
			if add(v); len(c.versions) >= c.words+maxCandidates {
				break
			}
		}
	}
	c.ranked = make([]recall.Candidate, 0, len(c.versions))
	l.store.caches.follow(k)
	read := 0
	for _, v := range c.versions[:c.words] {
		read += len(v.Value)
	}
	c.more = c.more || read > recall.MaxRead
	for _, v := range c.versions {
		x := candidateOf(v)
		if l.question.Prompt {
			x.Value = prose.Clip(x.Value, maxUnasked)
		}
		since, _ := state.PeriodNow(k, v, f.now)
		x.Since = since.From
		if l.store.opts.LongLived {
			r := l.store.caches.readings.of(v)
			x.Reading, c.readings = r.Reading, append(c.readings, r)
		}
		c.ranked = append(c.ranked, x)
	}
	if m == nil {
		return c, nil
	}
	if l.pieces == nil {
		return c, c.addVectors(ctx, &l.store.vectors, m.encoder, space, 0)
	}
	inTime, cancel := half(ctx)
	defer cancel()
	err := c.addVectors(inTime, &l.store.vectors, m.encoder, space, maxUnasked)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil { // words alone are better than nothing
		l.meaning, err = nil, nil
	}
	return c, err
}

// maxUnasked is how many bytes of a value are read where nobody asked: a hook has no time, and what a value is about
// stands at its beginning.
const maxUnasked = 2 << 10

// maxUnaskedWords is how many bytes of it are looked through for words, as far as the index on disk lacks it: a file may be
// named later in a value.
const maxUnaskedWords = 8 << 10

// half is a context that ends when half of what is left of its time is over.
func half(ctx context.Context) (context.Context, context.CancelFunc) {
	end, limited := ctx.Deadline()
	if !limited {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(end)/2)
}

// appendHits appends the hits that the list has not.
func appendHits(list, more []index.Hit) []index.Hit {
	for _, h := range more {
		if !slices.ContainsFunc(list, func(x index.Hit) bool { return x.ID == h.ID }) {
			list = append(list, h)
		}
	}
	return list
}

// foreign counts the hits of which nobody has confirmed anything here.
func foreign(x *state.Index, hits []index.Hit) (n int) {
	for _, h := range hits {
		if vs := x.Versions(h.ID); len(vs) > 0 && !slices.ContainsFunc(vs, func(v *fact.Version) bool { return !fact.Unconfirmed(v) }) {
			n++
		}
	}
	return n
}

// rank ranks the candidates: what was said here by itself, since a fact that others wrote for the
// question would take the probability of all others. Firm answers come first, and of those what is
// confirmed.
func (c *candidates) rank(parsed *recall.Question, m *recall.Meaning) (answers []recall.Answer) {
	var groups [2][]int
	for i, v := range c.versions {
		if fact.Unconfirmed(v) {
			groups[1] = append(groups[1], i)
		} else {
			groups[0] = append(groups[0], i)
		}
	}
	if len(groups[0]) == 0 || len(groups[1]) == 0 {
		return parsed.Rank(c.ranked, m)
	}
	for _, group := range groups {
		some := make([]recall.Candidate, len(group))
		for i, at := range group {
			some[i] = c.ranked[at]
		}
		for _, a := range parsed.Rank(some, m) {
			a.Index = group[a.Index]
			if a.Outdated >= 0 {
				a.Outdated = group[a.Outdated]
			}
			answers = append(answers, a)
		}
	}
	slices.SortStableFunc(answers, func(a, b recall.Answer) int { return later(a.Maybe, b.Maybe) })
	for i := 1; i < len(answers); i++ {
		answers[i].Score = min(answers[i].Score, answers[i-1].Score)
	}
	return answers
}

// candidateOf is a version as it is ranked, without its time and its vectors.
func candidateOf(v *fact.Version) recall.Candidate {
	return recall.Candidate{
		Category: v.Category, Key: v.Key, Aliases: v.Aliases, Value: fact.Text(v), Questions: strings.Join(v.Questions, "\n"), Dormant: v.ArchivedAt != nil,
	}
}

// addVectors gives the candidates their vectors. Those of names are made where that
// takes no time: they are not kept. Of a text that has none yet, most bytes are encoded; 0: as many as of any.
func (c *candidates) addVectors(ctx context.Context, x *vectorSync, e vectors.Encoding, space *vectors.Space, most int) error {
	n := len(c.versions)
	texts := make([]vectors.Text, 0, n)
	to := make([]*[]float32, 0, n)          // where each goes
	versions := make([]*fact.Version, 0, n) // of each text
	var names []string
	if e.Instant { // those of names are not kept
		names = make([]string, 0, n)
	}
	for i, v := range c.versions {
		r := &c.ranked[i]
		text, name := vectors.Text{ID: v.ID}, ""
		if c.readings != nil {
			text.Sum, name = c.readings[i].sum, c.readings[i].name
		} else {
			text, name = meaning.Of(v), meaning.OfName(v)
			if most > 0 {
				text.Text = prose.Clip(text.Text, most)
			}
		}
		texts, to = append(texts, text), append(to, &r.Vector)
		versions = append(versions, v)
		if t, ok := meaning.OfQuestions(v); ok {
			texts, to = append(texts, t), append(to, &r.QuestionsVector)
			versions = append(versions, v)
		}
		if e.Instant {
			names = append(names, name)
		}
	}
	found, err := x.of(ctx, e, texts, func(i int) string {
		if texts[i].Text != "" {
			return texts[i].Text
		}
		return meaning.Of(versions[i]).Text
	}, space)
	for i, v := range found {
		*to[i] = v
	}
	if err == nil && e.Instant {
		err = x.make(ctx, e, names, space, func(i int, v []float32) { c.ranked[i].Name = v })
	}
	return err
}

// minUnasked is the probability from which a prompt gets a second and third fact. It is high
// because nobody asked for them.
const minUnasked = .1

// answer ranks the candidates and puts the answers into r. r names the encoder if words alone
// would not have found what is shown.
func (c *candidates) answer(r *Recalled, parsed *recall.Question, m *questionMeaning) {
	r.compared, r.More = c.versions, c.more
	answers := c.rank(parsed, m.compared())
	r.Facts = make([]Found, 0, len(answers))
	for _, a := range answers {
		if r.query.Prompt && (a.Maybe || len(r.Facts) > 0 && (a.Score < minUnasked || a.Outdated >= 0)) {
			continue // a prompt's facts have no marks, and an outdated one would stand for what holds
		}
		x := found(c.versions[a.Index], &r.query)
		x.Score, x.Maybe, x.Semantic, x.coverage = a.Score, a.Maybe, a.Cosine, a.Coverage
		if r.query.Explain {
			x.Parts = map[string]float64{"words": a.Words, "coverage": a.Coverage, "cosine": a.Cosine}
		}
		if len(r.Facts) < r.query.Limit && (a.Index >= c.words || m != nil && m.only) {
			r.Encoder = m.encoder.Name
		}
		r.Facts = append(r.Facts, x)
	}
	r.cut()
}

// questionMeaning is a question as an encoder has it.
type questionMeaning struct {
	encoder vectors.Encoding
	vectors [][]float32
	each    [][]float32                   // the same of all texts in their order, nil for one of which the encoder knows no word
	nearest func() ([]vectors.Hit, error) // waits for the hits among what is kept; nil: there is none
	tail    []vectors.Text                // what is too new to be kept
	only    bool                          // words do not count
}

// compared is the question as package recall compares it; nil: by words alone.
func (m *questionMeaning) compared() *recall.Meaning {
	if m == nil {
		return nil
	}
	return &recall.Meaning{Vectors: m.vectors, Only: m.only, Transformer: !m.encoder.Instant}
}

// maxNear is how many of the nearest vectors are read. Some belong to versions that no longer
// hold, or to another room.
const maxNear = 4 * maxCandidates

// encode encodes a question and searches the stored vectors, with the best encoder that is
// available. It returns nil if words alone decide. A command loads an installed model only for
// mode semantic or hybrid. For a long task the built-in encoder finds as much. For a past time
// there are no vectors, so only the hits by words are compared.
func (l *lookup) encode(ctx context.Context) (*questionMeaning, error) {
	s, q, parsed := l.store, &l.question, l.parsed
	if s.opts.Encoders == nil || q.Mode == modeLexical {
		return nil, nil
	}
	wanted := q.Mode == modeSemantic || q.Mode == modeHybrid
	past := q.AsOf != "" || q.KnownAt != ""
	var failed error
	for _, e := range s.opts.Encoders.Usable(true) {
		if !e.Instant && (past || l.instant || !wanted && (parsed.Long || !s.opts.LongLived)) {
			continue
		}
		if e.Instant && !s.vectors.knows(e.Name, parsed.Texts) {
			continue // and no vectors are read
		}
		tail, ready, err := s.vectors.ready(ctx, e, wanted)
		if err != nil {
			return nil, err
		}
		if !ready && !e.Instant {
			continue
		}
		question, err := s.vectors.ask(ctx, e.Name, parsed.Texts)
		if err != nil {
			s.opts.Logger.Debug("a question has no vector", "encoder", e.Name, "error", err)
			failed = cmp.Or(failed, err)
			continue
		}
		each := question
		question = slices.DeleteFunc(slices.Clone(each), func(v []float32) bool { return v == nil })
		if len(question) == 0 {
			continue
		}
		m := &questionMeaning{encoder: e, vectors: question, each: each, only: q.Mode == modeSemantic}
		if ready && !past {
			m.nearest, m.tail = s.vectors.nearest(ctx, e.Name, question), tail
		}
		return m, nil
	}
	if q.Mode == modeSemantic { // words are no answer to it
		return &questionMeaning{only: true}, failed
	}
	return nil, nil
}

// corpus is the index as package recall asks it.
type corpus struct {
	ctx context.Context
	*state.Index
}

func (c corpus) Size() recall.Size {
	return recall.Size{
		Facts: c.Count(), Key: c.Length(index.Key) + c.Length(index.Aliases), Questions: c.Length(index.Questions),
		Value: c.Length(index.Value), Category: c.Length(index.Category),
	}
}

func (c corpus) Frequencies(words []string) ([]int, error) { return c.Index.Frequencies(c.ctx, words) }

// confirmedCorpus counts the words of what is confirmed: others could make each word a common one.
type confirmedCorpus struct{ corpus }

func (c confirmedCorpus) Frequencies(words []string) ([]int, error) {
	counts, err := c.corpus.Frequencies(words)
	for i, w := range words {
		if err != nil || counts[i] <= maxCandidates {
			continue
		}
		var hits []index.Hit
		hits, err = c.Search(c.ctx, index.Query{Terms: []index.Term{{Text: w}}, Confirmed: true, Limit: maxCandidates})
		if n := len(hits); n > 0 && n < maxCandidates {
			counts[i] = n
		}
	}
	return counts, err
}

func (c corpus) Words(prefix string) (map[string]int, error) { return c.Index.Words(c.ctx, prefix) }
