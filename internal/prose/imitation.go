package prose

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// What an answer says of a fact, from the character on with which it begins: the name before a value,
// who says so, how sure it is.
var (
	ownMark  = compiled(`^[` + roundBrackets + `][ \t]*(?:[` + usersLetters + `?？][ \t]*(?:[)）﹚]|[,，‚﹐،][ \t]*\pN)|(?:score|sem|conf)[:=])`)
	ownStars = compiled(`^[` + stars + `]+[` + usersLetters + `?？](?:[^\pL]|$)`)
)

// Characters that look like those of our marks: a reader takes one for the other.
const (
	roundBrackets = "(（﹙"
	usersLetters  = "uUｕＵυսᴜꭎ"
	stars         = "★⭐✭✮✯✪🌟"
)

// compiled is an expression that is compiled when it is first used: every command links this package.
func compiled(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// maxName is how many bytes the brackets around a name can hold at most: a category and a key of 400 characters each.
const maxName = 2*400*utf8.UTFMax + 1

// ownBracket reports whether a text that begins with a bracket begins as the name of a fact, [room/key]:, or as [everywhere].
func ownBracket(s string) bool {
	end := strings.IndexAny(s[1:min(len(s), maxName+2)], "[]\r\n") + 1
	if end == 0 || s[end] != ']' {
		return false
	}
	name := s[1:end]
	return strings.EqualFold(strings.Trim(name, " \t"), "everywhere") || strings.HasPrefix(s[end+1:], ":") && strings.Contains(name, "/")
}

// toldBefore introduces the change of a fact that a session was told.
const toldBefore = "since you were told"

// Imitates reports whether the character at an offset of a text begins what answers say of a
// fact themselves, as the mark of a user's word. It is written as [Shown] then, so that no text
// vouches for itself. Other brackets and stars stay: array[0], [x] done, [docs](a/b.md).
func Imitates(s string, at int) bool {
	rest := s[at:]
	switch r, _ := utf8.DecodeRuneInString(rest); {
	case r == '[':
		return ownBracket(rest)
	case strings.ContainsRune(roundBrackets, r):
		return ownMark().MatchString(rest)
	case strings.ContainsRune(stars, r):
		return ownStars().MatchString(rest)
	case r == ':':
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
var indexed = compiled(`(?:[\pL\pN_./-]\[[\pL\pN_.*-]*\]|\[[\pL\pN_.*-]*\][\pL\pN_./-])`)

// inWord reports whether the bracket at an offset is one of a pair within a word.
func inWord(s string, at int) bool {
	for _, pair := range indexed().FindAllStringIndex(s, -1) {
		if pair[0] <= at && at < pair[1] {
			return true
		}
	}
	return false
}
