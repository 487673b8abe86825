package search

import (
	"cmp"
	"math"
	"slices"

	"leanctx/knowledge/search/index"
	"leanctx/knowledge/search/segment"
	"leanctx/knowledge/words"
)

// What a look for facts alike may cost, whatever the text and the size of the index.
const (
	alikeWords    = 32 // of the text that are looked up
	alikeRare     = 6  // of those, the rarest, whose facts are looked at
	alikePostings = 64 // of those facts, in all
	alikeMost     = 8  // that are told of
)

// Alike is what a cheap look found: facts that have a text's rarest words, and how much of the text they cover.
type Alike struct {
	IDs    []string // of the facts that may cover enough of it, the likeliest first
	weight map[string]float64
	mass   float64
}

// Alike looks for facts that may cover a share of a text's words, each counted by how rare it is. It is for advice,
// and cheap by construction: of the text a sample of words is looked up, and the facts are those of the few
// rarest of them, so that a text of words that many facts have finds nothing.
func (x *Index) Alike(text string, share float64) (a *Alike, err error) {
	a = &Alike{weight: map[string]float64{}}
	terms := sampled(text)
	err = x.View(func(sources []index.Source) error {
		r := &rarest{sources: sources, alike: a}
		if err := r.choose(terms, x.tune.prior); err != nil {
			return err
		}
		return r.find(share)
	})
	return a, err
}

// Covers is the share of the text's words, weighed, that a fact has.
func (a *Alike) Covers(d Doc) float64 {
	if a.mass == 0 {
		return 0
	}
	seen, covered := map[string]bool{}, 0.0
	for _, text := range d.Texts() {
		words.Scan(text, func(t words.Token) {
			if !seen[t.Term] {
				seen[t.Term] = true
				covered += a.weight[t.Term]
			}
		})
	}
	return covered / a.mass
}

// sampled are words of a text, each once: of too many, such as stand at equal distances.
func sampled(text string) []string {
	var terms []string
	seen := map[string]bool{}
	words.Scan(text, func(t words.Token) {
		if t.Kind == words.Word && !seen[t.Term] {
			seen[t.Term] = true
			terms = append(terms, t.Term)
		}
	})
	if n := len(terms); n > alikeWords {
		for i := range alikeWords {
			terms[i] = terms[i*n/alikeWords]
		}
		terms = terms[:alikeWords]
	}
	return terms
}

// rarest is a look under way.
type rarest struct {
	sources []index.Source
	alike   *Alike
	words   []rare
}

type rare struct {
	term string
	df   int // about how many facts have it
}

// choose weighs the words and keeps the rarest.
func (r *rarest) choose(terms []string, prior float64) error {
	docs := 0
	for _, s := range r.sources {
		docs += s.Sizes().Docs
	}
	for _, t := range terms {
		df, err := r.about(t)
		if err != nil {
			return err
		}
		w := math.Log((float64(docs) + prior + 1) / (max(float64(df), 1) + 1))
		r.alike.weight[t] = w
		r.alike.mass += w
		r.words = append(r.words, rare{t, df})
	}
	slices.SortStableFunc(r.words, func(a, b rare) int { return cmp.Compare(a.df, b.df) })
	postings := 0
	for i, w := range r.words {
		if postings += w.df; postings > alikePostings || i == alikeRare {
			r.words = r.words[:i]
			break
		}
	}
	return nil
}

// about is about how many facts have a word.
func (r *rarest) about(term string) (df int, err error) {
	for _, s := range r.sources {
		n, err := s.About(term, index.FieldValue)
		if err != nil {
			return 0, err
		}
		df += n
	}
	return df, nil
}

// find lists the facts that have enough of the rarest words to cover the share if they have all the others.
func (r *rarest) find(share float64) error {
	others := r.alike.mass
	for _, w := range r.words {
		others -= r.alike.weight[w.term]
	}
	type likely struct {
		id      string
		covered float64
	}
	var list []likely
	for _, s := range r.sources {
		covered := map[uint32]float64{}
		for _, w := range r.words {
			if w.df == 0 {
				continue
			}
			if err := s.Visit(w.term, index.FieldValue, nil, func(p segment.Posting) { covered[p.Doc] += r.alike.weight[w.term] }); err != nil {
				return err
			}
		}
		for doc, c := range covered {
			if c+others < share*r.alike.mass {
				continue
			}
			id, err := s.ID(doc)
			if err != nil {
				return err
			}
			list = append(list, likely{id, c})
		}
	}
	slices.SortFunc(list, func(a, b likely) int { return cmp.Or(cmp.Compare(b.covered, a.covered), cmp.Compare(a.id, b.id)) })
	for _, l := range list[:min(len(list), alikeMost)] {
		r.alike.IDs = append(r.alike.IDs, string([]byte(l.id))) // the id itself is part of the index's memory
	}
	return nil
}
