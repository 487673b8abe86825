package peer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/whitespace"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"

	"leanctx/knowledge/search"
)

const facts = 100_000

// fact is made of words drawn with a Zipf law: the same for the same n.
func fact(n int) search.Doc {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	zipf := rand.NewZipf(r, 1.1, 4, 20_000)
	words := make([]string, 5+r.IntN(25))
	for i := range words {
		words[i] = word(zipf.Uint64())
	}
	return search.Doc{
		ID: fmt.Sprintf("f-%06d", n), Category: []string{"architecture", "decision", "deployment", "testing"}[n%4],
		Key: words[0] + "-" + words[1], Value: strings.Join(words, " "),
	}
}

// word spells a number in syllables.
func word(n uint64) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var b strings.Builder
	for n += 200; n > 0; n /= uint64(len(consonants) * len(vowels)) {
		k := n % uint64(len(consonants)*len(vowels))
		b.WriteByte(consonants[k/uint64(len(vowels))])
		b.WriteByte(vowels[k%uint64(len(vowels))])
	}
	return b.String()
}

var fields = []struct {
	name  string
	boost float64
}{{"key", 2.5}, {"category", 1.2}, {"value", 1}}

func ours(b *testing.B) *search.Index {
	dir := b.TempDir()
	x, err := search.Open(dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	all := func(yield func(search.Doc) bool) {
		for n := range facts {
			if !yield(fact(n)) {
				return
			}
		}
	}
	if err := x.Sync(context.Background(), search.Generation{At: time.Unix(1, 0), Epoch: "e"}, all); err != nil {
		b.Fatal(err)
	}
	if x, err = search.Open(dir, nil); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { x.Close() })
	return x
}

func theirs(b *testing.B) bleve.Index {
	m := bleve.NewIndexMapping()
	if err := m.AddCustomAnalyzer("terms", map[string]any{"type": custom.Name, "tokenizer": whitespace.Name}); err != nil {
		b.Fatal(err)
	}
	m.ScoringModel = "bm25"
	d := mapping.NewDocumentStaticMapping()
	for _, f := range fields {
		t := mapping.NewTextFieldMapping()
		t.Analyzer, t.Store, t.IncludeInAll, t.IncludeTermVectors, t.DocValues = "terms", false, false, false, false
		d.AddFieldMappingsAt(f.name, t)
	}
	m.DefaultMapping = d
	path := filepath.Join(b.TempDir(), "bleve")
	x, err := bleve.New(path, m)
	if err != nil {
		b.Fatal(err)
	}
	for at := range facts / 5000 {
		batch := x.NewBatch()
		for n := at * 5000; n < (at+1)*5000; n++ {
			f := fact(n)
			if err := batch.Index(f.ID, map[string]string{"key": terms(f.Key), "category": terms(f.Category), "value": terms(f.Value)}); err != nil {
				b.Fatal(err)
			}
		}
		if err := x.Batch(batch); err != nil {
			b.Fatal(err)
		}
	}
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
	if x, err = bleve.OpenUsing(path, map[string]any{"read_only": true}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { x.Close() })
	return x
}

func terms(text string) string { return strings.Join(search.Terms(text), " ") }

func ask(text string) *bleve.SearchRequest {
	var parts []query.Query
	for _, t := range search.Terms(text) {
		for _, f := range fields {
			q := bleve.NewTermQuery(t)
			q.SetField(f.name)
			q.SetBoost(f.boost)
			parts = append(parts, q)
		}
	}
	return bleve.NewSearchRequestOptions(bleve.NewDisjunctionQuery(parts...), 10, 0, false)
}

// BenchmarkBeside asks both in turn and gives the ratio of the medians.
func BenchmarkBeside(b *testing.B) {
	our, their := ours(b), theirs(b)
	for _, q := range []struct{ name, text string }{
		{"common word", word(0)},
		{"rare word", word(15_000)},
		{"two words", word(40) + " " + word(900)},
		{"question of six words", strings.Join([]string{word(3), word(12), word(80), word(300), word(2000), word(9000)}, " ")},
		{"compound", word(3000) + "-" + word(4000)},
	} {
		b.Run(q.name, func(b *testing.B) {
			var we, they []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, _, err := our.Search(context.Background(), search.Query{Text: q.text, Limit: 10}, nil); err != nil {
					b.Fatal(err)
				}
				we = append(we, time.Since(start))
				start = time.Now()
				if _, err := their.Search(ask(q.text)); err != nil {
					b.Fatal(err)
				}
				they = append(they, time.Since(start))
			}
			slices.Sort(we)
			slices.Sort(they)
			o, t := we[len(we)/2], they[len(they)/2]
			b.ReportMetric(float64(o.Microseconds()), "our-µs")
			b.ReportMetric(float64(t.Microseconds()), "bleve-µs")
			b.ReportMetric(float64(o)/float64(t), "ratio")
		})
	}
}
