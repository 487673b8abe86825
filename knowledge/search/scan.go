package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// kind says what part a token plays in a query. An index holds them all alike.
type kind uint8

const (
	word  kind = iota // carries meaning: counts for rank and relevance
	stop              // so common that it tells nothing: counts only where a query has nothing else
	whole             // the whole of a compound whose parts stand beside it: a bonus, never missed
	tail              // the last character of an unspaced run: there so that one character can be found
)

// token is one term of a text.
type token struct {
	term string
	kind kind
	span int    // of a whole: how many tokens before it are its parts
	said string // of a plain word: as it was before its ending was taken off
}

const (
	maxTermBytes  = 96 // longer runs (hashes, base64) are cut here, alike in facts and queries
	maxComponents = 12 // a compound of more has no whole: a URL or a line of code is not a name

	tatweel = "ـ" // stretches an Arabic word for the eye: no part of it, and no word where it stands alone
)

// scan splits text into tokens and gives each to emit, in order.
func scan(text string, emit func(token)) { (*lexicon)(nil).scan(text, emit) }

func (a *lexicon) scan(text string, emit func(token)) {
	if !ascii(text) {
		text = norm.NFKC.String(strings.ToValidUTF8(text, " "))
		text = strings.ReplaceAll(text, tatweel, "")
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case unspaced(r):
			n := runLength(text, func(r rune) bool { return unspaced(r) || unicode.Is(unicode.M, r) })
			scanUnspaced(text[:n], emit)
			text = text[n:]
		case wordRune(r):
			n := chunkLength(text)
			a.chunk(text[:n], emit)
			text = text[n:]
		case symbol(r):
			emit(token{term: string(r)})
			text = text[size:]
		case r == '.' && len(text) > 1 && isLetter(text[1:]) && strings.HasPrefix(strings.ToLower(text[1:]), "net"):
			n := chunkLength(text[1:])
			if n == 3 {
				emit(token{term: ".net"})
				text = text[4:]
				continue
			}
			text = text[1:]
		default:
			text = text[size:]
		}
	}
}

func isLetter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}

// wordRune reports whether r stands inside words of scripts that put spaces between them.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.M, r)) && !unspaced(r) && r != '\ufe0f'
}

// unspaced reports whether r is of a script written without spaces between words: its runs become bigrams.
func unspaced(r rune) bool {
	if r < 0x0e00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー'
}

// symbol reports whether r is a sign that people search for by itself: emoji, currency, arrows.
func symbol(r rune) bool {
	return r >= 0xa2 && (unicode.Is(unicode.So, r) || unicode.Is(unicode.Sc, r))
}

// joiner reports whether r between two word runes makes one compound of them.
func joiner(r rune) bool {
	switch r {
	case '_', '-', '.', '/', '\\', ':', '@', '\'', '’', '‐', '‑':
		return true
	}
	return false
}

func runLength(s string, in func(rune) bool) int {
	for i, r := range s {
		if !in(r) {
			return i
		}
	}
	return len(s)
}

// chunkLength is the length of the compound that s begins with: word runes, joined by runs of joiners,
// and the `++` or `#` that belongs to a language's name.
func chunkLength(s string) int {
	end := 0
	for i, r := range s {
		switch {
		case wordRune(r):
			end = i + utf8.RuneLen(r)
		case joiner(r):
		default:
			return end + suffixLength(s, end, i)
		}
	}
	return end + suffixLength(s, end, len(s))
}

// suffixLength is the length of `++` or `#` at s[end:], where a one-letter name (C++, C#, F#) ends just there.
func suffixLength(s string, end, stopped int) int {
	if stopped != end {
		return 0
	}
	for _, suffix := range []string{"++", "#"} {
		if strings.HasPrefix(s[end:], suffix) {
			return len(suffix)
		}
	}
	return 0
}

func scanUnspaced(run string, emit func(token)) {
	prev := ""
	for len(run) > 0 {
		_, n := utf8.DecodeRuneInString(run)
		n += runLength(run[n:], func(r rune) bool { return unicode.Is(unicode.M, r) })
		c := strings.ToLower(run[:n])
		run = run[n:]
		if prev != "" {
			emit(token{term: prev + c})
		}
		if run == "" {
			k := tail
			if prev == "" {
				k = word
			}
			emit(token{term: c, kind: k})
		}
		prev = c
	}
}
