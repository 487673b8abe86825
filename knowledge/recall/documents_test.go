package recall

import (
	"bufio"
	"compress/gzip"
	"flag"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/registry"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	indexapi "github.com/blevesearch/bleve_index_api"

	"leanctx/knowledge/words"
)

type analyzer struct{}

func (analyzer) Analyze(text []byte) (out analysis.TokenStream) {
	words.Scan(string(text), func(t words.Token) { out = append(out, &analysis.Token{Term: []byte(t.Term)}) })
	return out
}

var _ = registry.RegisterAnalyzer("words", func(map[string]any, *registry.Cache) (analysis.Analyzer, error) { return analyzer{}, nil })

// group is the documents that are searched together.
type group struct {
	*memory
	facts []Candidate
	ids   []string
	bleve bleve.Index
}

func newGroup(t testing.TB, facts []Candidate, ids []string) *group {
	g := &group{newMemory(facts), facts, ids, nil}
	m := bleve.NewIndexMapping()
	doc := mapping.NewDocumentStaticMapping()
	for _, name := range []string{"key", "category", "value", "questions"} {
		f := mapping.NewTextFieldMapping()
		f.Analyzer, f.Store, f.IncludeInAll, f.IncludeTermVectors, f.DocValues = "words", false, false, false, false
		doc.AddFieldMappingsAt(name, f)
	}
	m.DefaultMapping, m.ScoringModel = doc, indexapi.BM25Scoring
	x, err := bleve.NewMemOnly(m)
	if err != nil {
		t.Fatal(err)
	}
	b := x.NewBatch()
	for i, c := range facts {
		if err := b.Index(strconv.Itoa(i), map[string]any{"key": c.Key, "category": c.Category, "value": c.Value, "questions": c.Questions}); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Batch(b); err != nil {
		t.Fatal(err)
	}
	g.bleve = x
	return g
}

// search gives the best by bleve's BM25.
func (g *group) search(t testing.TB, of []Word, fields map[string]float64, n int) (out []int) {
	var all []query.Query
	for name, boost := range fields {
		var terms []query.Query
		for _, w := range of {
			q := query.NewTermQuery(w.Text)
			q.SetField(name)
			q.SetBoost(boost * w.Weight)
			terms = append(terms, q)
		}
		all = append(all, query.NewDisjunctionQuery(terms))
	}
	if len(of) == 0 {
		return nil
	}
	r := bleve.NewSearchRequestOptions(query.NewDisjunctionQuery(all), n, 0, false)
	got, err := g.bleve.Search(r)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(got.Hits, func(a, b *search.DocumentMatch) int {
		if a.Score != b.Score {
			if a.Score > b.Score {
				return -1
			}
			return 1
		}
		return strings.Compare(a.ID, b.ID)
	})
	for _, h := range got.Hits {
		i, _ := strconv.Atoi(h.ID)
		out = append(out, i)
	}
	return out
}

// near gives the nearest by cosine.
func (g *group) near(m *Meaning, n int) []int {
	at := make([]int, len(g.facts))
	cos := make([]float64, len(g.facts))
	for i := range at {
		at[i], cos[i] = i, first(m.cosine(&g.facts[i]))
	}
	slices.SortStableFunc(at, func(a, b int) int {
		if cos[a] > cos[b] {
			return -1
		} else if cos[a] < cos[b] {
			return 1
		}
		return 0
	})
	return at[:min(n, len(at))]
}

func first[T any](x T, _ float64) T { return x }

type document struct {
	ID    string `json:"_id"`
	Group string `json:"group"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

type documents struct {
	name    string
	groups  map[string]*group
	queries []document
	right   map[string]map[string]bool
}

func readDocuments(t testing.TB, name string) *documents {
	dir := filepath.Join(evalDir(t), name)
	d := &documents{name: name, groups: map[string]*group{}, right: map[string]map[string]bool{}}
	facts, ids := map[string][]Candidate{}, map[string][]string{}
	for i, x := range jsonLines[document](t, filepath.Join(dir, "corpus.jsonl.gz")) {
		category := x.Title
		if category == "" {
			category = "document"
		}
		c := Candidate{Category: category, Key: x.ID, Value: x.Text, Since: today.Add(time.Duration(i) * time.Second)}
		v := encode(t, factText(&c), nameText(&c))
		c.Vector, c.Name = v[0], v[1]
		facts[x.Group] = append(facts[x.Group], c)
		ids[x.Group] = append(ids[x.Group], x.ID)
	}
	for g := range facts {
		d.groups[g] = newGroup(t, facts[g], ids[g])
	}
	f, err := os.Open(filepath.Join(dir, "qrels.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(z)
	for s.Scan() {
		p := strings.Split(s.Text(), "\t")
		if d.right[p[0]] == nil {
			d.right[p[0]] = map[string]bool{}
		}
		d.right[p[0]][p[1]] = true
	}
	for _, q := range jsonLines[document](t, filepath.Join(dir, "queries.jsonl.gz")) {
		if len(d.right[q.ID]) > 0 {
			d.queries = append(d.queries, q)
		}
	}
	return d
}

// ndcg is nDCG@10.
func ndcg(got []string, right map[string]bool) float64 {
	var dcg, ideal float64
	for i, id := range got[:min(10, len(got))] {
		if right[id] {
			dcg += 1 / math.Log2(float64(i)+2)
		}
	}
	for i := range min(10, len(right)) {
		ideal += 1 / math.Log2(float64(i)+2)
	}
	return dcg / ideal
}

// fieldWeights are those of the search that brings the candidates.
var fieldWeights = map[string]float64{"value": 1, "key": 2.5, "category": 1.2, "questions": 1}

// candidates are the best 50 by bleve and the nearest 50.
func (g *group) candidates(t testing.TB, q *Question, m *Meaning) (at []int, facts []Candidate) {
	if err := q.Resolve(g); err != nil {
		t.Fatal(err)
	}
	at = g.search(t, q.Words(), fieldWeights, 50)
	if m != nil {
		for _, i := range g.near(m, 50) {
			if !slices.Contains(at, i) {
				at = append(at, i)
			}
		}
	}
	for _, i := range at {
		facts = append(facts, g.facts[i])
	}
	return at, facts
}

// every is for a whole run 1, of some minutes. A part of the questions tells as much of a change.
var every = flag.Int("every", 4, "ask every `N`th question of the public sets")

// TestDocuments compares with plain bleve on sets that nobody here wrote, and asks each set questions of another one.
func TestDocuments(t *testing.T) {
	var sets []*documents
	for _, name := range []string{"locomo-dev/facts", "locomo-dev/turns", "cosqa-dev"} {
		sets = append(sets, readDocuments(t, name))
	}
	for _, d := range sets {
		sum, firm := map[string]float64{}, 0
		n := 0.0
		for i := 0; i < len(d.queries); i += *every {
			n++
			x := d.queries[i]
			g, q := d.groups[x.Group], Parse(x.Text, nil)
			add := func(name string, order []int) {
				var ids []string
				for _, i := range order {
					ids = append(ids, g.ids[i])
				}
				sum[name] += ndcg(ids, d.right[x.ID])
			}
			ordered := func(at []int, a []Answer) (out []int) {
				for _, x := range a {
					out = append(out, at[x.Index])
				}
				return out
			}
			var plain []Word
			for _, w := range words.Terms(x.Text) {
				if !slices.Contains(plain, Word{w, 1}) {
					plain = append(plain, Word{w, 1})
				}
			}
			add("bleve, value", g.search(t, plain, map[string]float64{"value": 1}, 10))
			add("bleve, fields", g.search(t, plain, map[string]float64{"value": 1, "key": 1, "category": 1}, 10))
			both := func(name string, m *Meaning) []Answer {
				at, facts := g.candidates(t, q, m)
				all, p := q.rank(facts, m, m.by())
				add(name, ordered(at, all))
				answers := q.shown(all, p, m.by().weakest)
				add(name+", told", ordered(at, answers))
				return answers
			}
			both("lexical", nil)
			if answers := both("auto", &Meaning{Vectors: encode(t, q.Texts...)}); len(answers) > 0 && !answers[0].Maybe {
				firm++
			}
		}
		for name := range sum {
			sum[name] = math.Round(1000*sum[name]/n) / 1000
		}
		plain := max(sum["bleve, value"], sum["bleve, fields"])
		t.Logf("%s: nDCG@10 %v; answered firmly %.2f", d.name, sum, float64(firm)/n)
		if sum["lexical"] < plain-.002 || sum["auto"] < plain+.01 {
			t.Errorf("%s: plain bleve %.3f, lexical %.3f, auto %.3f", d.name, plain, sum["lexical"], sum["auto"])
		}
		if share := d.foreign(t, sets); share > .05 {
			t.Errorf("%s: foreign strangers answered firmly %.3f", d.name, share)
		}
	}
}

// foreign is the share of questions of other sets that are answered firmly.
func (d *documents) foreign(t testing.TB, sets []*documents) float64 {
	firm, n := 0, 0
	names := slices.Sorted(maps.Keys(d.groups))
	for _, o := range sets {
		if strings.Contains(o.name, "locomo") == strings.Contains(d.name, "locomo") {
			continue
		}
		for i := 0; i < len(o.queries); i += 10 {
			g, q := d.groups[names[i/10%len(names)]], Parse(o.queries[i].Text, nil)
			m := &Meaning{Vectors: encode(t, q.Texts...)}
			_, facts := g.candidates(t, q, m)
			n++
			if a := q.Rank(facts, m); len(a) > 0 && !a[0].Maybe {
				firm++
			}
		}
	}
	t.Logf("%s: foreign strangers answered firmly %.3f of %d", d.name, float64(firm)/float64(n), n)
	return float64(firm) / float64(n)
}

// TestConsolidation: many facts say the same about many subjects, in a stream where later ones replace earlier ones
// under the same key. The right one comes first.
func TestConsolidation(t *testing.T) {
	dir := filepath.Join(evalDir(t), "factconsolidation")
	for _, size := range []string{"6k", "32k"} {
		type statement struct{ Text, Subject, Relation, Object string }
		current := map[string]statement{}
		var order []string
		for _, f := range jsonLines[statement](t, filepath.Join(dir, "facts_"+size+".jsonl.gz")) {
			name := f.Relation + "/" + f.Subject
			if _, ok := current[name]; !ok {
				order = append(order, name)
			}
			current[name] = f
		}
		var facts []Candidate
		for i, name := range order {
			f := current[name]
			c := Candidate{Category: f.Relation, Key: f.Subject, Value: f.Text, Since: today.Add(time.Duration(i) * time.Second)}
			v := encode(t, factText(&c), nameText(&c))
			c.Vector, c.Name = v[0], v[1]
			facts = append(facts, c)
		}
		g := newGroup(t, facts, order)
		right, n := 0, 0
		for _, x := range jsonLines[struct {
			Question, Hops string
			Answers        []string
		}](t, filepath.Join(dir, "questions_"+size+".jsonl.gz")) {
			if x.Hops != "single" || !slices.ContainsFunc(order, func(name string) bool {
				return slices.Contains(x.Answers, current[name].Object) && strings.Contains(x.Question, current[name].Subject)
			}) {
				continue
			}
			n++
			q := Parse(x.Question, nil)
			m := &Meaning{Vectors: encode(t, q.Texts...)}
			_, c := g.candidates(t, q, m)
			if a := q.Rank(c, m); len(a) > 0 && !a[0].Maybe && slices.ContainsFunc(x.Answers, func(s string) bool { return strings.Contains(c[a[0].Index].Value, s) }) {
				right++
			} else if len(a) > 0 {
				t.Logf("%s %q: %q %.2f outdated by %v", size, x.Question, c[a[0].Index].Value, a[0].Score, a[0].Outdated)
			} else {
				t.Logf("%s %q: nothing", size, x.Question)
			}
		}
		t.Logf("%s: %d of %d", size, right, n)
		if right != n {
			t.Errorf("%s: %d of %d are right", size, right, n)
		}
	}
}
