package index

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"leanctx/knowledge/words"
)

// tail holds the facts that changed since the generation on disk, by ID. There are few of them: they are looked
// through one by one.
type tail map[string]*tailDoc

// tailDoc is a fact in memory, cut into terms once.
type tailDoc struct {
	Doc
	removed bool
	held    bool   // the generation on disk has it too
	seq     uint64 // the commit that Apply brought it up to
	names   []string
	tags    []string
	in      string
	terms   [fieldCount]map[string]int // how often a field holds a term
	lengths [fieldCount]int            // in terms
	content [fieldCount]int            // in terms that are no stop words
}

// analyse cuts a document into terms.
func analyse(d *Doc) *tailDoc {
	t := &tailDoc{Doc: *d, names: d.names(), tags: folded(d.Tags), in: words.FoldName(d.Category)}
	for f := range fieldCount {
		t.terms[f] = map[string]int{}
		for _, text := range d.text(f) {
			analysed.scan(text, func(token words.Token) {
				t.terms[f][token.Term]++
				t.lengths[f]++
				if token.Kind != words.Stop {
					t.content[f]++
				}
			})
		}
	}
	return t
}

// list gives the documents by ID.
func (t tail) list() []*tailDoc {
	out := make([]*tailDoc, 0, len(t))
	for _, d := range t {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b *tailDoc) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// statistics are what BM25 knows of all documents.
type statistics struct {
	Docs    int             `json:"docs"`
	Lengths [fieldCount]int `json:"lengths"` // of all documents together, in terms
	Content [fieldCount]int `json:"content"` // the same without stop words
}

// add counts one more document.
func (s *statistics) add(d *tailDoc) {
	s.Docs++
	for f := range fieldCount {
		s.Lengths[f] += d.lengths[f]
		s.Content[f] += d.content[f]
	}
}

// replace counts one document on disk less. It is taken to be of average length, since its own is not known; the next
// full build counts exactly again.
func (s *statistics) replace() {
	for f := range fieldCount {
		s.Lengths[f] -= s.Lengths[f] / s.Docs
		s.Content[f] -= s.Content[f] / s.Docs
	}
	s.Docs--
}

// average is the average length of a field as bleve computes it: rounded up.
func (s *statistics) average(f Field) float64 {
	return math.Ceil(float64(s.Lengths[f]) / float64(s.Docs))
}

// idf is bleve's, for a term that df documents hold in a field.
func (s *statistics) idf(f Field, df int) float64 {
	if s.average(f) > 0 {
		return math.Log(1 + (float64(s.Docs)-float64(df)+.5)/(float64(df)+.5))
	}
	return 1 + math.Log(float64(s.Docs)/float64(df+1))
}

// scorer scores documents in memory as bleve scores those on disk. For a query of fields f and terms t:
//
//	score = m/n · Σ_f m_f/n_f · Σ_t boost_f · weight_t · idf² · norm · √tf · k1 / (√tf + k1·(1 − b + b·length/average))
//
// where m of n fields match, m_f of a field's n_f terms do, k1 = 1.2, b = 0.75, and norm is 1/√Σ(boost·weight·idf)² over
// all fields and terms. idf and average are those of the field. This is what bleve v2.6.1 computes for a disjunction,
// over the fields, of disjunctions of term queries with BM25 scoring.
type scorer struct {
	query  *Query
	fields []Field
	stats  statistics
	idf    [][]float64 // by field and term
	norm   float64
}

// newScorer takes how many documents hold each term in each of the query's fields.
func newScorer(q *Query, s statistics, df func(f Field, term string) int) *scorer {
	r := &scorer{query: q, fields: q.fields(), stats: s}
	sum := 0.0
	for _, f := range r.fields {
		idf := make([]float64, len(q.Terms))
		for i, t := range q.Terms {
			idf[i] = s.idf(f, df(f, t.Text))
			w := q.Boosts[f] * t.weight() * idf[i]
			sum += w * w
		}
		r.idf = append(r.idf, idf)
	}
	r.norm = 1 / math.Sqrt(sum)
	return r
}

// score is 0 for a document that has none of the terms.
func (r *scorer) score(d *tailDoc) float64 {
	const k1, b = 1.2, .75
	total, matched := 0.0, 0
	for i, f := range r.fields {
		sum, n := 0.0, 0
		length := float64(d.lengths[f])
		for j, t := range r.query.Terms {
			tf := math.Sqrt(float64(d.terms[f][t.Text]))
			if tf == 0 {
				continue
			}
			n++
			idf := r.idf[i][j]
			sum += r.query.Boosts[f] * t.weight() * idf * idf * r.norm * tf * k1 / (tf + k1*(1-b+b*length/r.stats.average(f)))
		}
		if n > 0 {
			matched++
			total += sum * float64(n) / float64(len(r.query.Terms))
		}
	}
	return total * float64(matched) / float64(len(r.fields))
}

// byScore is the order of answers.
func byScore(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
}
