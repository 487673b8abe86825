package language

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SentenceEnd is where the first sentence of a text ends, as a number of bytes: at a line's end, or behind a stop before a
// blank, but for the stop of a short form. also are further marks that end one.
func SentenceEnd(text, also string) int {
	for i, c := range text {
		switch {
		case strings.ContainsRune("\n。！？", c):
			return i + utf8.RuneLen(c)
		case !strings.ContainsRune(".!?", c) && !strings.ContainsRune(also, c):
		case i+1 == len(text):
			return i + 1
		case strings.IndexByte(" \t\r\n", text[i+1]) >= 0 && !(c == '.' && shortened(text[:i], text[i+1:])):
			return i + 1
		}
	}
	return len(text)
}

// shortForms are those that a text goes on behind.
var shortForms = []string{"e.g", "i.e", "vs", "cf", "approx", "Dr", "St", "Mr", "Mrs"}

// shortened reports whether the full stop between two texts is that of a short form, a letter or the number of an item.
func shortened(before, after string) bool {
	last := before[strings.LastIndexFunc(before, unicode.IsSpace)+1:]
	last = strings.TrimLeft(last, `("'`)
	switch {
	case last == "No":
		return strings.IndexFunc(strings.TrimLeft(after, " "), unicode.IsDigit) == 0
	case len(last) == 1:
		return unicode.IsLetter(rune(last[0])) || strings.TrimSpace(before) == last
	}
	return slices.Contains(shortForms, last)
}

// Sentences are the sentences of a text, without the blanks around them.
func Sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			n := SentenceEnd(text, "")
			if s := strings.TrimSpace(text[:n]); s != "" && !yield(s) {
				return
			}
			text = text[n:]
		}
	}
}

// FirstSentence is a text up to the end of its first sentence that is at least so many bytes long.
func FirstSentence(text string, least int) string {
	text = strings.TrimSpace(text)
	for n := 0; n < len(text); {
		if n += SentenceEnd(text[n:], ""); n >= least {
			return strings.TrimSpace(text[:n])
		}
	}
	return text
}
