package recall

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"leanctx/knowledge/words"
)

// Candidate is a fact that may answer, as it was at the question's time.
type Candidate struct {
	Category, Key   string
	Aliases         []string
	Value           string
	Questions       string    // what was stored as questions with it
	Since           time.Time // when the value began to be true
	Dormant         bool
	Vector          []float32 // of key and value, of length 1; nil if there is none
	QuestionsVector []float32 // of the questions
	Name            []float32 // of the words of the key
	Reading         *Reading  // what a [Reader] gave; nil: it is read now
}

// Meaning is the question compared by meaning.
type Meaning struct {
	Vectors     [][]float32 // of [Question.Texts]
	Only        bool        // words do not count
	Transformer bool        // a transformer made the vectors, not the built-in table
}

// Answer is a candidate that may be shown.
type Answer struct {
	Index    int     // of the candidate
	Score    float64 // the probability that it answers, 0 to 1; never above that of an answer before it
	Maybe    bool    // too weak for a firm answer
	Outdated int     // the answer before it that seems to supersede it; -1 if none
	Words    float64 // BM25F
	Coverage float64 // the share of the question's weight that it covers
	Cosine   float64 // 0 without vectors
	rank     float64 // of the line that stands here by rank
	outdated float64 // log odds that what Outdated names has taken its place
}

// features are what is known of a candidate.
type features struct {
	words, coverage, cosine float64
	name                    float64 // the cosine to the key alone, or to the stored questions
	named                   bool    // the question is its name
	keyed                   bool    // the question holds all words of its key
	rank                    float64
	ids                     []int32 // the words of key and value, each once
}

// field is a part of a fact.
type field int

const (
	keyField field = iota
	questionsField
	valueField
	categoryField
	fieldCount
)

func (c *Candidate) text(f field) string {
	switch f {
	case keyField:
		if len(c.Aliases) > 0 {
			return c.Key + "\n" + strings.Join(c.Aliases, "\n")
		}
		return c.Key
	case questionsField:
		return c.Questions
	case valueField:
		return c.Value
	}
	return c.Category
}

// size is the number of bytes of a field's text.
func (c *Candidate) size(f field) int {
	if f != keyField {
		return len(c.text(f))
	}
	n := len(c.Key)
	for _, a := range c.Aliases {
		n += 1 + len(a)
	}
	return n
}

func (s *Size) average(f field) float64 {
	return max(1, [fieldCount]float64{s.Key, s.Questions, s.Value, s.Category}[f])
}

// matcher finds the words of a question in facts.
type matcher struct {
	q       *Question
	meaning *Meaning
	by      *constants
	known   *words.Lexicon // of texts that are read now
	left    int            // bytes that may yet be read

	reader *Reader // of the first candidate that was read before
	ofWord []int32 // by the reader's number of a word: one more than its id; 0: it was not met yet
	met    []uint32

	ids     map[string]int32
	matches [][]match // by id
	seen    []int     // by id: the candidate that had the word last
	df      []float64 // by id: candidates that have it in key or value
	rarity  []float64 // by id: what it tells about two candidates that share it
	odds    []float64 // of each answer: that it has taken the place of the one that is looked at

	name      string // of the question as a name
	x, share  []float64
	tf        []float64
	candidate int
	paired    []int32 // the ids of all candidates
}

// match is a term of the question that a word counts for.
type match struct {
	term  int
	share float64
}

// matchers are used again. They keep no word.
var matchers = sync.Pool{New: func() any { return &matcher{ids: map[string]int32{}} }}

// newMatcher returns a matcher, to be freed after its last use.
func newMatcher(q *Question, meaning *Meaning) *matcher {
	n := len(q.terms)
	m := matchers.Get().(*matcher)
	*m = matcher{q: q, meaning: meaning, by: meaning.by(), left: MaxRead, ids: m.ids, matches: m.matches[:0], seen: m.seen[:0], df: m.df[:0], rarity: m.rarity[:0], odds: m.odds[:0],
		ofWord: m.ofWord, met: m.met[:0], paired: m.paired[:0], x: zeros(m.x, n), share: zeros(m.share, n), tf: zeros(m.tf, n)}
	for i, t := range q.terms {
		for _, s := range t.substitutes {
			id := m.id(s.text)
			m.matches[id] = append(m.matches[id], match{i, s.share})
		}
	}
	return m
}

// free gives the matcher back, without what it had read.
func (m *matcher) free() {
	if len(m.ids) > maxKept {
		return
	}
	clear(m.ids)
	clear(m.matches)
	for _, w := range m.met {
		m.ofWord[w] = 0
	}
	m.q, m.meaning, m.known, m.reader, m.name = nil, nil, nil, nil, ""
	matchers.Put(m)
}

