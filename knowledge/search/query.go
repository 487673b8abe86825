package search

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"leanctx/knowledge/search/index"
	"leanctx/knowledge/words"
)

const (
	maxQueryBytes = 128 << 10 // of a longer query the beginning is read
	maxConsidered = 512       // distinct terms looked up
	maxTerms      = 64        // distinct terms searched for: the rarest
)

// parsed is a query taken apart: text, never syntax.
type parsed struct {
	terms     []asked
	exact     bool   // see Query.Exact
	folded    string // as a whole name
	canonical string
}

// asked is a term of a query.
type asked struct {
	term  string
	kind  words.Kind
	said  string   // of a plain word: with its ending
	parts []string // of a whole
}

// parse takes the words of a query, each once. Stop words are left out where there is any other word; a
// query of nothing but stop words asks for them.
func parse(text string) *parsed {
	if len(text) > maxQueryBytes {
		text = strings.ToValidUTF8(text[:maxQueryBytes], "")
	}
	q := &parsed{}
	if len(text) <= index.MaxNameBytes {
		q.folded, q.canonical = words.FoldName(text), (*words.Lexicon)(nil).Canonical(text)
	}
	seen, all := map[string]int{}, []string{}
	meaning := false
	words.Scan(text, func(t words.Token) {
		all = append(all, t.Term)
		if t.Kind == words.Tail {
			return
		}
		meaning = meaning || t.Kind == words.Word
		if i, ok := seen[t.Term]; ok {
			q.terms[i].kind = min(q.terms[i].kind, t.Kind)
			return
		}
		if len(q.terms) < maxConsidered {
			seen[t.Term] = len(q.terms)
			parts := slices.Clone(all[len(all)-1-t.Span : len(all)-1])
			q.terms = append(q.terms, asked{t.Term, t.Kind, t.Said, parts})
		}
	})
	if meaning {
		q.terms = slices.DeleteFunc(q.terms, func(t asked) bool { return t.kind == words.Stop })
	}
	return q
}

// planned is a term with what the index knows of it.
type planned struct {
	asked
	df     float64 // facts that hold it, in the field where most do
	weight float64 // share of the query's meaning, 0 for a whole
	idf    float64 // what it adds to a score; a whole adds as its parts would, but for a discount
	words  uint64  // the words of the query that a fact with it covers, a bit each
}

// plan looks up the terms of the query and puts them in the order they are scored in: wholes, then words
// from the heaviest on. Of too many it keeps the rarest; words that the index does not have go first of all,
// since they find nothing.
func (r *search) plan(q *parsed) ([]planned, error) {
	terms := make([]planned, len(q.terms))
	for i, t := range q.terms {
		df, err := r.count(t.term, index.FieldCount)
		if err != nil {
			return nil, err
		}
		terms[i] = planned{asked: t, df: df}
	}
	if len(terms) > maxTerms {
		rare := func(t planned) float64 {
			if t.df == 0 {
				return math.Inf(1)
			}
			return t.df
		}
		slices.SortStableFunc(terms, func(a, b planned) int { return cmp.Compare(rare(a), rare(b)) })
		terms = terms[:maxTerms]
	}
	parts := map[string]planned{}
	for i := range terms {
		if t := &terms[i]; t.kind != words.Whole {
			t.weight, t.words, t.idf = r.weight(t.df), 1<<i, r.idf(t.df)
			parts[t.term] = *t
			r.weightOf[i] = t.weight
			r.mass += t.weight
			r.words++
			if t.df > 0 && (r.least == 0 || t.idf < r.least) {
				r.least = t.idf
			}
		}
	}
	for i := range terms {
		if terms[i].kind == words.Whole {
			for _, p := range terms[i].parts {
				terms[i].words |= parts[p].words
				terms[i].idf += parts[p].idf * r.tune.bonus
			}
		}
	}
	slices.SortStableFunc(terms, func(a, b planned) int {
		return cmp.Or(cmp.Compare(b.kind, a.kind), cmp.Compare(b.weight, a.weight))
	})
	return terms, nil
}
