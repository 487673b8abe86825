package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// chunk emits the parts of a compound, the wholes of its components, and its own whole.
func (a *Lexicon) chunk(chunk string, emit func(Token)) {
	if undivided(chunk) {
		emit(a.plain(chunk))
		return
	}
	if base := strings.TrimRight(chunk, "+#"); base != chunk {
		if len(base) == 1 {
			emit(Token{Term: strings.ToLower(chunk)})
			return
		}
		chunk = base
	}
	components := split(chunk, outer)
	meaning, tokens := false, 0
	see := func(t Token) {
		meaning = meaning || t.Kind == Word
		tokens++
		emit(t)
	}
	for _, c := range components {
		a.component(c, see)
	}
	if n := len(components); n > 1 && n <= maxComponents && !longer(chunk, maxWholeLetters) {
		k := Whole
		if !meaning {
			k = Word // "to-do": its parts say nothing, so it is the word
		}
		emit(a.whole(k, tokens, func() []string { return split(chunk, joiner) }))
	}
}

// undivided reports whether a chunk is plainly a word without parts. It consists of ASCII letters of which at most the
// first is a capital, or of digits.
func undivided(chunk string) bool {
	digits := isDigit(chunk[0])
	for i := range len(chunk) {
		c := chunk[i]
		switch {
		case digits && isDigit(c):
		case !digits && ('a' <= c && c <= 'z' || i == 0 && 'A' <= c && c <= 'Z'):
		default:
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// inner reports whether r joins the words of one name; the other joiners join names to a path.
func inner(r rune) bool {
	switch r {
	case '_', '-', '‐', '‑', '\'', '’':
		return true
	}
	return false
}

func outer(r rune) bool { return joiner(r) && !inner(r) }

// split cuts a compound at the joiners that at reports. A full stop between digits (2.6.1) and an
// apostrophe (don't) do not part, and a possessive 's is dropped.
func split(chunk string, at func(rune) bool) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	runes := []rune(chunk)
	for i, r := range runes {
		switch {
		case !at(r):
			b.WriteRune(r)
		case r == '\'' || r == '’':
			if i+2 == len(runes) && (runes[i+1] == 's' || runes[i+1] == 'S') {
				flush()
				return out
			}
		case r == '.' && i > 0 && i+1 < len(runes) && unicode.IsDigit(runes[i-1]) && unicode.IsDigit(runes[i+1]):
			b.WriteRune(r)
		default:
			flush()
		}
	}
	flush()
	return out
}

// component emits the parts of one name and, if there are several, the whole.
func (a *Lexicon) component(c string, emit func(Token)) {
	names := split(c, inner)
	parts, meaning := 0, false
	for _, n := range names {
		if strings.Contains(n, ".") { // a version number: one word, with or without its v
			emit(Token{Term: clip(strings.TrimPrefix(fold(n), "v"))})
			parts, meaning = parts+1, true
			continue
		}
		for _, p := range camel(n) {
			t := a.plain(p)
			parts, meaning = parts+1, meaning || t.Kind == Word
			emit(t)
		}
	}
	if parts > 1 && !longer(c, maxWholeLetters) {
		k := Whole
		if !meaning {
			k = Word
		}
		emit(a.whole(k, parts, func() []string { return names }))
	}
}

// whole is the token of a compound.
func (a *Lexicon) whole(k Kind, span int, parts func() []string) Token {
	if k == Whole && a != nil && a.partsOnly {
		return Token{Kind: k, Span: span}
	}
	return Token{Term: wholeWord(parts()), Kind: k, Span: span}
}

// wholeWord is the term of a compound's parts run together: what someone would write who writes it as one word.
func wholeWord(parts []string) string { return clip(stem(fold(strings.Join(parts, "")))) }

// plainWord is the token of a word that has no parts.
func plainWord(s string) Token {
	s = fold(s)
	if IsStop(s) {
		return Token{Term: s, Kind: Stop}
	}
	return Token{Term: clip(stem(s)), Written: s}
}

// camel cuts at changes of case and between two or more letters and digits: getUserName, HTTPServer, sha256.
func camel(c string) []string {
	var out []string
	runes := []rune(c)
	start, number := 0, false
	for i := 1; i < len(runes); i++ {
		cut, digits := boundary(runes, start, i, number)
		if cut {
			out = append(out, string(runes[start:i]))
			start, number = i, digits
		}
	}
	return append(out, string(runes[start:]))
}

// boundary reports whether a part ends before runes[i], and whether a part of digits begins there. number tells that
// the part from start is one of digits cut from letters.
func boundary(runes []rune, start, i int, number bool) (cut, digits bool) {
	prev, r := runes[i-1], runes[i]
	switch {
	case unicode.IsDigit(r):
		letters := i-start >= 2 && !slices.ContainsFunc(runes[start:i], unicode.IsDigit)
		return letters, letters
	case unicode.IsDigit(prev):
		return number || unicode.IsUpper(r) && i+1 < len(runes) && unicode.IsLower(runes[i+1]), false
	case unicode.IsUpper(r):
		if unicode.IsLower(prev) {
			return true, false
		}
		next := i + 1
		if next >= len(runes) || !unicode.IsLower(runes[next]) || !unicode.IsUpper(prev) {
			return false, false
		}
		plural := next+1 == len(runes) && runes[next] == 's' // APIs, URLs
		return !plural, false
	}
	return false, false
}

// clip cuts an over-long term at a rune's end.
func clip(s string) string {
	if len(s) <= maxTermBytes {
		return s
	}
	n := maxTermBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
