package recall

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"leanctx/embed"
	"leanctx/knowledge/words"
)

// evalDir is the folder of the evaluation sets.
func evalDir(t testing.TB) string {
	dir := os.Getenv("LEAN_CTX_EVAL_DIR")
	if dir == "" {
		t.Skip("NO QUALITY MEASURED: LEAN_CTX_EVAL_DIR is not set")
	}
	return dir
}

// jsonLines reads a file of JSON lines, packed or not.
func jsonLines[T any](t testing.TB, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := json.NewDecoder(bufio.NewReader(f))
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		d = json.NewDecoder(z)
	}
	var out []T
	for d.More() {
		var x T
		if err := d.Decode(&x); err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

// memory is a store in memory: what this package asks of one, in the plainest way.
type memory struct {
	size  Size
	df    map[string]int
	words []string // sorted
}

// scan cuts a text into words, each once, and counts them. A text is cut once.
func scan(text string) *cutText {
	if x, ok := cutTexts[text]; ok {
		return x
	}
	x, seen := &cutText{}, map[string]bool{}
	words.Scan(text, func(t words.Token) {
		if t.Kind == words.Word {
			x.length++
		}
		if !seen[t.Term] {
			seen[t.Term] = true
			x.terms = append(x.terms, strings.Clone(t.Term))
		}
	})
	cutTexts[text] = x
	return x
}

type cutText struct {
	terms  []string
	length float64
}

var cutTexts = map[string]*cutText{}

func newMemory(facts []Candidate) *memory {
	m := &memory{df: map[string]int{}}
	m.size.Facts = len(facts)
	var questioned float64
	var fields [fieldCount]map[string]int
	for f := range fields {
		fields[f] = map[string]int{}
	}
	for _, c := range facts {
		count := func(f field, text string) (n float64) {
			x := scan(text)
			for _, w := range x.terms {
				fields[f][w]++
			}
			return x.length
		}
		m.size.Key += count(keyField, c.Key+"\n"+strings.Join(c.Aliases, "\n"))
		m.size.Value += count(valueField, c.Value)
		m.size.Category += count(categoryField, c.Category)
		if c.Questions != "" {
			questioned++
			m.size.Questions += count(questionsField, c.Questions)
		}
	}
	for _, of := range fields {
		for w, n := range of {
			m.df[w] = max(m.df[w], n)
		}
	}
	n := float64(max(len(facts), 1))
	m.size.Key /= n
	m.size.Value /= n
	m.size.Category /= n
	m.size.Questions /= max(questioned, 1)
	m.words = slices.Sorted(maps.Keys(m.df))
	return m
}

func (m *memory) Size() Size { return m.size }

func (m *memory) Frequencies(of []string) ([]int, error) {
	out := make([]int, len(of))
	for i, w := range of {
		out[i] = m.df[w]
	}
	return out, nil
}

func (m *memory) Words(prefix string) (map[string]int, error) {
	out := map[string]int{}
	i, _ := slices.BinarySearch(m.words, prefix)
	for ; i < len(m.words) && strings.HasPrefix(m.words[i], prefix); i++ {
		out[m.words[i]] = m.df[m.words[i]]
	}
	return out, nil
}

// models names a folder with an installed transformer, which is then fitted instead of the built-in table. It takes .3 s a
// text and more, 20 minutes in all:
//
//	go test ./knowledge/recall -run TestFit -timeout 2h -v -args -models DIR
var models = flag.String("models", "", "fit the transformer of this `folder`")

// encode gives the vectors of texts by the encoder that is built in.
func encode(t testing.TB, texts ...string) [][]float32 {
	v, err := embed.Static().Encode(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var openModel = sync.OnceValues(func() (*embed.Model, error) {
	dir, _, err := embed.Current(*models)
	if err != nil {
		return nil, err
	}
	return embed.OpenModel(dir)
})

// transformed gives the vectors of texts by the transformer. What was encoded is kept.
func transformed(t testing.TB, texts ...string) (out [][]float32) {
	m, err := openModel()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if transformerVectors[text] == nil {
			v, err := m.Encode(t.Context(), []string{text})
			if err != nil {
				t.Fatal(err)
			}
			transformerVectors[text] = v[0]
		}
		out = append(out, transformerVectors[text])
	}
	return out
}

var transformerVectors = map[string][]float32{}

// factText is what the store encodes of a fact.
func factText(c *Candidate) string {
	if name := nameText(c); name != "" {
		return name + ": " + c.Value
	}
	return c.Value
}

// nameText is what the store encodes of a fact's name.
func nameText(c *Candidate) string {
	var out []string
	for _, name := range append([]string{c.Key}, c.Aliases...) {
		for _, w := range strings.FieldsFunc(name, func(r rune) bool { return !('a' <= r|32 && r|32 <= 'z' || r >= 0x80 || '0' <= r && r <= '9') }) {
			if !strings.ContainsAny(w, "0123456789") {
				out = append(out, w)
			}
		}
	}
	return strings.Join(out, " ")
}

// withoutVectors gives candidates as they are where no encoder is used.
func withoutVectors(facts []Candidate) []Candidate {
	out := slices.Clone(facts)
	for i := range out {
		out[i].Vector, out[i].QuestionsVector, out[i].Name = nil, nil, nil
	}
	return out
}

// projectFact is a line of facts.jsonl.
type projectFact struct {
	N        int    `json:"n"`
	Category string `json:"category"`
	Key      string `json:"key"`
	Value    string `json:"value"`
	From     string `json:"valid_from"`
	Stored   string `json:"questions"`
	Replaces int    `json:"replaces"`
	since    time.Time
}

type projectQuestion struct {
	ID, Kind, Question string
	AsOf               string `json:"as_of"`
	Expect, Stale      []int
}

// vectors are those of facts, of their questions and of their names.
type vectors struct{ facts, asked, names [][]float32 }

// projectSet is one of the four projects.
type projectSet struct {
	name      string
	facts     []projectFact
	table     vectors
	model     vectors // of the transformer that is fitted
	questions []projectQuestion
	newest    time.Time
	memories  map[string]*memory // by what is stored
}

func readProjects(t testing.TB) []*projectSet {
	dir := filepath.Join(evalDir(t), "project-questions")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []*projectSet
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		p := &projectSet{name: e.Name(), memories: map[string]*memory{}}
		p.facts = jsonLines[projectFact](t, filepath.Join(dir, e.Name(), "facts.jsonl"))
		p.questions = jsonLines[projectQuestion](t, filepath.Join(dir, e.Name(), "questions.jsonl"))
		stored := map[int]string{}
		for _, s := range jsonLines[projectFact](t, filepath.Join(dir, e.Name(), "stored-questions.jsonl")) {
			stored[s.N] = s.Stored
		}
		var kv, asked, names []string
		for i := range p.facts {
			f := &p.facts[i]
			f.Stored = stored[f.N]
			f.since, err = time.Parse(time.DateOnly, f.From)
			if err != nil {
				t.Fatal(err)
			}
			if f.since.After(p.newest) {
				p.newest = f.since
			}
			kv = append(kv, factText(&Candidate{Key: f.Key, Value: f.Value}))
			asked = append(asked, f.Stored)
			names = append(names, nameText(&Candidate{Key: f.Key}))
		}
		p.table = vectors{encode(t, kv...), encode(t, asked...), encode(t, names...)}
		if *models != "" {
			p.model = vectors{transformed(t, kv...), transformed(t, asked...), make([][]float32, len(kv))}
		}
		out = append(out, p)
	}
	return out
}

// at gives the facts as they were, less some, and their numbers. stored tells which have their stored questions: 0
// none, 1 all, 2 those of even number.
func (p *projectSet) at(by *vectors, asOf time.Time, stored int, less []int) (facts []Candidate, numbers []int) {
	latest := map[string]int{}
	for i, f := range p.facts {
		if !f.since.After(asOf) {
			latest[f.Category+"/"+f.Key] = i
		}
	}
	for i, f := range p.facts {
		if latest[f.Category+"/"+f.Key] != i || f.since.After(asOf) || slices.Contains(less, f.N) {
			continue
		}
		c := Candidate{Category: f.Category, Key: f.Key, Value: f.Value, Since: f.since, Vector: by.facts[i], Name: by.names[i]}
		if stored == 1 || stored == 2 && f.N%2 == 0 {
			c.Questions, c.QuestionsVector = f.Stored, by.asked[i]
		}
		facts, numbers = append(facts, c), append(numbers, f.N)
	}
	return facts, numbers
}

// trial is a question put to a store: what each candidate has, and which answer.
type trial struct {
	project     string
	kind        string
	question    string
	q           *Question
	facts       []Candidate
	numbers     []int
	expect      map[int]bool // by index
	stale       map[int]bool
	features    []features
	meaning     *Meaning
	stored      int  // see [projectSet.at]
	leftOut     bool // its answers were taken out of the store
	transformer bool // compared by one
}

// put makes a trial of a question.
func (p *projectSet) put(t testing.TB, x projectQuestion, stored int, leftOut bool) *trial {
	q := Parse(x.Question, &Options{Now: p.newest.AddDate(0, 0, 1), Newest: p.newest})
	asOf := p.newest
	if q.Date != nil {
		asOf = q.Date.AsOf
	}
	var less []int
	if leftOut {
		less = append(slices.Clone(x.Expect), x.Stale...)
	}
	r := &trial{project: p.name, stored: stored, kind: x.Kind, question: x.Question, q: q, expect: map[int]bool{}, stale: map[int]bool{}, leftOut: leftOut}
	by := &p.table
	if r.transformer = *models != "" && !q.Long; r.transformer {
		by = &p.model
	}
	r.facts, r.numbers = p.at(by, asOf, stored, less)
	for i, n := range r.numbers {
		if slices.Contains(x.Expect, n) {
			r.expect[i] = true
		}
		if slices.Contains(x.Stale, n) {
			r.stale[i] = true
		}
	}
	stores := fmt.Sprint(stored, r.numbers)
	if p.memories[stores] == nil {
		p.memories[stores] = newMemory(r.facts)
	}
	r.resolve(t, p.memories[stores])
	return r
}

func (r *trial) resolve(t testing.TB, corpus Corpus) {
	if err := r.q.Resolve(corpus); err != nil {
		t.Fatal(err)
	}
	r.meaning = &Meaning{Vectors: encode(t, r.q.Texts...)}
	if r.transformer {
		r.meaning = &Meaning{Vectors: transformed(t, r.q.Texts...), Transformer: true}
	}
}

var kinds = []string{"words", "few", "keyword", "prompt", "changed", "asof", "stranger"}

// counts are the outcomes of the questions of a kind.
type counts struct{ n, first, three, silent, stale, firm int }

func (c *counts) add(r *trial, answers []Answer) {
	c.n++
	if len(answers) == 0 {
		c.silent++
		return
	}
	if !answers[0].Maybe {
		c.firm++
	}
	stale := false
	for i, a := range answers {
		if r.expect[a.Index] {
			if i == 0 {
				c.first++
			}
			if i < 3 {
				c.three++
			}
			break
		}
		stale = stale || r.stale[a.Index]
	}
	if stale {
		c.stale++
	}
}

func (c *counts) share(n int) float64 { return float64(n) / float64(max(c.n, 1)) }

// table is the outcomes by kind.
type table map[string]*counts

func (x *table) add(r *trial, answers []Answer) {
	if *x == nil {
		*x = table{}
		for _, k := range append(kinds, "others") {
			(*x)[k] = &counts{}
		}
	}
	(*x)[r.kind].add(r, answers)
	if r.kind != "few" && r.kind != "stranger" {
		(*x)["others"].add(r, answers)
	}
}

func (x table) String() string {
	var b strings.Builder
	for _, k := range append(kinds, "others") {
		c := x[k]
		fmt.Fprintf(&b, "  %-8s first %.2f  among three %.2f  outdated first %.2f  firm %.2f  nothing %.3f\n", k, c.share(c.first), c.share(c.three), c.share(c.stale), c.share(c.firm), c.share(c.silent))
	}
	return b.String()
}

// TestProjects measures the four projects without stored questions, with all of them, with those of every other fact, and by
// words alone.
func TestProjects(t *testing.T) {
	projects := readProjects(t)
	for row, name := range []string{"no questions", "all questions", "half of the questions", "no questions, by words alone"} {
		stored := row % 3
		var all table
		for _, p := range projects {
			for _, x := range p.questions {
				r := p.put(t, x, stored, false)
				if row == 3 {
					r.facts, r.meaning = withoutVectors(r.facts), nil
				}
				all.add(r, r.q.Rank(r.facts, r.meaning))
			}
		}
		t.Logf("%s\n%s", name, all)
		if row == 3 {
			if c := all["changed"]; c.share(c.first) < .66 || c.share(c.stale) > .08 {
				t.Errorf("%s: changed first %.2f, outdated first %.2f", name, c.share(c.first), c.share(c.stale))
			}
			continue
		}
		for _, floor := range []struct {
			kind  string
			three [3]float64
		}{{"words", [3]float64{.98, .98, .98}}, {"keyword", [3]float64{.90, .98, .94}}, {"prompt", [3]float64{.80, .92, .80}}, {"few", [3]float64{.55, .74, .60}}, {"asof", [3]float64{.92, .92, .92}}} {
			if c := all[floor.kind]; c.share(c.three) < floor.three[stored] {
				t.Errorf("%s: %s found among three %.2f", name, floor.kind, c.share(c.three))
			}
		}
		if c := all["changed"]; c.share(c.first) < [3]float64{.70, .88, .76}[stored] || c.share(c.stale) > .08 {
			t.Errorf("%s: changed first %.2f, outdated first %.2f", name, c.share(c.first), c.share(c.stale))
		}
		if c := all["stranger"]; c.share(c.firm) > .25 {
			t.Errorf("%s: strangers answered firmly %.2f", name, c.share(c.firm))
		}
		if c := all["others"]; c.share(c.silent) > .05 {
			t.Errorf("%s: given up %.3f", name, c.share(c.silent))
		}
	}
}
