package prose

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsControl covers C0, DEL, C1, line and paragraph separators and the
// bidirectional overrides, which make a line read as another.
func IsControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// IsHidden covers [IsControl] and all other characters that a model reads and a person does
// not see. These are Unicode's format characters (but the Arabic and Syriac signs among them
// that are drawn), its default-ignorable characters with all variation selectors, and the
// fillers that are drawn as a blank and are none.
func IsHidden(r rune) bool {
	if r < 0x300 {
		return IsControl(r) || r == 0xad
	}
	switch r {
	case 0x2800, 0x16fe4, 0x1d159: // fillers
		return true
	}
	return IsControl(r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// Escaped reports whether the character at an offset of a text is written as [Shown] for a
// model: a hidden one where it stands, or the < that could begin a tag. Every text that a
// model reads takes this one rule.
func Escaped(s string, at int) bool {
	r, size := utf8.DecodeRuneInString(s[at:])
	if r == '<' {
		return opensTag(s[at+size:])
	}
	return hiddenAt(s, at, r)
}

// hiddenAt reports whether the character r at an offset of a text is hidden there. One
// selector after an emoji is part of the emoji, and one joiner may stand where a script or an
// emoji needs it.
func hiddenAt(s string, at int, r rune) bool {
	if !IsHidden(r) {
		return false
	}
	if r == 0xfe0e || r == 0xfe0f {
		before, _ := utf8.DecodeLastRuneInString(s[:at])
		const keycap = "\u20e3"
		digit := '0' <= before && before <= '9' || before == '#' || before == '*'
		return !isEmoji(before) && !(digit && strings.HasPrefix(s[at+len("\ufe0f"):], keycap))
	}
	if r == zwnj || r == zwj {
		before, _ := utf8.DecodeLastRuneInString(s[:at])
		after, _ := utf8.DecodeRuneInString(s[at+utf8.RuneLen(r):])
		return !joins(before, after) && !(r == zwj && (isEmoji(before) || before == 0xfe0f) && isEmoji(after))
	}
	return true
}

const (
	zwnj = 0x200c // a zero width non-joiner
	zwj  = 0x200d // a zero width joiner
)

// joinedScripts are those that are not written rightly without joiners: Persian and Urdu are of
// the Arabic one, Hindi and Marathi of Devanagari.
var joinedScripts = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
	unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
}

// joins reports whether a joiner between two letters is part of the writing: they are of one such
// script.
func joins(before, after rune) bool {
	for _, script := range joinedScripts {
		if unicode.Is(script, before) && unicode.Is(script, after) {
			return unicode.In(before, unicode.L, unicode.M) && unicode.In(after, unicode.L, unicode.M)
		}
	}
	return false
}

// isEmoji covers the characters that have a text form and an emoji form, which a selector
// chooses between: symbols, and those that Unicode counts otherwise.
func isEmoji(r rune) bool {
	switch r {
	case 0xa9, 0xae, 0x203c, 0x2049, 0x2139, 0x3030, 0x303d:
		return true
	}
	return r >= 0x1f000 && r < 0x1fb00 || r >= 0x2000 && r != utf8.RuneError && unicode.In(r, unicode.So, unicode.Sm)
}

// opensTag reports whether what follows a < makes it the beginning of a tag to a model: a
// letter, /, | or blanks and /.
func opensTag(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	if r == '|' || unicode.IsLetter(r) {
		return true
	}
	return strings.HasPrefix(strings.TrimLeftFunc(rest, unicode.IsSpace), "/")
}

// Visible writes hidden characters as [Shown], except those in keep. It is for pages and
// drawings, which escape what is syntax to them; all else takes [Line].
func Visible(s, keep string) string {
	return written(s, keep, func(s string, at int) bool {
		r, _ := utf8.DecodeRuneInString(s[at:])
		return hiddenAt(s, at, r)
	})
}

// Printable writes control characters as [Shown], but line breaks and tabs: a terminal obeys them. All else
// stays as it is, so what is printed can be read back.
func Printable(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return IsControl(r) && !strings.ContainsRune("\n\t\r", r) }) {
		return s
	}
	return written(s, "\n\t\r", func(s string, at int) bool {
		r, _ := utf8.DecodeRuneInString(s[at:])
		return IsControl(r)
	})
}

// escape writes what [Escaped] and [Imitates] report as [Shown], except the characters in keep.
func escape(s, keep string) string {
	return written(s, keep, func(s string, at int) bool { return Escaped(s, at) || Imitates(s, at) })
}

// written writes some characters of a text as [Shown], and invalid UTF-8 as U+FFFD.
func written(s, keep string, some func(s string, at int) bool) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if !strings.ContainsFunc(s, func(r rune) bool { return IsHidden(r) || strings.ContainsRune("<[]:="+roundBrackets+stars, r) }) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if some(s, i) && !strings.ContainsRune(keep, r) {
			b.WriteString(Shown(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Shown is the escape of a character: \n, \t, \r, or \u{…} with its code point in
// hexadecimal.
func Shown(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\t':
		return `\t`
	case '\r':
		return `\r`
	}
	return fmt.Sprintf(`\u{%x}`, r)
}

// Read is a text with its escapes read back: those of [Shown], and a backslash before any other
// character. A text that was never escaped, and has backslashes, becomes another one.
func Read(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == '\\' {
			if c, n := readEscape(s[i:]); n > 0 {
				b.WriteRune(c)
				i += n
				continue
			}
		}
		b.WriteString(s[i : i+size])
		i += size
	}
	return b.String()
}

// ReadName is a name with the characters that [Name] writes by their code points.
func ReadName(s string) string {
	before, rest, ok := strings.Cut(s, `\u{`)
	if !ok {
		return s
	}
	if r, n := readEscape(`\u{` + rest); n > 0 {
		return before + string(r) + ReadName(rest[n-len(`\u{`):])
	}
	return before + `\u{` + ReadName(rest)
}

// readEscape reads the escape that a text begins with, n bytes of it; none if it is no escape.
func readEscape(s string) (r rune, n int) {
	r, size := utf8.DecodeRuneInString(s[1:])
	switch r {
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'u':
		digits, _, ok := strings.Cut(strings.TrimPrefix(s[2:], "{"), "}")
		code, err := strconv.ParseUint(digits, 16, 32)
		if !ok || err != nil || !strings.HasPrefix(s[2:], "{") || !utf8.ValidRune(rune(code)) {
			return 0, 0
		}
		return rune(code), len(`\u{}`) + len(digits)
	case utf8.RuneError:
		return 0, 0
	}
	return r, 1 + size
}
