package secret

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"leanctx/internal/prose"
)

// shownText is a text as a person reads it: without the characters that nobody sees, and with plain ASCII
// in place of wide and styled letters, digits and marks. A key with a soft hyphen in it, or in letters of
// full width, can be copied from there and used.
type shownText struct {
	text string
	at   []int // where in the original the character of each byte begins; one more for the end
}

// shown reads a text as a person does. ok is false if that is the text itself.
func shown(text string) (s shownText, ok bool) {
	first := strings.IndexFunc(text, odd)
	if first < 0 {
		return s, false
	}
	plain := make([]byte, 0, len(text))
	s.at = make([]int, 0, len(text)+1)
	for i, r := range text {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(text[i:])
		}
		switch c := asciiFor(r); {
		case c != 0:
			plain = append(plain, c)
		case odd(r):
			continue
		default:
			plain = append(plain, text[i:i+size]...)
		}
		for len(s.at) < len(plain) {
			s.at = append(s.at, i)
		}
	}
	s.at, s.text = append(s.at, len(text)), string(plain)
	return s, true
}

// odd reports whether a character is not seen, or is a form of an ASCII one. What ends a line or parts words is seen.
func odd(r rune) bool {
	switch {
	case r >= ' ' && r < 0x7f || r == '\n' || r == '\r' || r == '\t':
		return false
	case r == 0x85 || r == 0x2028 || r == 0x2029 || r == '\v' || r == '\f':
		return false
	}
	return prose.IsHidden(r) || asciiFor(r) != 0
}

// asciiFor is the ASCII character that one of full width stands for, or a styled letter or digit; else 0.
func asciiFor(r rune) byte {
	const wide = 0xfee0 // from ! to ~
	switch {
	case r < 0x2070 || r >= 0x2e80 && r < 0xff01: // nothing of the kind: Europe's, India's, China's letters
		return 0
	case r < 0x2e80 || r > 0xffff:
		var b [utf8.UTFMax]byte
		d := norm.NFKC.Properties(utf8.AppendRune(b[:0], r)).Decomposition()
		if len(d) == 1 && letterOrDigit(d[0]) {
			return d[0]
		}
	case r <= 0xff5e:
		return byte(r - wide)
	}
	return 0
}
