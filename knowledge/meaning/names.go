package meaning

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// OtherNames is how much nearer, in cosine, a fact has to be that holds none of
// the names in a question.
const OtherNames = 0.16

// Unnamed gives the names in a question, folded, and the question without them.
// A name is a word with a capital first and a small letter in it that does not
// begin a sentence. Where more than half of the words look like names, as in a
// headline, none can be told from the rest.
func Unnamed(question string) (names []string, rest string) {
	words := strings.Fields(question)
	var others []string
	begins := true
	for _, w := range words {
		bare := strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		bare = strings.TrimSuffix(strings.TrimSuffix(bare, "'s"), "’s")
		if !begins && nameLike(bare) {
			names = append(names, strings.ToLower(bare))
		} else {
			others = append(others, w)
		}
		last, _ := utf8.DecodeLastRuneInString(w)
		begins = strings.ContainsRune(".?!:…", last)
	}
	if len(names) == 0 || 2*len(names) > len(words) {
		return nil, question
	}
	return names, strings.Join(others, " ")
}

func nameLike(word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	if after := strings.TrimPrefix(word, "I"); strings.HasPrefix(after, "'") || strings.HasPrefix(after, "’") {
		return false // I'm, I've
	}
	return unicode.IsUpper(first) && strings.IndexFunc(word, unicode.IsLower) >= 0
}

// HoldsOne reports whether a text holds one of the names, also as a part of a
// word.
func HoldsOne(text string, names []string) bool {
	text = strings.ToLower(text)
	for _, n := range names {
		if strings.Contains(text, n) {
			return true
		}
	}
	return false
}