// zeros is a list of n zeros, in the memory of another one if there is room.
func zeros(list []float64, n int) []float64 {
	list = slices.Grow(list[:0], n)[:n]
	clear(list)
	return list
}

func (m *matcher) id(term string) int32 {
	id, ok := m.ids[term]
	if !ok {
		id = int32(len(m.ids))
		m.ids[term] = id
		m.matches, m.seen, m.df = append(m.matches, nil), append(m.seen, 0), append(m.df, 0)
	}
	return id
}

// features reads a candidate.
func (m *matcher) features(c *Candidate) features {
	var out features
	m.candidate++
	clear(m.x)
	clear(m.share)
	for f := range fieldCount {
		m.field(c, f, &out)
	}
	for i, t := range m.q.terms {
		out.words += t.weight * m.x[i] * (k1 + 1) / (m.x[i] + k1)
		out.coverage += t.weight * m.share[i]
	}
	if m.q.mass > 0 {
		out.coverage /= m.q.mass
	}
	if m.meaning != nil {
		out.cosine, out.name = m.meaning.cosine(c)
		if m.meaning.Only {
			out.words, out.coverage = 0, 0
		}
	}
	out.named = out.coverage > .99 && m.named(c)
	return out
}

// field counts the words of the question in a field of a candidate.
func (m *matcher) field(c *Candidate, f field, out *features) {
	n := c.size(f)
	if n == 0 || m.left == 0 {
		return
	}
	length, hits, first := 0, 0, len(m.paired)-len(out.ids)
	any := false
	count := func(id int32, kind words.Kind) {
		if matches := m.matches[id]; len(matches) > 0 {
			if !any {
				clear(m.tf)
				any = true
			}
			if kind == words.Word {
				hits++
			}
			for _, at := range matches {
				m.tf[at.term] += at.share
				m.share[at.term] = max(m.share[at.term], at.share)
			}
		}
		if kind != words.Word {
			return
		}
		length++
		if (f == keyField || f == valueField) && m.seen[id] != m.candidate && len(m.paired)-first < maxPaired {
			m.seen[id] = m.candidate
			m.df[id]++
			m.paired = append(m.paired, id)
		}
	}
	if c.Reading != nil && n <= m.left {
		m.left -= n
		for _, t := range c.Reading.field(f) {
			count(m.idOf(c.Reading, t), t.kind())
		}
	} else {
		text := cut(c.text(f), m.left)
		m.left -= len(text)
		if text == "" {
			return
		}
		if m.known == nil {
			m.known = words.NewLexicon()
		}
		m.known.Scan(text, func(t words.Token) { count(m.id(t.Term), t.Kind) })
	}
	out.ids = m.paired[first:len(m.paired):len(m.paired)]
	if f == keyField {
		out.keyed = hits > 0 && hits == length
	}
	if !any {
		return
	}
	norm := 1 - fieldB[f] + fieldB[f]*float64(length)/m.q.size.average(f)
	for i := range m.tf {
		m.x[i] += fieldBoost[f] * m.tf[i] / norm
	}
}

// idOf is the id of a word that was read before.
func (m *matcher) idOf(r *Reading, t token) int32 {
	if m.reader == nil {
		m.reader = r.by
	}
	if r.by != m.reader {
		return m.id(r.by.term(t))
	}
	w := int(t.word())
	if w >= len(m.ofWord) {
		m.ofWord = append(m.ofWord, make([]int32, w+1-len(m.ofWord)+w/4)...)
	}
	if m.ofWord[w] == 0 {
		m.ofWord[w] = m.id(r.by.term(t)) + 1
		m.met = append(m.met, uint32(w))
	}
	return m.ofWord[w] - 1
}

// named reports whether the question is the name of a candidate, but for case, order of joiners and stop words.
func (m *matcher) named(c *Candidate) bool {
	if m.q.Long {
		return false
	}
	var none *words.Lexicon
	if m.name == "" {
		m.name = none.Canonical(m.q.text)
	}
	for _, name := range append([]string{c.Key, c.Category + " " + c.Key}, c.Aliases...) {
		if len(name) < maxName && none.Canonical(name) == m.name {
			return true
		}
	}
	return false
}

