package fact

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"leanctx/knowledge/words"
)

// Slug makes a key from the first words of a value, as [FirstWords] does. Where
// the value goes on it does not end in function words (expired-links-stay-in-the).
func Slug(value string) string {
	first, whole := firstWords(value)
	if whole {
		return first
	}
	kept := first
	for {
		i := strings.LastIndexByte(kept, '-')
		switch {
		case !words.IsStop(kept[i+1:]):
			return kept
		case i < 0:
			return first // it has no others
		}
		kept = kept[:i]
	}
}

// FirstWords is the first words of a value, at most five, joined by hyphens. It has letters and
// digits of any script in lower case, at most 48 runes. Stores of before have keys made like
// this.
func FirstWords(value string) string {
	first, _ := firstWords(value)
	return first
}

// firstWords also tells whether the value has no more words.
func firstWords(value string) (first string, whole bool) {
	var b strings.Builder
	runes, count, gap := 0, 0, false
	for _, r := range norm.NFKC.String(value) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			if count++; count >= 5 || runes >= 40 {
				return b.String(), false
			}
			b.WriteByte('-')
			runes++
			gap = false
		}
		if runes >= 48 {
			return b.String(), false
		}
		b.WriteRune(unicode.ToLower(r))
		runes++
	}
	if b.Len() == 0 {
		return "note", true
	}
	return b.String(), true
}
