package index

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	indexapi "github.com/blevesearch/bleve_index_api"
)

// Query is a search for facts that hold some of its terms.
type Query struct {
	Terms     []Term
	Boosts    Boosts   // zero: DefaultBoosts
	Category  string   // only facts of this one, folded; empty: of any
	Tags      []string // only facts that have all of these, folded
	Confirmed bool     // only confirmed facts
	Limit     int      // most hits; 0: 10
}

// tags are those that a fact must have.
func (q *Query) tags() []string {
	if !q.Confirmed {
		return q.Tags
	}
	return append(slices.Clip(q.Tags), confirmedTag)
}

// Term is a word of a query as the analyzer makes it.
type Term struct {
	Text   string
	Weight float64 // 0: 1
}

func (t Term) weight() float64 {
	if t.Weight == 0 {
		return 1
	}
	return t.Weight
}

// Boosts say what a field counts. One of 0 is not searched.
type Boosts [fieldCount]float64

// DefaultBoosts search the current values; former ones are left out.
var DefaultBoosts = Boosts{Key: 1, Aliases: 1, Category: 1, Value: 1, Questions: 1}

// fields are those that are searched.
func (q *Query) fields() (out []Field) {
	for f, boost := range q.Boosts {
		if boost > 0 {
			out = append(out, Field(f))
		}
	}
	return out
}

// Hit is a fact found.
type Hit struct {
	ID    string
	Score float64 // BM25 as bleve computes it: the order of one answer, without a meaning between two queries
}

// Search finds the facts that hold terms of the query, the best first; equals by ID.
func (x *Index) Search(ctx context.Context, q Query) (hits []Hit, err error) {
	if q.Boosts == (Boosts{}) {
		q.Boosts = DefaultBoosts
	}
	if q.Limit <= 0 {
		q.Limit = 10
	}
	if len(q.Terms) == 0 {
		return nil, nil
	}
	err = x.view(func() (err error) {
		hits, err = x.search(ctx, &q)
		return err
	})
	return hits, err
}

// search is Search under the lock.
func (x *Index) search(ctx context.Context, q *Query) ([]Hit, error) {
	if x.size.Docs == 0 {
		return nil, nil
	}
	hits, err := x.onDisk(ctx, q)
	if err != nil {
		return nil, err
	}
	inMemory, err := x.inMemory(ctx, q)
	if err != nil {
		return nil, err
	}
	hits = append(hits, inMemory...)
	slices.SortFunc(hits, byScore)
	return hits[:min(q.Limit, len(hits))], nil
}

// onDisk searches the generation. It asks for more hits than needed, because facts that memory replaces are left out.
func (x *Index) onDisk(ctx context.Context, q *Query) (hits []Hit, err error) {
	if x.disk == nil {
		return nil, nil
	}
	for size := q.Limit + min(len(x.tail), 64); ; size *= 4 {
		found, err := x.disk.search(ctx, q, x.size, size)
		if err != nil {
			return nil, err
		}
		hits = hits[:0]
		for _, h := range found {
			if _, replaced := x.tail[h.ID]; !replaced {
				hits = append(hits, Hit{ID: h.ID, Score: h.Score})
			}
		}
		if len(hits) >= q.Limit || len(found) < size {
			return hits, nil
		}
	}
}

// search returns bleve's best documents.
func (g *generation) search(ctx context.Context, q *Query, s statistics, size int) (hits search.DocumentMatchCollection, err error) {
	req := bleve.NewSearchRequestOptions(q.bleve(), size, 0, false)
	// Without these statistics, bleve takes the number of distinct terms for the length of all documents.
	cardinality := map[string]int{categoryField: 1, tagField: 1} // filters do not count, but bleve needs an entry
	for f, name := range fieldNames {
		cardinality[name] = s.Lengths[f]
	}
	req.PreSearchData = map[string]any{
		search.BM25PreSearchDataKey: &search.BM25Stats{DocCount: float64(s.Docs), FieldCardinality: cardinality},
	}
	err = guard(func() error {
		got, err := g.bleve.SearchInContext(ctx, req)
		if err == nil {
			hits = got.Hits
		}
		return err
	})
	return hits, err
}

