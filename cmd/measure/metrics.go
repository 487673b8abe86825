package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/whitespace"
	"github.com/blevesearch/bleve/v2/mapping"

	"leanctx/knowledge/words"
)

// grades say how relevant facts are to a question: 1 and more. A fact that is
// not listed is not relevant.
type grades map[string]int

// The measures below take the ids that were found, best first, each once, and
// the relevant ones, which are never empty. All are in 0..1.

// recallAt is the share of the relevant facts among the first k.
func recallAt(k int, found []string, relevant grades) float64 {
	n := 0
	for _, id := range found[:min(k, len(found))] {
		if relevant[id] > 0 {
			n++
		}
	}
	return float64(n) / float64(len(relevant))
}

// hitAt is 1 if one of the first k is relevant, else 0.
func hitAt(k int, found []string, relevant grades) float64 {
	return math.Ceil(reciprocalRank(k, found, relevant))
}

// reciprocalRank is 1/rank of the first relevant fact, 0 if it is not among the
// first k.
func reciprocalRank(k int, found []string, relevant grades) float64 {
	for i, id := range found[:min(k, len(found))] {
		if relevant[id] > 0 {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// ndcgAt is the discounted cumulative gain of the first k, Σ grade/log₂(rank+1),
// as a share of the best that k facts could have.
// Järvelin and Kekäläinen, ACM TOIS 20(4), 2002; the gain is the grade itself,
// as trec_eval has it.
func ndcgAt(k int, found []string, relevant grades) float64 {
	discount := func(i int) float64 { return math.Log2(float64(i + 2)) }
	var gain, ideal float64
	for i, id := range found[:min(k, len(found))] {
		gain += float64(relevant[id]) / discount(i)
	}
	best := make([]int, 0, len(relevant))
	for _, g := range relevant {
		best = append(best, g)
	}
	slices.SortFunc(best, func(a, b int) int { return b - a })
	for i, g := range best[:min(k, len(best))] {
		ideal += float64(g) / discount(i)
	}
	return gain / ideal
}

// quantile is the smallest value that a share q of them does not exceed: one
// that was measured, not one between two. Of none it is 0.
func quantile[T cmp.Ordered](values []T, q float64) (none T) {
	if len(values) == 0 {
		return none
	}
	sorted := slices.Sorted(slices.Values(values))
	// The last digits of a product like 0.95 · 20 are no reason for a rank more.
	rank := int(math.Ceil(q*float64(len(sorted)) - 1e-9))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// tally adds up the figures of a row.
type tally struct {
	row    Row
	n      float64
	checks int
	times  []time.Duration
}

func newTally(mode, kind string) *tally { return &tally{row: Row{Mode: mode, Kind: kind}} }

func add(to **float64, v float64) {
	if *to == nil {
		*to = new(float64)
	}
	**to += v
}

// add scores one question. plain is what plain bleve found for it; nil for the
// row of plain bleve itself.
func (t *tally) add(q query, found []string, any bool, took time.Duration, plain []string) {
	t.n++
	r := &t.row
	add(&r.Hit1, hitAt(1, found, q.relevant))
	add(&r.Hit3, hitAt(3, found, q.relevant))
	add(&r.MRR, reciprocalRank(10, found, q.relevant))
	if !q.anyOf {
		add(&r.Hit10, hitAt(10, found, q.relevant))
		add(&r.R5, recallAt(5, found, q.relevant))
		add(&r.R10, recallAt(10, found, q.relevant))
		add(&r.NDCG, ndcgAt(10, found, q.relevant))
	}
	stale := 0.0
	for _, id := range found {
		if q.relevant[id] > 0 {
			break
		}
		if q.stale[id] || strings.HasSuffix(id, superseded) {
			stale = 1
		}
	}
	add(&r.Stale, stale)
	givenUp := 1.0
	if any {
		givenUp = 0
	}
	add(&r.Abstained, givenUp)
	if took > 0 {
		t.times = append(t.times, took)
		if !q.anyOf {
			add(&r.Bleve, ndcgAt(10, plain, q.relevant))
		}
	}
}

// check notes a thing that must be exactly right.
func (t *tally) check(ok bool, format string, a ...any) {
	t.checks++
	right := 1.0
	if !ok {
		right = 0
		t.row.Errors++
		if len(t.row.Notes) < 3 {
			t.row.Notes = append(t.row.Notes, fmt.Sprintf(format, a...))
		}
	}
	add(&t.row.Exact, right)
}

// done divides the sums.
func (t *tally) done() Row {
	r := t.row
	if r.N = int(t.n); r.Own != nil && t.n == 0 {
		r.N = r.Own.N
	}
	for _, f := range []*float64{r.Hit1, r.Hit3, r.Hit10, r.R5, r.R10, r.MRR, r.NDCG, r.Bleve, r.Stale, r.Abstained} {
		if f != nil {
			*f /= t.n
		}
	}
	if r.Exact != nil {
		*r.Exact /= float64(t.checks)
	}
	r.P50, r.P95 = milliseconds(quantile(t.times, .5)), milliseconds(quantile(t.times, .95))
	return r
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// plainIndex is bleve's BM25 over one field that holds category, key and value,
// cut by lean-ctx's analyzer: what the library does without us.
type plainIndex struct{ index bleve.Index }

func plainMapping() (mapping.IndexMapping, error) {
	m := bleve.NewIndexMapping()
	// The terms are cut beforehand and parted by spaces.
	if err := m.AddCustomAnalyzer("terms", map[string]any{"type": custom.Name, "tokenizer": whitespace.Name}); err != nil {
		return nil, err
	}
	m.ScoringModel = "bm25"
	text := mapping.NewTextFieldMapping()
	text.Analyzer, text.Store, text.IncludeInAll, text.IncludeTermVectors, text.DocValues = "terms", false, false, false, false
	m.DefaultMapping = mapping.NewDocumentStaticMapping()
	m.DefaultMapping.AddFieldMappingsAt("text", text)
	return m, nil
}

func plainDocument(parts ...string) object { return object{"text": terms(strings.Join(parts, " "))} }

func terms(text string) string { return strings.Join(words.Terms(text), " ") }

func newPlainIndex(facts map[name]fact, questions bool) (*plainIndex, error) {
	m, err := plainMapping()
	if err != nil {
		return nil, err
	}
	x, err := bleve.NewMemOnly(m)
	if err != nil {
		return nil, err
	}
	batch := x.NewBatch()
	for _, f := range facts {
		n := f.name()
		text := plainDocument(n.category, n.key, fmt.Sprint(f.args["value"]))
		if questions {
			text = plainDocument(n.category, n.key, fmt.Sprint(f.args["value"]), f.questions)
		}
		if err := batch.Index(f.id, text); err != nil {
			return nil, err
		}
	}
	return &plainIndex{x}, x.Batch(batch)
}

// search returns the ids of the best facts.
func (x *plainIndex) search(text string, limit int) ([]string, error) {
	q := bleve.NewMatchQuery(terms(text))
	q.SetField("text")
	r := bleve.NewSearchRequestOptions(q, limit, 0, false)
	r.SortBy([]string{"-_score", "_id"})
	answer, err := x.index.Search(r)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, h := range answer.Hits {
		ids = append(ids, h.ID)
	}
	return ids, nil
}
