package search

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// likeness is a way in which a word of the index may stand for one of the query.
type likeness uint8

const (
	prefixed likeness = iota // it begins with it
	oneEdit                  // one letter inserted, left out, changed or swapped with the next
)

const (
	minPrefix     = 4  // letters a word needs before it stands for all that begin with it
	minPrefixWide = 3  // and where nothing else was found
	minFuzzy      = 4  // letters a word needs before a slip of the pen is assumed
	minClipped    = 4  // letters a name needs before it stands for the longer words it begins
	maxClipped    = 24 // and the most it may have
	maxExpansions = 32 // words that one may stand for; the nearest in length are kept
)

// possible reports whether term may be expanded this way at all.
func (how likeness) possible(term string, wide bool) bool {
	n := utf8.RuneCountInString(term)
	if how == prefixed {
		r, _ := utf8.DecodeRuneInString(term)
		return n >= minPrefix || wide && n >= minPrefixWide || unspaced(r)
	}
	if n < minFuzzy {
		return false
	}
	// A number or an identifier one digit off is another one, not a slip.
	return !strings.ContainsAny(term, "0123456789.")
}

// holds reports whether w is like term.
func (how likeness) holds(term, w string) bool {
	if how == prefixed {
		return len(w) > len(term) && strings.HasPrefix(w, term)
	}
	return w != term && oneEditApart(term, w)
}

// oneEditApart reports whether one insertion, deletion, change or swap of neighbours makes b of a. The first
// letter must agree: slips are rare there, and it spares most of the dictionary.
func oneEditApart(a, b string) bool {
	if len(a)-len(b) > utf8.UTFMax || len(b)-len(a) > utf8.UTFMax || a == "" || b == "" || a[0] != b[0] {
		return false
	}
	x, y := []rune(a), []rune(b)
	if x[0] != y[0] {
		return false
	}
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(y)-len(x) > 1 {
		return false
	}
	i := 0
	for i < len(x) && x[i] == y[i] {
		i++
	}
	if i == len(x) {
		return true
	}
	if len(x) < len(y) {
		return slices.Equal(x[i:], y[i+1:])
	}
	if slices.Equal(x[i+1:], y[i+1:]) {
		return true
	}
	return i+1 < len(x) && x[i] == y[i+1] && x[i+1] == y[i] && slices.Equal(x[i+2:], y[i+2:])
}

// expanded is the words that stand for another.
type expanded struct {
	words    []string
	discount float64 // how much less one counts than the word itself
	fields   field   // those before it are where they do
}

// expansions finds the words of the index that stand for term: those that begin with it, else those one edit
// away, else the longest word of a name that it begins with.
func (r *search) expansions(term string) (expanded, error) {
	if r.query.exact {
		return expanded{}, nil
	}
	for _, way := range []struct {
		how      likeness
		discount float64
	}{{prefixed, r.tune.prefix}, {oneEdit, r.tune.fuzzy}} {
		if !way.how.possible(term, r.wide) {
			continue
		}
		found := map[string]bool{}
		for _, s := range r.found {
			if err := s.source.similar(term, way.how, func(w string) { found[w] = true }); err != nil {
				return expanded{}, err
			}
		}
		if len(found) > 0 {
			return expanded{nearest(found), way.discount, fieldCount}, nil
		}
	}
	return r.clipped(term)
}

// clipped finds the longest word of a name that term begins with: a name is often the beginning of a word
// (auth, config, repo), and who asks writes the word out. Of values that is not so.
func (r *search) clipped(term string) (expanded, error) {
	first, _ := utf8.DecodeRuneInString(term)
	if unspaced(first) || strings.ContainsAny(term, "0123456789.") {
		return expanded{}, nil
	}
	n := utf8.RuneCountInString(term)
	for w := term; n > minClipped; {
		_, last := utf8.DecodeLastRuneInString(w)
		w, n = w[:len(w)-last], n-1
		if n > maxClipped || isStop(w) {
			continue
		}
		df, err := r.count(w, nameFields)
		if err != nil {
			return expanded{}, err
		}
		if df > 0 {
			return expanded{[]string{w}, r.tune.clipped, nameFields}, nil
		}
	}
	return expanded{}, nil
}

// nearest keeps the shortest of the words found, in a fixed order.
func nearest(found map[string]bool) []string {
	out := make([]string, 0, len(found))
	for w := range found {
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return out[:min(len(out), maxExpansions)]
}
