package search

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"leanctx/knowledge/search/index"
	"leanctx/knowledge/words"
)

// Floor is the relevance that the best fact of an answer has at least: under it there is no answer. A
// further fact is listed after it from Trail on. Both were chosen by measurement; see the package's doc.
const (
	Floor = .30
	Trail = .10
)

// defaultLimit is how many hits a query gets that names no number.
const defaultLimit = 10

// maxLimit is more than there will ever be facts.
const maxLimit = 1 << 30

// Query is a search by words.
type Query struct {
	Text    string // text, never syntax
	Limit   int    // most hits wanted; 0 or less: 10
	Explain bool
	Exact   bool // only the words themselves, none like them: cheaper, for a text that is long
}

// Hit is a fact found.
type Hit struct {
	ID        string
	Relevance float64            // 0..1: how much of the query the fact covers; 1 where the query is its name
	Score     float64            // BM25 over the fields: the order within one answer, of no meaning between two
	Named     bool               // the query is its name, or has the words of its name: it comes first whatever else is known
	Parts     map[string]float64 // field:word → its share of Score, "name" → 1 or 2; only where asked to explain
}

// Search finds the facts that the query's words speak of, best first: those whose key, category/key or alias
// is the query, then by score; equals by category and key, then by ID. Facts that keep refuses are as if they
// were not there; a nil keep refuses none. An id that keep is given is part of the index's memory: what is to
// last is to be copied. total counts all that would be given without a limit. A query
// without words finds nothing.
func (x *Index) Search(ctx context.Context, q Query, keep func(id string) bool) (hits []Hit, total int, err error) {
	p := parse(q.Text)
	if len(p.terms) == 0 && p.folded == "" {
		return nil, 0, nil
	}
	p.exact = q.Exact
	err = x.View(func(sources []index.Source) (err error) {
		a := attempt{sources, &x.tune, p, q}
		more := false
		if hits, total, more, err = a.run(ctx, false, keep); err == nil && total == 0 && more {
			hits, total, _, err = a.run(ctx, true, keep)
		}
		return err
	})
	return hits, total, err
}

// attempt is a query and what it is looked for in.
type attempt struct {
	sources []index.Source
	tune    *tuning
	parsed  *parsed
	query   Query
}

// run is a search: wide expands words that the index has, too. more: a wide one may find what this did not.
func (a *attempt) run(ctx context.Context, wide bool, keep func(string) bool) (hits []Hit, total int, more bool, err error) {
	r := newSearch(a.sources, a.tune)
	defer r.free()
	if err := r.run(ctx, a.parsed, wide); err != nil {
		return nil, 0, false, err
	}
	limit := min(a.query.Limit, maxLimit)
	if limit <= 0 {
		limit = defaultLimit
	}
	best, total, err := r.answers(keep, limit)
	if err != nil {
		return nil, 0, false, err
	}
	if total == 0 {
		more, err = r.widens()
		return nil, 0, more && !wide, err
	}
	hits, err = r.hits(ctx, best, a.query.Explain)
	return hits, total, false, err
}

// widens reports whether a wide search looks at more words than this one did: those that the index has, and
// those too short to be stood for otherwise.
func (r *search) widens() (bool, error) {
	for _, t := range r.query.terms {
		if r.query.exact || t.kind == words.Whole {
			continue
		}
		if possible(words.Prefixed, t.term, true) != possible(words.Prefixed, t.term, false) {
			return true, nil
		}
		if df, err := r.count(t.term, index.FieldCount); err != nil || df > 0 {
			return true, err
		}
	}
	return false, nil
}

// candidate is a fact that may be an answer. There may be very many: it is kept small.
type candidate struct {
	doc   uint32
	score float32
	in    uint16 // the source
	tier  uint8
}

// found is a fact of the answer.
type found struct {
	candidate
	index.Ident
}

func byScore(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.tier, a.tier), cmp.Compare(b.score, a.score))
}

// compareFound is the order of answers: score, then name, then id.
func compareFound(a, b found) int {
	return cmp.Or(byScore(a.candidate, b.candidate), strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
}

// answers are the facts to give, limit at most, in order, and how many there are without the limit; none
// where the best is not good enough.
func (r *search) answers(keep func(string) bool, limit int) (best []found, total int, err error) {
	trail, floor := r.share(r.tune.trail), r.share(r.tune.floor)
	if possible, good := r.counted(trail, floor); !good || possible == 0 {
		return nil, 0, nil // whatever keep says
	}
	answered := false
	top := leading{search: r, limit: limit}
	for i, s := range r.found {
		for _, doc := range s.seen {
			covered := r.covered(s, doc)
			if covered < trail {
				continue
			}
			if keep != nil {
				id, err := s.source.ID(doc)
				if err != nil {
					return nil, 0, err
				}
				if !keep(id) {
					continue
				}
			}
			answered = answered || covered >= floor
			total++
			if err := top.offer(candidate{doc, s.rank[doc], uint16(i), s.tier[doc]}); err != nil {
				return nil, 0, err
			}
		}
	}
	if !answered {
		return nil, 0, nil
	}
	return top.best(), total, nil
}

// counted is how many facts are worth listing at most, and whether any is worth an answer, before any of them
// is looked at.
func (r *search) counted(trail, floor float64) (possible int, good bool) {
	for _, s := range r.found {
		for _, doc := range s.seen {
			if covered := r.covered(s, doc); covered >= trail {
				possible++
				good = good || covered >= floor
			}
		}
	}
	return possible, good
}

// leading keeps the best of many candidates. Names are looked up only of those that may be among them.
type leading struct {
	search *search
	limit  int
	list   []found
	full   bool // list[limit-1] is known to be the last that may come in
}

func (l *leading) offer(c candidate) error {
	if l.full && byScore(c, l.list[l.limit-1].candidate) > 0 {
		return nil
	}
	who, err := l.search.found[c.in].source.Identify(c.doc)
	if err != nil {
		return err
	}
	f := found{c, who}
	if l.full && compareFound(f, l.list[l.limit-1]) > 0 {
		return nil
	}
	if l.list = append(l.list, f); len(l.list) >= 2*l.limit {
		l.list = l.best()
		l.full = true
	}
	return nil
}

// best gives what is kept, in order.
func (l *leading) best() []found {
	slices.SortFunc(l.list, compareFound)
	return l.list[:min(l.limit, len(l.list))]
}

// hits makes the answer; explained ones take a second run that notes where the scores come from.
func (r *search) hits(ctx context.Context, best []found, explain bool) ([]Hit, error) {
	if explain {
		if err := r.explain(ctx, best); err != nil {
			return nil, err
		}
	}
	out := make([]Hit, len(best))
	for i, c := range best {
		out[i] = Hit{ID: strings.Clone(c.ID), Relevance: r.relevance(r.found[c.in], c.doc), Score: float64(c.score), Named: c.tier > 0}
		if explain {
			out[i].Parts = r.parts(c.candidate)
		}
	}
	return out, nil
}
