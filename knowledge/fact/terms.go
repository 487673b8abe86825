package fact

import (
	"slices"
	"strings"
	"unicode"

	"leanctx/formats"
)

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
		switch w {
		case "no", "not", "never", "without", "none", "t", "off", "disabled", "cannot", "neither", "nor", "nothing", "nobody", "instead", "rather":
			out = append(out, "no") // don't has the terms don and t
		default:
			if strings.IndexFunc(w, unicode.IsDigit) >= 0 {
				out = append(out, w)
			}
		}
	}
	slices.Sort(out)
	return out
}
