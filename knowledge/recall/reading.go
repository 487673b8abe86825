package recall

import (
	"strings"
	"sync"

	"leanctx/knowledge/words"
)

// Reading is the words of a candidate. Whoever ranks a fact often reads it once.
type Reading struct {
	by     *Reader
	tokens []token
	ends   [fieldCount]int32 // where the tokens of each field end
	marked bool
}

// token is the number that a reader gave a word, and its kind in the last bits.
type token uint32

const kindBits = 2

func (t token) kind() words.Kind { return words.Kind(t & (1<<kindBits - 1)) }
func (t token) word() uint32     { return uint32(t >> kindBits) }

// Size is about how many bytes the reading takes, without the words that its reader keeps.
func (r *Reading) Size() int { return 64 + 4*len(r.tokens) }

func (r *Reading) field(f field) []token {
	if f == 0 {
		return r.tokens[:r.ends[f]]
	}
	return r.tokens[r.ends[f-1]:r.ends[f]]
}

// Reader reads candidates. It keeps each word that it meets once, and may be used by several goroutines.
type Reader struct {
	mu    sync.RWMutex
	known *words.Lexicon
	ids   map[string]uint32
	terms []string
}

// NewReader returns a reader that has met no word yet.
func NewReader() *Reader { return &Reader{known: words.NewLexicon(), ids: map[string]uint32{}} }

// wordSize is about how many bytes a word takes, with its places in two maps.
const wordSize = 160

// Size is about how many bytes the words take that were met.
func (r *Reader) Size() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return wordSize * len(r.terms)
}

// Read reads the words of a candidate.
func (r *Reader) Read(c *Candidate) *Reading {
	x := &Reading{by: r, marked: marked(c.Value)}
	r.mu.Lock()
	defer r.mu.Unlock()
	var space [64]token
	tokens := space[:0]
	for f := range fieldCount {
		r.known.Scan(c.text(f), func(t words.Token) {
			id, met := r.ids[t.Term]
			if !met {
				id = uint32(len(r.terms))
				term := strings.Clone(t.Term) // or the text would be kept with the word
				r.ids[term] = id
				r.terms = append(r.terms, term)
			}
			tokens = append(tokens, token(id<<kindBits)|token(t.Kind))
		})
		x.ends[f] = int32(len(tokens))
	}
	x.tokens = append(make([]token, 0, len(tokens)), tokens...)
	return x
}

// term is the word of a token.
func (r *Reader) term(t token) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.terms[t.word()]
}
