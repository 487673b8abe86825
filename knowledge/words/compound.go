package words

import (
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
	var room [8]string
	components := split(room[:0], chunk, outer)
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
		emit(a.whole(k, tokens, split(components[:0], chunk, joiner)))
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

// split appends the parts of a compound to out. It cuts at the joiners that at reports. A full stop between digits
// (2.6.1) and an apostrophe (don't) do not part, and a possessive 's is dropped.
func split(out []string, chunk string, at func(rune) bool) []string {
	start, quoted, prev := 0, false, rune(0)
	add := func(part string) {
		if quoted {
			part, quoted = apostrophes.Replace(part), false
		}
		if part != "" {
			out = append(out, part)
		}
	}
	for i, r := range chunk {
		rest := chunk[i+utf8.RuneLen(r):]
		switch {
		case !at(r):
		case r == '\'' || r == '’':
			if rest == "s" || rest == "S" {
				add(chunk[start:i])
				return out
			}
			quoted = true
		case r == '.' && unicode.IsDigit(prev) && unicode.IsDigit(first(rest)):
		default:
			add(chunk[start:i])
			start = len(chunk) - len(rest)
		}
		prev = r
	}
	add(chunk[start:])
	return out
}

var apostrophes = strings.NewReplacer("'", "", "’", "")

// first is the first letter of a text.
func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// component emits the parts of one name and, if there are several, the whole.
func (a *Lexicon) component(c string, emit func(Token)) {
	var room, inName [8]string
	names := split(room[:0], c, inner)
	parts, meaning := 0, false
	for _, n := range names {
		if strings.Contains(n, ".") { // a version number: one word, with or without its v
			emit(Token{Term: clip(strings.TrimPrefix(fold(n), "v"))})
			parts, meaning = parts+1, true
			continue
		}
		for _, p := range camel(inName[:0], n) {
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
		emit(a.whole(k, parts, names))
	}
}

// whole is the token of a compound.
func (a *Lexicon) whole(k Kind, span int, parts []string) Token {
	if k == Whole && a != nil && a.partsOnly {
		return Token{Kind: k, Span: span}
	}
	return Token{Term: wholeWord(parts), Kind: k, Span: span}
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

// camel appends the parts of a name to out. It cuts at changes of case and between two or more letters and digits:
// getUserName, HTTPServer, sha256.
func camel(out []string, name string) []string {
	start, length := 0, 0          // of the part that is read
	digits, number := false, false // whether it holds a digit, and whether it began as digits behind letters
	prev := rune(0)
	for i, r := range name {
		rest := name[i+utf8.RuneLen(r):]
		cut := false
		switch {
		case i == 0:
		case unicode.IsDigit(r):
			cut = length >= 2 && !digits
		case unicode.IsDigit(prev):
			cut = number || unicode.IsUpper(r) && unicode.IsLower(first(rest))
		case unicode.IsUpper(r):
			inner := unicode.IsUpper(prev) && unicode.IsLower(first(rest)) && rest != "s" // APIs, URLs
			cut = unicode.IsLower(prev) || inner
		}
		if cut {
			out = append(out, name[start:i])
			start, length, digits, number = i, 0, false, unicode.IsDigit(r)
		}
		length++
		digits = digits || unicode.IsDigit(r)
		prev = r
	}
	return append(out, name[start:])
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
