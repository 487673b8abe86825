package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/russian"
	"golang.org/x/text/unicode/norm"
)

// Terms returns the terms that the analyzer makes of a text, in its order. A fact is found by them, and a query asks
// for them. Any text will do, invalid UTF-8 included; a text of punctuation alone has none.
func Terms(text string) []string {
	var out []string
	Scan(text, func(t Token) { out = append(out, t.Term) })
	return out
}

// Lexicon is the analyzer with a memory of the plain words it has met. Most words of a text were met before, and to
// stem a word costs twenty times a look-up. A nil one works, and remembers nothing. Not safe for use by several
// goroutines at once.
type Lexicon struct {
	words     map[string]Token
	partsOnly bool // nobody asks for the wholes of compounds
}

// NewLexicon returns an analyzer that has met no word yet.
func NewLexicon() *Lexicon { return &Lexicon{words: map[string]Token{}} }

// Of more words, or longer ones, no memory is kept: texts may be anything.
const (
	maxWords    = 1 << 14
	longestWord = 24
)

// plain is the token of a word that has no parts.
func (a *Lexicon) plain(s string) Token {
	if a == nil || len(s) > longestWord {
		return plainWord(s)
	}
	t, ok := a.words[s]
	if !ok {
		s = strings.Clone(s) // or the text would be kept with the word
		t = plainWord(s)
		if len(a.words) < maxWords {
			a.words[s] = t
		}
	}
	return t
}

// Count counts the terms of a text; length is how many there are but for stop words, repetitions included.
func (a *Lexicon) Count(text string) (terms map[string]int, length int) {
	terms = make(map[string]int, len(text)/6)
	a.Scan(text, func(t Token) {
		terms[t.Term]++
		if t.Kind != Stop {
			length++
		}
	})
	return terms, length
}

// fold makes spellings of one word equal: lower case; no accents on Latin and Greek, no vowel points on
// Hebrew and Arabic; е for ё.
func fold(s string) string { return plainLetters(strings.ToLower(s)) }

// spelledOut are the Latin letters that have no accent to take off, and that people write in this way where their
// keyboard lacks them: strasse for Straße, Lodz for Łódź.
var spelledOut = map[rune]string{'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ı': "i"}

// plainLetters is a text in lower case without accents and vowel points.
func plainLetters(s string) string {
	if ascii(s) {
		return s
	}
	var b strings.Builder
	strip := false
	for _, r := range norm.NFD.String(s) {
		if plain := spelledOut[r]; plain != "" {
			strip = true
			b.WriteString(plain)
			continue
		}
		switch {
		case unicode.Is(unicode.Mn, r):
			if strip || r == 0x308 && strings.HasSuffix(b.String(), "е") {
				continue
			}
		case r == 'ς':
			r = 'σ'
		default:
			strip = unicode.In(r, unicode.Latin, unicode.Greek, unicode.Hebrew, unicode.Arabic)
		}
		b.WriteRune(r)
	}
	return norm.NFC.String(b.String())
}

// compatible is a text in one way of writing characters, with nothing that is no text.
func compatible(text string) string {
	return strings.ReplaceAll(norm.NFKC.String(strings.ToValidUTF8(text, " ")), tatweel, "")
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// longer reports whether s has more than n letters.
func longer(s string, n int) bool { return len(s) > n && utf8.RuneCountInString(s) > n }

// stem takes a folded word to its stem by the script it is written in: Latin as English, Cyrillic as
// Russian, others, whatever holds a digit, and longer runs than words are as they are.
func stem(s string) string {
	if len(s) < 3 || longer(s, maxStemLetters) {
		return s
	}
	latin, cyrillic := true, true
	for _, r := range s {
		latin = latin && unicode.Is(unicode.Latin, r)
		cyrillic = cyrillic && unicode.Is(unicode.Cyrillic, r)
		if !latin && !cyrillic {
			return s
		}
	}
	env := snowballstem.NewEnv(s)
	if latin {
		english.Stem(env)
	} else {
		russian.Stem(env)
	}
	return env.Current()
}

// FoldName is how names (keys, aliases) are compared whole: case, the space around them, and how a character is
// written do not count.
func FoldName(s string) string {
	if ascii(s) {
		return strings.ToLower(strings.TrimSpace(s))
	}
	return strings.ToLower(strings.TrimSpace(norm.NFKC.String(strings.ToValidUTF8(s, " "))))
}

// Canonical is a name by its words alone: auth-token, authToken and "auth tokens" are one.
func (a *Lexicon) Canonical(s string) string {
	var b strings.Builder
	if a != nil {
		a.partsOnly = true
		defer func() { a.partsOnly = false }()
	}
	a.Scan(s, func(t Token) {
		if t.Kind == Whole || t.Kind == Tail {
			return
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.Term)
	})
	return b.String()
}
