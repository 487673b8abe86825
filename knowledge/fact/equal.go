package fact

import (
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"leanctx/knowledge/words"
)

// SameValue decides whether an assertion confirms a value or contradicts it.
// Two values are the same when, after NFC, with white space collapsed and at
// most one closing mark set aside, their words are the same: letters are
// compared without case, except in words where case carries meaning.
//
// Similar is not the same: a number, a version, a negation, an identifier or
// the place of a word makes another value. We do not measure similarity;
// bag-of-words measures were rejected because they take "uses A not B" and
// "uses B not A" for one.
func SameValue(a, b string) bool {
	if a == b {
		return true
	}
	x, y := Words(a), Words(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !sameWord(x[i], y[i]) {
			return false
		}
	}
	return true
}

// ValueHash is the same for values that are the same by [SameValue]. Others may
// share it, so who finds a value by it compares the two.
func ValueHash(value string) string {
	fold := cases.Fold()
	h := fnv.New64a()
	for _, w := range Words(value) {
		_, _ = h.Write([]byte(fold.String(w))) // never fails
		_, _ = h.Write([]byte{' '})
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// Words are those of a value as [SameValue] compares them, its closing mark set
// aside.
func Words(s string) []string {
	s = strings.TrimSpace(norm.NFC.String(s))
	if r, n := utf8.DecodeLastRuneInString(s); n < len(s) && strings.ContainsRune(".!?…。", r) {
		s = s[:len(s)-n]
	}
	return strings.Fields(s)
}

func sameWord(a, b string) bool {
	if a == b {
		return true
	}
	if caseMatters(a) || caseMatters(b) {
		return false
	}
	fold := cases.Fold()
	return fold.String(a) == fold.String(b)
}

// caseMatters reports whether a word is written like an identifier: it holds
// one of _ / \ . $ @, or capitals after its first letter beside small letters
// (userId, OAuth2). A word all in capitals (JWT) is ordinary emphasis.
func caseMatters(word string) bool {
	letters, innerUpper, lower := 0, false, false
	for _, r := range word {
		switch {
		case strings.ContainsRune(`_/\.$@`, r):
			return true
		case unicode.IsUpper(r):
			innerUpper = innerUpper || letters > 0
			letters++
		case unicode.IsLetter(r):
			lower = lower || unicode.IsLower(r)
			letters++
		}
	}
	return innerUpper && lower
}

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

// FirstWords is the first words of a value, at most five: letters and digits of
// any script in lower case, joined by hyphens, at most 48 runes. Stores of
// before have keys made like this.
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
