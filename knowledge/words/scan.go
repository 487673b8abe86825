package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind says what part a token plays in a query. An index holds them all alike.
type Kind uint8

// The parts that a token plays.
const (
	Word  Kind = iota // carries meaning: counts for rank and relevance
	Stop              // so common that it tells nothing: counts only where a query has nothing else
	Whole             // the whole of a compound whose parts stand beside it: a bonus, never missed
	Tail              // the last character of an Unspaced run: there so that one character can be found
)

// Token is one term of a text.
type Token struct {
	Term    string
	Kind    Kind
	Span    int    // of a whole: how many tokens before it are its parts
	Written string // of a plain word: as it was before its ending was taken off
}

const (
	maxTermBytes    = 96  // longer runs (hashes, base64) are cut here, alike in facts and queries
	maxStemLetters  = 64  // a longer run of letters is no English or Russian word; the stemmers take quadratic time
	maxComponents   = 12  // a compound of more has no whole: a URL or a line of code is not a name
	maxWholeLetters = 256 // nor has a longer one

	tatweel = "ـ" // stretches an Arabic word for the eye: no part of it, and no word where it stands alone
)

// Scan splits text into tokens and gives each to emit, in order.
func Scan(text string, emit func(Token)) { (*Lexicon)(nil).Scan(text, emit) }

// Scan is the function Scan with the memory.
func (a *Lexicon) Scan(text string, emit func(Token)) {
	if !ascii(text) {
		text = compatible(text)
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case Unspaced(r):
			n := runLength(text, func(r rune) bool { return Unspaced(r) || unicode.Is(unicode.M, r) })
			scanUnspaced(text[:n], emit)
			text = text[n:]
		case wordRune(r):
			n := chunkLength(text)
			a.chunk(text[:n], emit)
			text = text[n:]
		case Symbol(r):
			emit(Token{Term: string(r)})
			text = text[size:]
		case dotNet(text):
			emit(Token{Term: ".net"})
			text = text[len(".net"):]
		default:
			text = text[size:]
		}
	}
}

// dotNet reports whether s begins with the name .NET, which its full stop is part of.
func dotNet(s string) bool {
	const name = ".net"
	return len(s) >= len(name) && strings.EqualFold(s[:len(name)], name) && chunkLength(s[1:]) == len(name)-1
}

// wordRune reports whether r stands inside words of scripts that put spaces between them.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.M, r)) && !Unspaced(r) && r != '\ufe0f'
}

// Unspaced reports whether r is of a script written without spaces between words: its runs become bigrams.
func Unspaced(r rune) bool {
	if r < 0x0e00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー'
}

// Symbol reports whether r is a sign that people search for by itself: emoji, currency, arrows.
func Symbol(r rune) bool {
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

// chunkLength is the length of the compound that s begins with. That is word runes, joined by
// runs of joiners, and the `++` or `#` of a language's name.
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

func scanUnspaced(run string, emit func(Token)) {
	prev := ""
	for len(run) > 0 {
		_, n := utf8.DecodeRuneInString(run)
		n += runLength(run[n:], func(r rune) bool { return unicode.Is(unicode.M, r) })
		c := strings.ToLower(run[:n])
		run = run[n:]
		if prev != "" {
			emit(Token{Term: prev + c})
		}
		if run == "" {
			k := Tail
			if prev == "" {
				k = Word
			}
			emit(Token{Term: c, Kind: k})
		}
		prev = c
	}
}