// bleve is the query as bleve takes it: a disjunction over the fields, of the terms in each.
func (q *Query) bleve() query.Query {
	var fields []query.Query
	for _, f := range q.fields() {
		terms := make([]query.Query, len(q.Terms))
		for i, t := range q.Terms {
			of := query.NewTermQuery(t.Text)
			of.SetField(fieldNames[f])
			of.SetBoost(q.Boosts[f] * t.weight())
			terms[i] = of
		}
		fields = append(fields, query.NewDisjunctionQuery(terms))
	}
	all := query.NewDisjunctionQuery(fields)
	var filters []query.Query
	only := func(field, term string) {
		of := query.NewTermQuery(term)
		of.SetField(field)
		filters = append(filters, of)
	}
	if q.Category != "" {
		only(categoryField, q.Category)
	}
	for _, t := range q.tags() {
		only(tagField, t)
	}
	if len(filters) == 0 {
		return all
	}
	filtered := query.NewBooleanQuery(nil, []query.Query{all}, nil)
	filtered.AddFilter(query.NewConjunctionQuery(filters))
	return filtered
}

// inMemory searches the facts in memory.
func (x *Index) inMemory(ctx context.Context, q *Query) (hits []Hit, err error) {
	if len(x.tail) == 0 {
		return nil, nil
	}
	holding := make([]counts, len(q.Terms))
	for i, t := range q.Terms {
		if holding[i], err = x.holding(ctx, t.Text); err != nil {
			return nil, err
		}
	}
	scorer, tags := newScorer(q, x.size, holding), q.tags()
	for id, d := range x.tail {
		if d.removed || q.Category != "" && d.in != q.Category || !holdsAll(d.tags, tags) {
			continue
		}
		if score := scorer.score(d); score > 0 {
			hits = append(hits, Hit{ID: id, Score: score})
		}
	}
	return hits, nil
}

func holdsAll(have, want []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) })
}

// Frequencies says for each term how many facts hold it in the field where most do. Facts that were replaced since
// the generation on disk count twice.
func (x *Index) Frequencies(ctx context.Context, terms []string) ([]int, error) {
	out := make([]int, len(terms))
	err := x.view(func() error {
		for i, t := range terms {
			n, err := x.holding(ctx, t)
			if err != nil {
				return err
			}
			out[i] = slices.Max(n[:])
		}
		return nil
	})
	return out, err
}

// holding is how many facts hold a term, in each field.
func (x *Index) holding(ctx context.Context, term string) (n counts, err error) {
	for _, d := range x.tail {
		for f, times := range d.terms[term] {
			n[f] += min(1, times)
		}
	}
	if x.disk == nil {
		return n, nil
	}
	err = x.disk.view(func(r indexapi.IndexReader) error {
		for f, name := range fieldNames {
			k, err := frequency(ctx, r, name, term)
			if err != nil {
				return err
			}
			n[f] += k
		}
		return nil
	})
	return n, err
}

// Words lists the terms that begin with prefix, each with its frequency as [Index.Frequencies] has it.
func (x *Index) Words(_ context.Context, prefix string) (map[string]int, error) {
	var found [fieldCount]map[string]int
	err := x.view(func() error {
		for f, name := range fieldNames {
			found[f] = map[string]int{}
			if err := x.disk.dictionary(name, prefix, found[f]); err != nil {
				return err
			}
		}
		for _, d := range x.tail {
			for t, n := range d.terms {
				if !strings.HasPrefix(t, prefix) {
					continue
				}
				for f, times := range n {
					found[f][t] += min(1, times)
				}
			}
		}
		return nil
	})
	most := map[string]int{}
	for _, of := range found {
		for t, n := range of {
			most[t] = max(most[t], n)
		}
	}
	return most, err
}

// dictionary adds the terms of a field that begin with prefix.
func (g *generation) dictionary(field, prefix string, counts map[string]int) error {
	if g == nil {
		return nil
	}
	return g.view(func(r indexapi.IndexReader) (err error) {
		d, err := r.FieldDictPrefix(field, []byte(prefix))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		for {
			e, err := d.Next()
			if err != nil || e == nil {
				return err
			}
			counts[e.Term] += int(e.Count)
		}
	})
}
