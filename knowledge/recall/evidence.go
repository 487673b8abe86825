package recall

import (
	"math"
	"strings"
	"unicode"

	"leanctx/internal/language"
	"leanctx/knowledge/words"
)

// Evidence is what speaks for telling a fact to somebody who did not ask for it, by the piece of the text that says most: the
// whole or one of its clauses.
type Evidence struct {
	Cosine float64  // of the piece and the fact
	Key    float64  // the share of the words of its key that the piece names, each by its weight
	Words  float64  // the weights of the two weightiest words that both have
	Found  []string // those words, for whoever asks why
}

// Of is the evidence as one number.
func (e *Evidence) Of() float64 {
	return weightCosine*e.Cosine + weightKey*e.Key + weightWords*e.Words
}

// The weights of the evidence. MEASURED.md has the experiments.
const (
	weightCosine = 2.5
	weightKey    = 1.3
	weightWords  = .3
)

// fittedFacts is the number of facts to which the rarity of a word in a store is scaled: it means the same in stores of any size.
const fittedFacts = 360

// Pieces are the pieces of a text, each with its words and vector.
type Pieces struct {
	weights map[string]float64 // of each word of the text
	pieces  []piece
	list    []string // the words, once each
}

type piece struct {
	words  map[string]bool
	vector []float32
}

// NewPieces reads the pieces of a text: the first is the whole.
func NewPieces(texts []string) *Pieces {
	p := &Pieces{weights: map[string]float64{}}
	known := words.NewLexicon()
	for _, text := range texts {
		x := piece{words: map[string]bool{}}
		known.Scan(text, func(t words.Token) {
			if t.Kind != words.Word && t.Kind != words.Whole || isNumber(t.Term) {
				return
			}
			if _, seen := p.weights[t.Term]; !seen {
				if len(p.list) == maxLookedUp {
					return
				}
				term := strings.Clone(t.Term)
				p.list = append(p.list, term)
				p.weights[term] = 0
			}
			x.words[strings.Clone(t.Term)] = true
		})
		p.pieces = append(p.pieces, x)
	}
	return p
}

// isNumber reports whether a word is a bare number: it says nothing.
func isNumber(term string) bool {
	return !strings.ContainsFunc(term, func(r rune) bool { return !unicode.IsDigit(r) })
}

// Resolve looks the words up in the store. A word weighs the lesser of its rarity there and its rarity among prompts.
func (p *Pieces) Resolve(c Corpus) error {
	counts, err := c.Frequencies(p.list)
	if err != nil {
		return err
	}
	facts := float64(max(c.Size().Facts, 1))
	for i, w := range p.list {
		held := float64(counts[i]) * min(1, fittedFacts/facts)
		p.weights[w] = min(math.Log((fittedFacts+1)/(held+1)), language.PromptWeight(w))
	}
	return nil
}

// Vectors gives the pieces their vectors: of the texts in their order, nil where a text has none.
func (p *Pieces) Vectors(list [][]float32) {
	for i := range min(len(list), len(p.pieces)) {
		p.pieces[i].vector = list[i]
	}
}

// Evidence is the best evidence that a piece gives for a fact.
func (p *Pieces) Evidence(c *Candidate) (best Evidence) {
	r := c.Reading
	if r == nil {
		r = NewReader().Read(c)
	}
	for i := range p.pieces {
		if e := p.pieces[i].evidence(p, c, r); e.Of() > best.Of() {
			best = e
		}
	}
	return best
}

func (x *piece) evidence(p *Pieces, c *Candidate, r *Reading) (e Evidence) {
	e.Cosine = max(0, dot(x.vector, c.Vector), dot(x.vector, c.QuestionsVector)-questionsPenalty)
	var first, second string
	a, b := 0.0, 0.0
	seen := map[string]bool{}
	for f := range fieldCount {
		if f == categoryField {
			continue
		}
		for _, t := range r.field(f) {
			term := r.by.term(t)
			if !x.words[term] || seen[term] || t.kind() == words.Stop {
				continue
			}
			seen[term] = true
			switch w := p.weights[term]; {
			case w > a:
				a, b, first, second = w, a, term, first
			case w > b:
				b, second = w, term
			}
		}
	}
	if e.Words = a + b; a > 0 {
		e.Found = append(e.Found, first)
	}
	if b > 0 {
		e.Found = append(e.Found, second)
	}
	named, all := 0.0, 0.0
	for _, t := range r.field(keyField) {
		term := r.by.term(t)
		if t.kind() != words.Word || isNumber(term) {
			continue
		}
		all++
		if x.words[term] {
			named += min(1, p.weights[term]/weighty)
		}
	}
	if all > 0 {
		e.Key = named / all
	}
	return e
}

// weighty is the weight from which on a word of a key counts in full.
const weighty = 4
