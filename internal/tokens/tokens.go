// Package tokens estimates how many tokens a model reads in a text, without the 6 MB of a
// tokenizer's table.
//
// The o200k encoding first cuts a text into pieces, by rules that need no table: a word with the
// character before it, up to three digits, a run of punctuation, a run of white space (the rules
// are those of https://github.com/openai/tiktoken). Each piece is then one token or more. The
// estimate cuts in the same way, and takes for each piece the average of its class and length. The
// averages, in averages.go, come from the documents and the code of this repository and the texts
// in testdata: `go test ./internal/tokens -update` makes them anew.
package tokens

import (
	"iter"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Estimate is about how many o200k tokens a text has: within 5% over a few thousand tokens of
// prose, code, JSON, hashes or Chinese, and further off in a short text.
func Estimate(text string) int { return int(math.Round(average(text))) }

func average(text string) (sum float64) {
	for p := range pieces(text) {
		sum += p.tokens()
	}
	return sum
}

// pieces are those of a text, from its first to its last.
func pieces(text string) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		before := blanks
		for text != "" {
			p := next(text)
			if before == digits && (p.class == inner || p.class == upper) {
				p.class = mixed
			}
			if !yield(p) {
				return
			}
			before, text = p.class, text[p.bytes:]
		}
	}
}

// piece is what the encoding makes tokens of, apart from the rest of the text.
type piece struct {
	class  class
	length int // in characters
	bytes  int
}

type class int

const (
	lower   class = iota // a word in small letters after a blank
	inner                // small letters after something else, as in a name
	capital              // a word that begins with a capital
	upper                // a word in capitals
	mixed                // letters beside digits, as in a hash
	latin                // a word with letters that ASCII has not, of an alphabet with capitals
	script               // letters of an alphabet without
	han                  // Chinese and Japanese characters, Hangul
	digits               // three at most
	marks                // punctuation of ASCII
	symbols              // other characters that are no letters, such as emoji
	blanks               // white space
	classes
)

// longest is the length from which the pieces of a class are counted by their length.
const longest = 16

func (p piece) tokens() float64 {
	row := &averages[p.class]
	if p.length <= longest {
		return row[p.length-1]
	}
	return row[longest-1] * float64(p.length) / longest
}

// kind is what the rules of the encoding tell apart.
type kind uint8

const (
	mark kind = iota // neither letter, nor digit, nor white space
	small
	big
	digit
	white
	end // a line break
)

var ascii = func() (kinds [utf8.RuneSelf]kind) {
	for r := range rune(utf8.RuneSelf) {
		kinds[r] = kindOf(r)
	}
	return kinds
}()

func kindOf(r rune) kind {
	switch {
	case r == '\r' || r == '\n':
		return end
	case unicode.IsUpper(r) || unicode.IsTitle(r):
		return big
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return small
	case unicode.IsNumber(r):
		return digit
	case unicode.IsSpace(r):
		return white
	}
	return mark
}

// at is the character at a place of a text; its size is 0 at the end.
func at(text string, i int) (k kind, r rune, size int) {
	if i >= len(text) {
		return end, utf8.RuneError, 0
	}
	if b := text[i]; b < utf8.RuneSelf {
		return ascii[b], rune(b), 1
	}
	r, size = utf8.DecodeRuneInString(text[i:])
	return kindOf(r), r, size
}

func (k kind) letter() bool { return k == small || k == big }
func (k kind) space() bool  { return k == white || k == end }

// next is the first piece of a text, which is not empty.
func next(text string) piece {
	first, r, size := at(text, 0)
	second, _, more := at(text, size)
	switch {
	case first.letter():
		return word(text, 0)
	case first == digit:
		p := piece{class: digits}
		for k := first; k == digit && p.length < 3; k, _, size = at(text, p.bytes) {
			p.bytes, p.length = p.bytes+size, p.length+1
		}
		return p
	case first != end && more > 0 && second.letter():
		return word(text, size)
	case first.space() && (r != ' ' || more == 0 || second.space() || second == digit):
		return space(text)
	}
	return punctuation(text)
}

// word is a word, with the from bytes of the one character before it: capitals, then other letters,
// then 's or the like.
func word(text string, from int) piece {
	p, bigs, smalls := piece{bytes: from}, 0, 0
	if from > 0 {
		p.length = 1
	}
	for {
		k, r, size := at(text, p.bytes)
		if !k.letter() || k == big && smalls > 0 {
			if k == mark && r == '\'' {
				n := ending(text[p.bytes+1:])
				p.bytes, p.length = p.bytes+n, p.length+n
			}
			return p.of(text, from, bigs, smalls)
		}
		if k == big {
			bigs++
		} else {
			smalls++
		}
		if r >= utf8.RuneSelf {
			p.class = max(p.class, scriptOf(r))
		}
		p.bytes, p.length = p.bytes+size, p.length+1
	}
}

// ending is how many bytes an apostrophe and one of the endings that go with a word have.
func ending(text string) int {
	for _, e := range []string{"s", "t", "re", "ve", "m", "ll", "d"} {
		if len(text) >= len(e) && strings.EqualFold(text[:len(e)], e) {
			return 1 + len(e)
		}
	}
	return 0
}

// of is a word with its class.
func (p piece) of(text string, from, capitals, small int) piece {
	switch {
	case p.class != lower: // by its letters
	case p.bytes < len(text) && '0' <= text[p.bytes] && text[p.bytes] <= '9':
		p.class = mixed
	case capitals > 1 && small == 0:
		p.class = upper
	case capitals > 0:
		p.class = capital
	case from == 0 || text[0] != ' ':
		p.class = inner
	}
	return p
}

func scriptOf(r rune) class {
	switch {
	case unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic):
		return latin
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return han
	}
	return script
}

// space is a run of white space: to its last line break, else without the blank that goes with what
// follows.
func space(text string) piece {
	p, upTo, last := piece{class: blanks}, piece{class: blanks}, 0
	for {
		k, _, size := at(text, p.bytes)
		if size == 0 || !k.space() {
			break
		}
		p.bytes, p.length, last = p.bytes+size, p.length+1, size
		if k == end {
			upTo = p
		}
	}
	switch {
	case upTo.length > 0:
		return upTo
	case p.bytes < len(text) && p.length > 1:
		p.bytes, p.length = p.bytes-last, p.length-1
	}
	return p
}

// punctuation is a run of characters that are neither letters nor digits, with a blank before it and
// line breaks behind it.
func punctuation(text string) piece {
	p := piece{class: marks}
	if text[0] == ' ' {
		p.bytes, p.length = 1, 1
	}
	for {
		k, r, size := at(text, p.bytes)
		if k != mark || size == 0 {
			break
		}
		if r >= utf8.RuneSelf {
			p.class = symbols
		}
		p.bytes, p.length = p.bytes+size, p.length+1
	}
	for p.bytes < len(text) && strings.IndexByte("\r\n/", text[p.bytes]) >= 0 {
		p.bytes++
	}
	return p
}
