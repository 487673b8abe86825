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
	onDisk  bool   // the generation on disk has it too
	seq     uint64 // the commit that Apply brought it up to
	names   []string
	tags    []string
	in      string
	terms   map[string]counts // how often each field holds a term
	lengths counts            // in terms
	content counts            // in terms that are no stop words
	short   bool              // not all of its texts was cut into terms
}

// counts are numbers by field.
type counts [fieldCount]int

// analyse cuts a document into terms, of each of its texts so many bytes at most; 0: all of it.
func analyse(d *Doc, most int) *tailDoc {
	t := &tailDoc{Doc: *d, names: d.names(), tags: d.tags(), in: words.FoldName(d.Category), terms: map[string]counts{}}
	for f := range fieldCount {
		for _, text := range d.text(f) {
			if most > 0 && len(text) > most {
				text = strings.ToValidUTF8(text[:most], "")
				t.short = true
			}
			analysed.scan(text, func(token words.Token) {
				n := t.terms[token.Term]
				n[f]++
				t.terms[token.Term] = n
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
	Docs    int    `json:"docs"`
	Lengths counts `json:"lengths"` // of all documents together, in terms
	Content counts `json:"content"` // the same without stop words
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
// where m of n fields match, and m_f of a field's n_f terms do. k1 is 1.2, and b is 0.75. norm is
// 1/√Σ(boost·weight·idf)² over all fields and terms. The idf and the average are those of the field. This is what bleve v2.6.1 computes for a
// disjunction, over the fields, of disjunctions of term queries with BM25 scoring.
type scorer struct {
	query  *Query
	fields []Field
	stats  statistics
	idf    [][fieldCount]float64 // by term
	norm   float64
}

// newScorer takes how many documents hold each term in each field.
func newScorer(q *Query, s statistics, holding []counts) *scorer {
	r := &scorer{query: q, fields: q.fields(), stats: s, idf: make([][fieldCount]float64, len(q.Terms))}
	sum := 0.0
	for i, t := range q.Terms {
		for _, f := range r.fields {
			r.idf[i][f] = s.idf(f, holding[i][f])
			w := q.Boosts[f] * t.weight() * r.idf[i][f]
			sum += w * w
		}
	}
	r.norm = 1 / math.Sqrt(sum)
	return r
}

// score is 0 for a document that has none of the terms.
func (r *scorer) score(d *tailDoc) float64 {
	const k1, b = 1.2, .75
	var sums [fieldCount]float64
	var matches counts
	for i, t := range r.query.Terms {
		n, ok := d.terms[t.Text]
		if !ok {
			continue
		}
		for _, f := range r.fields {
			if n[f] == 0 {
				continue
			}
			tf, idf := math.Sqrt(float64(n[f])), r.idf[i][f]
			sums[f] += r.query.Boosts[f] * t.weight() * idf * idf * r.norm * tf * k1 / (tf + k1*(1-b+b*float64(d.lengths[f])/r.stats.average(f)))
			matches[f]++
		}
	}
	total, matched := 0.0, 0
	for _, f := range r.fields {
		if matches[f] > 0 {
			matched++
			total += sums[f] * float64(matches[f]) / float64(len(r.query.Terms))
		}
	}
	return total * float64(matched) / float64(len(r.fields))
}

// byScore is the order of answers.
func byScore(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
}
