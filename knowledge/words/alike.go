package words

import (
	"strings"
	"unicode/utf8"

	"leanctx/internal/language"
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
	return w != term && language.OneEditApart(term, w)
}