// Names reports whether the question names a fact by its key or an alias: it holds all of its words. A name of one word
// may be there by chance in a longer question, unless that holds the category too. A task names nothing.
func (q *Question) Names(category, name string) bool {
	if q.Long {
		return false
	}
	holds := func(text string) (all bool, n int) {
		all = true
		words.Scan(text, func(t words.Token) {
			if t.Kind == words.Word {
				n++
				all = all && slices.ContainsFunc(q.terms, func(of term) bool { return of.text == t.Term || of.replacedBy(t.Term) })
			}
		})
		return all && n > 0, n
	}
	all, n := holds(name)
	if n == 1 && len(q.terms) > maxNaming {
		inRoom, _ := holds(category)
		return all && inRoom
	}
	return all
}

// replacedBy reports whether a word is the short or the long form of a term.
func (t *term) replacedBy(word string) bool {
	return slices.ContainsFunc(t.substitutes, func(s substitute) bool { return s.text == word && s.share >= shareAbbreviation })
}

// cosine is the best of the question's texts with a fact, and with its name alone. Stored questions count for both.
func (m *Meaning) cosine(c *Candidate) (fact, name float64) {
	for _, v := range m.Vectors {
		question := dot(v, c.QuestionsVector) - questionsPenalty
		fact, name = max(fact, dot(v, c.Vector), question), max(name, dot(v, c.Name), question)
	}
	return fact, name
}

// Cosine is that of two vectors of length 1.
func Cosine(a, b []float32) float64 { return dot(a, b) }

func dot(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var sum [4]float32 // four sums need not wait for each other
	for len(a) >= 4 && len(b) >= 4 {
		for i := range sum {
			sum[i] += a[i] * b[i]
		}
		a, b = a[4:], b[4:]
	}
	for i, x := range a {
		sum[0] += x * b[i]
	}
	return float64(sum[0] + sum[1] + sum[2] + sum[3])
}

// Rank puts candidates in order and leaves out what does not answer. Without meaning it goes by words alone. The same
// candidates give the same answers in whatever order they come.
func (q *Question) Rank(candidates []Candidate, meaning *Meaning) []Answer {
	by := meaning.by()
	answers, p := q.rank(candidates, meaning, by)
	return q.shown(answers, p, by.weakest)
}

// Related puts candidates in order and leaves out only those that have nothing to do with the question. It is for
// somebody who begins a task and does not know what to ask.
func (q *Question) Related(candidates []Candidate, meaning *Meaning) []Answer {
	answers, _ := q.rank(candidates, meaning, meaning.by())
	return slices.DeleteFunc(answers, func(a Answer) bool { return a.Score < minRelated })
}

// All gives every candidate in the order given, with what speaks for it, whether it answers or not.
func (q *Question) All(candidates []Candidate, meaning *Meaning) []Answer {
	answers, _ := q.rank(candidates, meaning, meaning.by())
	slices.SortFunc(answers, func(a, b Answer) int { return cmp.Compare(a.Index, b.Index) })
	return answers
}

// rank gives all candidates in order, each with the probability that it answers by its own features. It also gives the
// probability that there is an answer, whatever the question may name.
func (q *Question) rank(candidates []Candidate, meaning *Meaning, by *constants) (answers []Answer, p float64) {
	m := newMatcher(q, meaning)
	defer m.free()
	m.by = by
	all := make([]features, len(candidates))
	order := make([]int, len(candidates))
	for i := range candidates {
		all[i] = m.features(&candidates[i])
		all[i].rank = by.rank.of(all[i].words, all[i].coverage, all[i].cosine) + by.name*all[i].name
		if candidates[i].Dormant {
			all[i].rank -= dormantPenalty
		}
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &candidates[i], &candidates[j]
		return cmp.Or(boolInt(all[j].named)-boolInt(all[i].named), cmp.Compare(all[j].rank, all[i].rank), b.Since.Compare(a.Since), cmp.Compare(a.Category, b.Category), cmp.Compare(a.Key, b.Key))
	})
	answers = make([]Answer, len(order))
	inPlace := make([]Answer, len(order)) // a fact that takes another's place takes its score
	for at, i := range order {
		x := &all[i]
		answers[at] = Answer{Index: i, Outdated: -1, Words: x.words, Coverage: x.coverage, Cosine: x.cosine}
		inPlace[at] = Answer{Score: q.probability(x, &by.answer), rank: x.rank}
		if at == 0 {
			p = inPlace[0].Score
		}
		if x.named {
			inPlace[at].Score = 1
		}
	}
	m.supersede(candidates, all, answers)
	for at := range answers {
		answers[at].Score, answers[at].rank = inPlace[at].Score, inPlace[at].rank
	}
	return answers, p
}
