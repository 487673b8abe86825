package source

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"leanctx/knowledge/words"
)

// Term is a word by which a file is found, and how much it says about it.
type Term struct {
	Hash   uint32
	Weight uint8
}

// How much a word counts, by its place.
const (
	weighBase  = 6 // in the file's name
	weighDir   = 3 // in the names of the directories around it
	weighName  = 3 // in a definition
	weighProse = 1 // in a comment

	weighBeginning = 3 // the beginning of a word of the path
	maxWeight      = 60
)

// terms gathers the words of a file. They are cut and stemmed as facts are, by
// package words; stop words do not count.
type terms struct {
	weights map[uint32]int
	lexicon *words.Lexicon
}

func newTerms() *terms { return &terms{map[uint32]int{}, words.NewLexicon()} }

func (t *terms) path(name string) {
	dir, base := path.Split(name)
	base = strings.TrimSuffix(base, path.Ext(base))
	t.add(base, weighBase)
	t.add(dir, weighDir)
	t.lexicon.Scan(dir+base, func(token words.Token) {
		if b := beginning(token); b != "" {
			t.hash(hashed(b), weighBeginning)
		}
		if token.Kind == words.Word && len(written(token)) >= leastShort {
			t.hash(hashed(short(written(token))), weighBeginning)
		}
	})
}

// leastShort is the fewest letters of a short form.
const leastShort = 4

// short is the term of a word of a path that may be the short form of a longer one, so that
// "authentication" finds auth.ts.
func short(word string) string { return "<" + word }

// shortForms are the terms of the words that a long word may be shortened to: by two fifths at least, or they
// would be other words.
func shortForms(t words.Token) (out []string) {
	w := written(t)
	for n := leastShort; t.Kind == words.Word && 5*n <= 3*len(w); n++ {
		if w[n-1] >= 0x80 {
			return nil
		}
		out = append(out, short(w[:n]))
	}
	return out
}

// written is a word as it was written, in lower case.
func written(t words.Token) string { return strings.ToLower(cmp.Or(t.Written, t.Term)) }

// beginning is the prefix that represents all words with it, so that "benchmark"
// finds bench/. It is empty for a short word.
func beginning(t words.Token) string {
	const letters = 5
	w := written(t)
	if t.Kind != words.Word || len(w) < letters || w[letters-1] >= 0x80 {
		return ""
	}
	return w[:letters] + "*"
}

// longest is the longest word, in bytes, that counts: the rest are no words.
const longest = 60

// add takes in the words of a text, and the whole of each compound.
func (t *terms) add(text string, weight int) (n int) {
	t.lexicon.Scan(text, func(token words.Token) {
		switch {
		case len(token.Term) > longest:
		case token.Kind == words.Word:
			t.hash(hashed(token.Term), weight)
			n++
		case token.Kind == words.Whole:
			t.hash(hashed(token.Term), 1)
		}
	})
	return n
}

func (t *terms) hash(h uint32, weight int) { t.weights[h] = min(t.weights[h]+weight, maxWeight) }

// list is the terms that count most, sorted by hash.
func (t *terms) list() []Term {
	out := make([]Term, 0, len(t.weights))
	for _, h := range slices.Sorted(maps.Keys(t.weights)) {
		out = append(out, Term{h, uint8(t.weights[h])})
	}
	if len(out) > maxTerms {
		slices.SortStableFunc(out, func(a, b Term) int { return cmp.Compare(b.Weight, a.Weight) })
		out = out[:maxTerms]
		slices.SortFunc(out, func(a, b Term) int { return cmp.Compare(a.Hash, b.Hash) })
	}
	return out
}

// Query are the terms of a text that somebody asks with: each once, without
// the words that every task has.
func Query(s string) []uint32 { return termsOf(s, true) }

// Subject are the terms of a text that says what was done, to be compared with those of a question of the
// same kind: without the forms that words may have in a path.
func Subject(s string) []uint32 { return termsOf(s, false) }

func termsOf(s string, forPaths bool) (out []uint32) {
	add := func(term string) {
		if h := hashed(term); !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	words.Scan(s, func(t words.Token) {
		if t.Kind == words.Stop || t.Kind == words.Tail || len(t.Term) > longest || taskWords[t.Term] {
			return
		}
		add(t.Term)
		if b := beginning(t); b != "" {
			add(b)
		}
		if forPaths {
			for _, s := range shortForms(t) {
				add(s)
			}
		}
	})
	return out
}

// taskWords tell nothing in a task, as stems.
var taskWords = map[string]bool{
	"add": true, "fix": true, "make": true, "implement": true, "chang": true, "updat": true, "bug": true, "pleas": true, "need": true,
}

// hashed is FNV-1a.
func hashed(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}
