package fact

import (
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
