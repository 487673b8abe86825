package fact

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"leanctx/formats"
	"leanctx/internal/language"
	"leanctx/knowledge/words"
)

// Slug makes a key from the first words of a value, as [FirstWords] does. Where
// the value goes on it does not end in function words (expired-links-stay-in-the).
func Slug(value string) string {
	first, whole := firstWords(value)
	if whole {
		return first
	}
	slug := first
	for {
		i := strings.LastIndexByte(slug, '-')
		switch {
		case !words.IsStop(slug[i+1:]):
			return slug
		case i < 0:
			return first // it has no others
		}
		slug = slug[:i]
	}
}

// FirstWords is the first words of a value, at most five, joined by hyphens. It has letters and
// digits of any script in lower case, at most 48 runes. Older stores have keys made like
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

// Terms are the words of a text, folded: letters, digits and marks of any
// script, and nothing else.
func Terms(text string) []string {
	return strings.FieldsFunc(formats.FoldName(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
}

// HoldsTerms reports whether a text holds words, whole and in their order. Where
// there are no words it does not.
func HoldsTerms(text, words string) bool {
	join := func(s string) string { return " " + strings.Join(Terms(s), " ") + " " }
	k := join(words)
	return strings.TrimSpace(k) != "" && strings.Contains(join(text), k)
}

// Marks are the words of a text that hold a digit, and a "no" for each word that denies, in
// order of the alphabet. Two texts with different marks do not say the same.
func Marks(text string) (out []string) {
	for _, w := range Terms(text) {
		switch {
		case language.Negates(w), slices.Contains([]string{"t", "off", "disabled", "instead", "rather"}, w): // don't has the terms don and t
			out = append(out, "no")
		case strings.IndexFunc(w, unicode.IsDigit) >= 0:
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return out
}
