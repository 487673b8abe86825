package words

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Likeness is a way in which a word of the index may stand for one of the query.
type Likeness uint8

// The ways.
const (
	Prefixed Likeness = iota // it begins with it
	OneEdit                  // one letter inserted, left out, changed or swapped with the next
)

// Start is what words like term begin with.
func (how Likeness) Start(term string) string {
	if how == Prefixed {
		return term
	}
	_, n := utf8.DecodeRuneInString(term)
	return term[:n]
}

// Holds reports whether w is like term.
func (how Likeness) Holds(term, w string) bool {
	if how == Prefixed {
		return len(w) > len(term) && strings.HasPrefix(w, term)
	}
	return w != term && OneEditApart(term, w)
}

// OneEditApart reports whether one insertion, deletion, change or swap of neighbours makes b of a. The first
// letter must agree: slips are rare there, and it spares most of the dictionary.
func OneEditApart(a, b string) bool {
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
