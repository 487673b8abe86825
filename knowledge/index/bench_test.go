package index_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search/query"

	"leanctx/knowledge/index"
)

// largeDoc is made of words drawn with a Zipf law: the same for the same n and round.
func largeDoc(n, round int) index.Doc {
	r := rand.New(rand.NewPCG(uint64(round), uint64(n)))
	zipf := rand.NewZipf(r, 1.1, 4, 20_000)
	words := make([]string, 5+r.IntN(25))
	for i := range words {
		words[i] = word(zipf.Uint64())
	}
	category := []string{"architecture", "decision", "deployment", "testing"}[n%4]
	key := fmt.Sprintf("%s-%s-%d", words[0], words[1], n)
	value := strings.Join(words, " ")
	return index.Doc{
		ID: category + "/" + key, Category: category, Key: key, Summary: make([]byte, 80), Value: []string{value}, Hashes: hashes(fmt.Sprintf("%016x", r.Uint64())),
		Stored: fmt.Appendf(nil, `{"id":"%016x%016x","category":%q,"key":%q,"value":%q,"confidence":0.9,"valid_from":"2026-01-02T03:04:05Z","recorded_at":"2026-01-02T03:04:05.000000001Z","source":{"agent":"claude-code","session":"0123456789abcdef"}}`,
			r.Uint64(), r.Uint64(), category, key, value),
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

func largeDocs(n int) func(func(index.Doc) bool) {
	return func(yield func(index.Doc) bool) {
		for i := range n {
			if !yield(largeDoc(i, 0)) {
				return
			}
		}
	}
}

// sizes are those of the stores that PRODUCT names; the larger takes half a minute to make.
var sizes = []int{20_000, 100_000}

var questions = []struct{ name, text string }{
	{"rare word", word(15_000)},
	{"two words", word(40) + " " + word(900)},
	{"question of six words", strings.Join([]string{word(3), word(12), word(80), word(300), word(2000), word(9000)}, " ")},
	{"commonest word", word(0)},
}

// BenchmarkBuild tells, beside the time, what an index takes on disk for each byte of the facts as JSON lines.
func BenchmarkBuild(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			facts := 0
			for d := range largeDocs(n) {
				facts += len(d.Stored) + 1
			}
			for b.Loop() {
				dir := filepath.Join(b.TempDir(), "index")
				if err := index.Build(b.Context(), dir, position(1), largeDocs(n), nil, nil); err != nil {
					b.Fatal(err)
				}
				size := int64(0)
				for _, p := range files(b, dir) {
					info, err := os.Stat(p)
					if err != nil {
						b.Fatal(err)
					}
					size += info.Size()
				}
				b.ReportMetric(float64(size)/float64(facts), "of-json")
				b.ReportMetric(float64(size)/1e6, "MB")
			}
		})
	}
}

func largeIndex(b *testing.B, n int) (dir string) {
	b.Helper()
	dir = filepath.Join(b.TempDir(), "index")
	if err := index.Build(b.Context(), dir, position(1), largeDocs(n), nil, nil); err != nil {
		b.Fatal(err)
	}
	return dir
}

// BenchmarkRead has what a cold command does once the program runs, and a search of the bare library as its floor.
func BenchmarkRead(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := largeIndex(b, n)
			b.Run("open", func(b *testing.B) {
				for b.Loop() {
					x, err := index.Open(dir, nil)
					if err != nil {
						b.Fatal(err)
					}
					x.Close()
				}
			})
			x := open(b, dir, nil)
			b.Run("fact", func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					if text, err := x.Fact(b.Context(), largeDoc(i*7919%n, 0).ID); err != nil || len(text) == 0 {
						b.Fatal(text, err)
					}
				}
			})
			b.Run("summaries", func(b *testing.B) {
				for b.Loop() {
					all := 0
					if err := x.Summaries(func(string, []byte) bool { all++; return true }); err != nil || all != n {
						b.Fatal(all, err)
					}
				}
			})
			var changed []index.Doc
			for i := range 1_000 {
				d := largeDoc(i*31%n, 1)
				d.ID = largeDoc(i*31%n, 0).ID
				changed = append(changed, d)
			}
			for _, tail := range []int{0, 64, 1_000} {
				if err := x.Apply(position(2), changed[:tail], nil); err != nil {
					b.Fatal(err)
				}
				for _, q := range questions {
					b.Run(fmt.Sprintf("%s, %d in memory", q.name, tail), func(b *testing.B) {
						for b.Loop() {
							if hits, err := x.Search(b.Context(), index.Query{Terms: terms(q.text), Limit: 50}); err != nil || len(hits) == 0 {
								b.Fatal(hits, err)
							}
						}
					})
				}
			}
			generations, err := filepath.Glob(filepath.Join(dir, "1-*"))
			if err != nil {
				b.Fatal(err)
			}
			bare, err := bleve.OpenUsing(generations[0], map[string]any{"read_only": true})
			if err != nil {
				b.Fatal(err)
			}
			defer bare.Close()
			for _, q := range questions {
				b.Run(q.name+", bare bleve", func(b *testing.B) {
					for b.Loop() {
						if err := searchBare(b.Context(), bare, q.text); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}

// searchBare asks the library for the best 50 and their stored texts.
func searchBare(ctx context.Context, x bleve.Index, text string) error {
	var fields []query.Query
	for _, f := range []string{"key", "aliases", "category", "value", "questions"} {
		var of []query.Query
		for _, t := range terms(text) {
			q := query.NewTermQuery(t.Text)
			q.SetField(f)
			of = append(of, q)
		}
		fields = append(fields, query.NewDisjunctionQuery(of))
	}
	req := bleve.NewSearchRequestOptions(query.NewDisjunctionQuery(fields), 50, 0, false)
	req.Fields = []string{"json"}
	_, err := x.SearchInContext(ctx, req)
	return err
}

// BenchmarkApply cuts facts into terms; BenchmarkSync writes them.
func BenchmarkApply(b *testing.B) {
	changed := make([]index.Doc, 64)
	for i := range changed {
		changed[i] = largeDoc(i, 1)
	}
	x := open(b, "", nil)
	for b.Loop() {
		if err := x.Apply(position(2), changed, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(changed)), "µs/fact")
}

func BenchmarkSync(b *testing.B) {
	for _, n := range sizes {
		dir := largeIndex(b, n)
		x := open(b, dir, nil)
		seq := uint64(1)
		for _, tail := range []int{1, 64, 256} {
			b.Run(fmt.Sprintf("%d of %d", tail, n), func(b *testing.B) {
				for round := 1; b.Loop(); round++ {
					b.StopTimer()
					changed := make([]index.Doc, tail)
					for i := range changed {
						k := (round*tail + i) * 31 % n
						changed[i] = largeDoc(k, round)
						changed[i].ID = largeDoc(k, 0).ID
					}
					seq++
					if err := x.Apply(position(seq), changed, nil); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
					if err := x.Sync(b.Context(), nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
