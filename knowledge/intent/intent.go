// Package intent is what somebody works on, as far as knowledge minds it. It
// decides only where nothing else does: between facts that are as relevant, or
// as salient, as each other.
package intent

import (
	"slices"
	"strings"
	"unicode/utf8"

	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
)

// Words are those of a task that tell it from others. None meet nothing.
type Words []string

// wordLeast is how many characters a word of a task must have: shorter ones
// are mostly and, the, to.
const wordLeast = 4

// Of takes the words from a task, said in a sentence.
func Of(task string) (out Words) {
	for _, w := range fact.Terms(task) {
		if utf8.RuneCountInString(w) >= wordLeast && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// Meets counts the words that texts share with what is worked on. A word
// counts also for one that begins with it: login, logins. Of a long text the
// beginning is looked at.
func (i Words) Meets(texts ...string) (n int) {
	if len(i) == 0 {
		return 0
	}
	var words []string
	for _, text := range texts {
		words = append(words, fact.Terms(prose.Clip(text, 1000))...)
	}
	for _, w := range i {
		if slices.ContainsFunc(words, func(x string) bool { return strings.HasPrefix(x, w) }) {
			n++
		}
	}
	return n
}
