package source

import (
	"cmp"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Term is a word by which a file is found, and how much it says about it.
type Term struct {
	Hash   uint32
	Weight uint8
}

// How much a word counts by where it stands.
const (
	weighBase  = 6 // in the file's name
	weighDir   = 3 // in the names of the directories around it
	weighName  = 3 // in a definition
	weighProse = 1 // in a comment

	weighBeginning = 3 // the beginning of a word of the path
	weightMost     = 60
)

// terms gathers the words of a file.
type terms map[uint32]int

func (t *terms) path(name string) {
	dir, base := path.Split(name)
	base = strings.TrimSuffix(base, path.Ext(base))
	t.add(base, weighBase)
	t.add(dir, weighDir)
	for w := range words(dir + base) {
		if b := beginning(w); b != "" {
			t.hash(hashed(b), weighBeginning)
		}
	}
}

// beginning is what stands for all words that begin like w, so that
// "benchmark" finds bench/; empty for a short word.
func beginning(w string) string {
	const letters = 5
	if len(w) < letters || w[letters-1] >= 0x80 {
		return ""
	}
	return w[:letters] + "*"
}

// add takes in an identifier or path: its words, and the whole.
func (t *terms) add(name string, weight int) {
	n, last := 0, ""
	for w := range words(name) {
		t.one(w, weight)
		n, last = n+1, w
	}
	if whole := strings.ToLower(name); n > 1 && whole != last && len(whole) < 60 && !strings.Contains(whole, "/") {
		t.one(whole, 1)
	}
}

func (t *terms) one(w string, weight int) {
	t.hash(hashed(stem(w)), weight)
}

func (t *terms) hash(h uint32, weight int) {
	if *t == nil {
		*t = terms{}
	}
	(*t)[h] = min((*t)[h]+weight, weightMost)
}

// list is the terms that count most, sorted by hash.
func (t *terms) list() []Term {
	out := make([]Term, 0, len(*t))
	for _, h := range slices.Sorted(maps.Keys(*t)) {
		out = append(out, Term{h, uint8((*t)[h])})
	}
	if len(out) > termsMost {
		slices.SortStableFunc(out, func(a, b Term) int { return cmp.Compare(b.Weight, a.Weight) })
		out = out[:termsMost]
		slices.SortFunc(out, func(a, b Term) int { return cmp.Compare(a.Hash, b.Hash) })
	}
	return out
}

// Query are the terms of a text that somebody asks with: each once, without
// the words that every text has.
func Query(s string) []uint32 {
	var out []uint32
	add := func(h uint32) {
		if !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	for part := range strings.FieldsSeq(s) {
		part = strings.Trim(part, ".,;:!?\"'`()[]{}<>")
		n := 0
		for w := range words(part) {
			if !common[w] {
				add(hashed(stem(w)))
				if b := beginning(w); b != "" {
					add(hashed(b))
				}
			}
			n++
		}
		if n > 1 && len(part) < 60 {
			add(hashed(stem(strings.ToLower(strings.TrimSuffix(path.Base(part), path.Ext(part))))))
		}
	}
	return out
}

// common are words that tell nothing in a task.
var common = map[string]bool{
	"a": true, "an": true, "the": true, "and": true, "or": true, "of": true, "to": true, "in": true, "on": true, "for": true, "with": true,
	"by": true, "at": true, "from": true, "as": true, "is": true, "are": true, "be": true, "it": true, "its": true, "that": true, "this": true,
	"when": true, "if": true, "so": true, "do": true, "does": true, "not": true, "no": true, "we": true, "i": true, "should": true, "must": true,
	"can": true, "will": true, "all": true, "any": true, "each": true, "into": true, "than": true, "then": true, "what": true, "which": true, "who": true,
	"how": true, "where": true, "there": true, "their": true, "they": true, "has": true, "have": true, "was": true, "were": true, "but": true,
	"add": true, "fix": true, "make": true, "implement": true, "change": true, "update": true, "bug": true, "please": true, "need": true, "needs": true, "also": true,
}

// hashed is FNV-1a.
func hashed(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// words are the parts of a text in lower case: camelCase, snake_case and
// whatever else is not a letter or digit part them. HTTPServer is http and
// server.
func words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from, prev := -1, rune(0)
		flush := func(to int) bool {
			if from < 0 || to <= from {
				return true
			}
			w := s[from:to]
			from = -1
			return len(w) > 40 || yield(strings.ToLower(w))
		}
		for i, c := range s {
			switch {
			case !unicode.IsLetter(c) && !unicode.IsDigit(c):
				if !flush(i) {
					return
				}
			case from < 0:
				from = i
			case unicode.IsUpper(c) && (unicode.IsLower(prev) || unicode.IsUpper(prev) && startsLower(s[i+utf8.RuneLen(c):])):
				if !flush(i) {
					return
				}
				from = i
			}
			prev = c
		}
		flush(len(s))
	}
}

func startsLower(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(c)
}

// stem takes the usual English endings off a word, so that "leases" finds
// lease and "reminding" finds reminder. Both sides of a comparison go through
// it, so that a wrong stem does no harm as long as it is the same.
func stem(w string) string {
	if len(w) < 4 || w[0] >= 0x80 {
		return w
	}
	for range 2 { // remembered, remember
		if strings.IndexByte("nstrgdy", w[len(w)-1]) < 0 {
			break
		}
		for _, e := range endings {
			if s, ok := strings.CutSuffix(w, e); ok && len(s) >= 3 {
				w = s
				break
			}
		}
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && w[n-1] != 's' && w[n-1] != 'l' && w[n-1] != 'e' {
		w = w[:n-1] // stopped, stopping
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	if len(w) > 3 && strings.HasSuffix(w, "i") || strings.HasSuffix(w, "y") && len(w) > 3 {
		w = w[:len(w)-1]
	}
	return w
}

// endings are tried in turn; the first that leaves three letters is cut.
var endings = [...]string{"ations", "ation", "ments", "ment", "ings", "ing", "ies", "ers", "er", "ors", "or", "ed", "es", "ly", "s"}
