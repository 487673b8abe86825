package knowledge

import (
	"slices"
	"strings"

	"leanctx/knowledge/fact"
	"leanctx/knowledge/verdict"
	"leanctx/knowledge/words"
)

// What the text of a finding says, as far as consolidation minds it. Doubt leaves a
// finding where it is: an agent can still remember it.

// guesses are words by which somebody says that he does not know.
var guesses = []string{
	"maybe", "perhaps", "probably", "possibly", "presumably", "apparently", "supposedly", "i think", "i guess", "i suspect", "i believe",
	"i wonder", "not sure", "unsure", "might", "could be", "seems", "seem", "looks like", "no idea", "unclear", "hypothesis", "guess",
	"возможно", "наверное", "кажется", "похоже",
}

// isUnsure reports whether a text is a question or a guess.
func isUnsure(text string) bool {
	text = strings.TrimRight(text, " \t\r\n\"')»”")
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") {
		return true
	}
	return slices.ContainsFunc(guesses, func(g string) bool { return fact.HoldsTerms(text, g) })
}

// Words by which somebody says that something is solved, and by which it is not yet.
var (
	solving  = []string{"solved", "fixed", "resolved", "unblocked", "cleared", "works now", "works again", "no longer blocked", "no longer blocks", "not blocked any more", "not blocked anymore"}
	unsolved = []string{
		"not solved", "not fixed", "not resolved", "isn t", "is not", "wasn t", "was not", "not yet", "still", "never", "cannot", "can t", "unless", "until", "once", "if", "when",
		"to be", "must be", "should be", "will be", "needs", "need", "not been", "hasn t", "haven t", "partly", "partially", "half", "temporarily",
	}
)

// saysSolved reports whether a text says that something is solved.
func saysSolved(text string) bool {
	holds := func(words string) bool { return fact.HoldsTerms(text, words) }
	return slices.ContainsFunc(solving, holds) && !slices.ContainsFunc(unsolved, holds) && !isUnsure(text)
}

// content are the words of a text that carry meaning, each once.
func content(text string) map[string]bool {
	out := map[string]bool{}
	words.Scan(text, func(t words.Token) {
		if t.Kind == words.Word {
			out[t.Term] = true
		}
	})
	return out
}

// common counts what two sets of words share.
func common(a, b map[string]bool) (n int) {
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}

// isAbout reports whether an entry speaks of a blocker: it holds at least two of its
// words, and half of them.
func isAbout(entry, blocker string) bool {
	of := content(blocker)
	n := common(of, content(entry))
	return n >= 2 && 2*n >= len(of)
}

// likeness is how a finding relates to what is known.
type likeness int

const (
	unlike  likeness = iota
	refines          // it says what is known, and more
	repeats          // it says what is known, or less
)

// alikeShare is the share of words, of all in two texts, from which on the texts say the same.
// Their numbers and negations must be the same too.
const alikeShare = .75

// compareFinding tells how a finding relates to a known fact.
func compareFinding(v *fact.Version, text string) likeness {
	known, found := verdict.Canonical(v.Key, v.Value), verdict.Canonical(v.Key, text)
	switch known.Compare(found) {
	case verdict.Equal:
		return repeats
	case verdict.Refined:
		return refines
	}
	if found.Compare(known) == verdict.Refined {
		return repeats
	}
	a, b := content(v.Value), content(text)
	n := common(a, b)
	if float64(n) < alikeShare*float64(len(a)+len(b)-n) || !slices.Equal(fact.Marks(v.Value), fact.Marks(text)) {
		return unlike
	}
	return repeats
}
