package embed

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// clean gives a text the form that an uncased BERT vocabulary is made for:
// lower case, without accents, control and format characters, and with plain
// spaces. It is the normalizer of the reference tokenizer, done beforehand and
// for both encoders: any string is fine, invalid UTF-8 included, and what comes
// out is valid and stays the same when cleaned again.
//
// The steps are invalid bytes out, lower case, canonical decomposition, marks
// that take no room (Mn) out, controls, format characters, private use and
// U+FFFD out, and every space one of its own kind. The order matters: an accent
// is only a mark of its own once the letter is decomposed.
func clean(text string) string {
	if plain(text) {
		return text
	}
	if !ascii(text) {
		text = strings.ToValidUTF8(text, "")
		text = norm.NFD.String(strings.Map(unicode.ToLower, text))
	}
	return strings.Map(cleanRune, text)
}

// cleanRune gives a rune of a decomposed text as the vocabulary knows it, -1
// for what is left out.
func cleanRune(r rune) rune {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return ' '
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case r >= ' ' && r < 0x7f:
		return r
	case r < 0xa0 || r == utf8.RuneError || unicode.In(r, unicode.Mn, unicode.Cc, unicode.Cf, unicode.Co):
		return -1
	case unicode.In(r, unicode.Z):
		return ' '
	}
	return unicode.ToLower(r) // decomposing gave back a few capitals, such as those of ℃
}

// plain reports whether clean would leave a text as it is: small ASCII.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// ascii reports whether a text has no byte above 0x7f.
func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
