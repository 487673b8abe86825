package prose

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What an answer says of a fact, from the character on with which it begins: the name before a value,
// who says so, how sure it is.
var (
	ownBracket = regexp.MustCompile(`^\[[ \t]*(?i:everywhere)[ \t]*\]|^\[[^][\r\n]{0,400}/[^][\r\n]{0,400}\]:`)
	ownMark    = regexp.MustCompile(`^\([ \t]*(?:[uU?][ \t]*(?:\)|,[ \t]*[0-9])|(?:score|sem|conf)[:=])`)
	ownStars   = regexp.MustCompile(`^★+[uU?](?:[^\pL]|$)`)
)

// toldBefore introduces the change of a fact that a session was told.
const toldBefore = "since you were told"

// Imitates reports whether the character at an offset of a text begins what answers say of a
// fact themselves, as the mark of a user's word. It is written as [Shown] then, so that no text
// vouches for itself. Other brackets and stars stay: array[0], [x] done, [docs](a/b.md).
func Imitates(s string, at int) bool {
	rest := s[at:]
	switch r, _ := utf8.DecodeRuneInString(rest); r {
	case '[':
		return ownBracket.MatchString(rest)
	case '(':
		return ownMark.MatchString(rest)
	case '★':
		return ownStars.MatchString(rest)
	case ':':
		return at >= len(toldBefore) && strings.EqualFold(s[at-len(toldBefore):at], toldBefore)
	}
	return false
}

// Name is a category, a key or an author in one line. It cannot end the brackets or the colon
// that a name has around it. A pair of brackets within a word stays, as in array[0] or
// app/[id]/page.tsx.
func Name(s string) string {
	return written(s, "", func(s string, at int) bool {
		r, size := utf8.DecodeRuneInString(s[at:])
		switch r {
		case '[', ']':
			return !inWord(s, at)
		case ':', '=':
			next, _ := utf8.DecodeRuneInString(s[at+size:])
			return unicode.IsSpace(next)
		}
		return Escaped(s, at) || Imitates(s, at)
	})
}

// indexed is a pair of brackets that is part of a word.
var indexed = regexp.MustCompile(`(?:[\pL\pN_./-]\[[\pL\pN_.*-]*\]|\[[\pL\pN_.*-]*\][\pL\pN_./-])`)

// inWord reports whether the bracket at an offset is one of a pair within a word.
func inWord(s string, at int) bool {
	for _, pair := range indexed.FindAllStringIndex(s, -1) {
		if pair[0] <= at && at < pair[1] {
			return true
		}
	}
	return false
}
