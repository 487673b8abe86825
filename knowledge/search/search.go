package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Floor is the relevance that the best fact of an answer has at least: under it there is no answer. A
// further fact is listed after it from Trail on. Both were chosen by measurement; see the package's doc.
const (
	Floor = .30
	Trail = .10
)

// defaultLimit is how many hits a query gets that names no number.
const defaultLimit = 10

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
	Parts     map[string]float64 // field:word → its share of Score, "name" → 1 or 2; only where asked to explain
}

// Search finds the facts that the query's words speak of, best first: those whose key, category/key or alias
// is the query, then by score; equals by category and key, then by ID. Facts that keep refuses are as if they
// were not there; a nil keep refuses none. total counts all that would be given without a limit. A query
// without words finds nothing.
func (x *Index) Search(ctx context.Context, q Query, keep func(id string) bool) (hits []Hit, total int, err error) {
	p := parse(q.Text)
	if len(p.terms) == 0 && p.folded == "" {
		return nil, 0, nil
	}
	p.exact = q.Exact
	x.mu.RLock()
	defer x.mu.RUnlock()
	defer guard(&err)
	for _, wide := range []bool{false, true} {
		if wide && q.Exact {
			break
		}
		hits, total, err := x.try(ctx, p, wide, q, keep)
		if err != nil || total > 0 {
			return hits, total, err
		}
	}
	return nil, 0, nil
}

// try is a search: wide expands words that the index has, too.
func (x *Index) try(ctx context.Context, p *parsed, wide bool, q Query, keep func(string) bool) ([]Hit, int, error) {
	r := newSearch(x.sources(), &x.tune)
	defer r.free()
	if err := r.run(ctx, p, wide); err != nil {
		return nil, 0, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	best, total, err := r.answers(keep, limit)
	if err != nil || total == 0 {
		return nil, 0, err
	}
	hits, err := r.hits(ctx, best, q.Explain)
	return hits, total, err
}

// candidate is a fact that may be an answer. There may be very many: it is kept small.
type candidate struct {
	doc   uint32
	score float32
	in    uint8 // the source
	tier  uint8
}

// found is a fact of the answer.
type found struct {
	candidate
	ident
}

func byScore(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.tier, a.tier), cmp.Compare(b.score, a.score))
}

// answers are the facts to give, limit at most, in order, and how many there are without the limit; none
// where the best is not good enough.
func (r *search) answers(keep func(string) bool, limit int) (best []found, total int, err error) {
	trail, floor := r.share(r.tune.trail), r.share(r.tune.floor)
	answered := false
	var all []candidate
	for i, s := range r.found {
		for _, doc := range s.seen {
			covered := r.covered(s, doc)
			if covered < trail {
				continue
			}
			if keep != nil {
				id, err := s.source.id(doc)
				if err != nil {
					return nil, 0, err
				}
				if !keep(id) {
					continue
				}
			}
			answered = answered || covered >= floor
			all = append(all, candidate{doc, s.rank[doc], uint8(i), s.tier[doc]})
		}
	}
	if !answered {
		return nil, 0, nil
	}
	best, err = r.first(all, limit)
	return best, len(all), err
}

// first gives the best limit of all, in order. Those that score like the last of them are taken into the
// sorting, since their names decide.
func (r *search) first(all []candidate, limit int) ([]found, error) {
	total := len(all)
	if limit < total {
		last := nth(all, limit)
		all = slices.DeleteFunc(all, func(c candidate) bool { return byScore(c, last) > 0 })
	}
	out := make([]found, len(all))
	for i, c := range all {
		who, err := r.found[c.in].source.identify(c.doc)
		if err != nil {
			return nil, err
		}
		out[i] = found{c, who}
	}
	slices.SortFunc(out, func(a, b found) int {
		return cmp.Or(byScore(a.candidate, b.candidate), strings.Compare(a.name, b.name), strings.Compare(a.id, b.id))
	})
	return out[:min(limit, total)], nil
}

// nth finds the n-th best of all without putting them in order.
func nth(all []candidate, n int) candidate {
	if n > 1000 {
		sorted := slices.SortedFunc(slices.Values(all), byScore)
		return sorted[n-1]
	}
	best := make([]candidate, 0, n+1)
	for _, c := range all {
		if len(best) == n && byScore(c, best[n-1]) >= 0 {
			continue
		}
		i, _ := slices.BinarySearchFunc(best, c, byScore)
		best = slices.Insert(best, i, c)
		best = best[:min(n, len(best))]
	}
	return best[n-1]
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
		out[i] = Hit{ID: c.id, Relevance: r.relevance(r.found[c.in], c.doc), Score: float64(c.score)}
		if explain {
			out[i].Parts = r.parts(c.candidate)
		}
	}
	return out, nil
}
