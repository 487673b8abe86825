package knowledge

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Question asks for facts. Category and key filter, the query ranks; any may
// be given together, none asks for what was confirmed last.
type Question struct {
	Query           string `json:"query,omitempty" arg:"1" jsonschema:"words to look for"`
	Category        string `json:"category,omitempty" short:"c" jsonschema:"only this room; alone: list the room"`
	Key             string `json:"key,omitempty" short:"k" jsonschema:"only the fact of exactly this key or alias"`
	Mode            string `json:"mode,omitempty" enum:"auto,exact,lexical,semantic,hybrid" jsonschema:"how to search (default auto)"`
	AsOf            string `json:"as_of,omitempty" jsonschema:"what was true then: RFC 3339, a day (its end, UTC) or an age such as 3d"`
	KnownAt         string `json:"known_at,omitempty" jsonschema:"by what was recorded until then"`
	Limit           int    `json:"limit,omitempty" jsonschema:"most facts to show (default 10)"`
	IncludeArchived bool   `json:"include_archived,omitempty" jsonschema:"also facts outside the active set"`
	Explain         bool   `json:"explain,omitempty" jsonschema:"show the parts of each score"`
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

// frame is a checked question and the instants it is about.
type frame struct {
	Question
	held    state.Filter // what may be an answer, the query aside
	asked   string       // as_of as given, "" for now
	now     time.Time
	timeful bool // as_of or known_at was given
	named   bool // the query is the key: mode exact
}

// Recall gives back the facts that answer a question, best first. Only facts
// believed valid at the instant asked about are answers. Finding nothing is an
// answer, not an error. Reading changes no fact.
func (s *Store) Recall(ctx context.Context, q Question) (Recalled, error) {
	if err := q.check(); err != nil {
		return Recalled{}, err
	}
	s.use.Refresh()
	var r Recalled
	var err error
	if strings.TrimSpace(q.Query) != "" && q.Mode != modeExact {
		r, err = s.search(ctx, q)
	} else {
		r, err = s.list(ctx, q)
	}
	if err == nil {
		r.Reminders, err = s.surfacing(ctx, &r.frame)
	}
	if err == nil && (q.Query != "" || q.Key != "") {
		s.use.Note(r.ids())
	}
	return r, err
}

func (q *Question) check() error {
	var err error
	q.Limit, err = refusal.Limit(q.Limit, defaultLimit)
	switch {
	case err != nil:
		return err
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

// frame settles the instants a question is about.
func (q Question) frame(now, clock time.Time) (frame, error) {
	f := frame{Question: q, now: now, timeful: q.AsOf != "" || q.KnownAt != ""}
	f.held = state.Filter{
		Category: q.Category, Key: q.Key, AsOf: now, Known: now,
		Archived: q.IncludeArchived || f.timeful || q.Key != "", // asked about another time, or by their exact key
	}
	if q.AsOf != "" {
		t, err := fact.ParseInstant("as_of", q.AsOf, clock, true)
		if err != nil {
			return f, err
		}
		f.held.AsOf, f.asked = t.Time, t.Text
	}
	if q.KnownAt != "" {
		t, err := fact.ParseInstant("known_at", q.KnownAt, clock, true)
		if err != nil {
			return f, err
		}
		f.held.Known = t.Time
		if q.AsOf == "" {
			f.held.AsOf, f.asked = t.Time, t.Text
		}
	}
	return f, nil
}

// holds reports whether v is an answer to f, its query aside; archived: though
// it be outside the active set.
func (f *frame) holds(v *fact.Version, archived bool) bool {
	in := f.held
	in.Archived = in.Archived || archived
	return in.Matches(v)
}

// list answers a question without words to rank by: a room, a key, the latest.
func (s *Store) list(ctx context.Context, q Question) (Recalled, error) {
	var r Recalled
	err := s.View(ctx, func(st *state.State, now time.Time) error {
		named := q.Query != ""
		if named {
			q.Key, q.Query = q.Query, ""
		}
		f, err := q.frame(now, s.Now())
		if err != nil {
			return err
		}
		f.named = named
		vs := matching(st, &f)
		s.order(vs, &f)
		r = Recalled{frame: f, Total: len(vs)}
		if len(vs) == 0 && !f.held.Archived {
			all := f
			all.held.Archived = true
			r.outside = len(matching(st, &all))
		}
		for _, v := range vs[:min(f.Limit, len(vs))] {
			r.Facts = append(r.Facts, found(v, &f))
		}
		r.cut()
		return nil
	})
	return r, err
}

// matching lists the versions a frame holds, not all of them whole; a named
// fact is looked up.
func matching(st *state.State, f *frame) []*fact.Version {
	var out []*fact.Version
	keep := func(vs []*fact.Version) {
		for _, v := range vs {
			if f.holds(v, false) {
				out = append(out, v)
			}
		}
	}
	if f.Category != "" && f.Key != "" {
		if keep(st.Versions(fact.IDOf(f.Category, f.Key))); len(out) > 0 {
			return out
		}
	}
	for _, v := range st.Matching(&f.held) {
		out = append(out, v)
	}
	if f.Category != "" || f.Key != "" {
		keep(st.Lessons())
	}
	return out
}

// order puts a listing in the order people expect: a room by salience, the
// latest by when they were confirmed; ties by name.
func (s *Store) order(vs []*fact.Version, f *frame) {
	latest := f.Category == "" && f.Key == ""
	slices.SortFunc(vs, func(a, b *fact.Version) int {
		if latest {
			return cmp.Or(b.LastConfirmed.Compare(a.LastConfirmed), fact.ByName(a, b))
		}
		return cmp.Or(cmp.Compare(s.salience(b, f.now), s.salience(a, f.now)), fact.ByName(a, b))
	})
}

func (s *Store) salience(v *fact.Version, t time.Time) float64 {
	return fact.Salience(v, t, s.use.Of(v))
}

// search answers a question with words. System 1 is the text index over
// active facts, put into order by meaning; when it has nothing, or only weak
// hits, System 2 looks at all vectors and at the archive, in place. Questions
// about another time are answered by words alone, since only what holds now has
// vectors.
func (s *Store) search(ctx context.Context, q Question) (Recalled, error) {
	semantic := s.opts.Semantic != nil && q.Mode != modeLexical && q.AsOf == "" && q.KnownAt == ""
	if !semantic && q.Mode == modeSemantic && s.opts.Semantic == nil {
		return Recalled{}, refusal.Argument("mode", "mode semantic needs vectors, and this store has none: use mode=auto")
	}
	ask := func(archive bool) (Recalled, error) {
		if semantic {
			return s.searchBy(ctx, q, archive)
		}
		return s.ranked(ctx, q, archive, nil)
	}
	hits, err := ask(false)
	if err != nil || len(hits.Facts) > 0 || !hits.archived || q.Mode == modeLexical && !q.IncludeArchived {
		return hits, err
	}
	return ask(true)
}
