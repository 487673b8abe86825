package secret

import (
	"regexp"
	"strings"
	"sync"
)

// RepositoryRule is a rule that a repository brings. Anybody may have written it, so it takes out
// what looks like a secret and never a word: "never push" without "never" says the opposite. It
// takes out the whole word that its match is in, and its name is not in the marker, where it would
// speak as a part of the user's sentence.
type RepositoryRule struct {
	Pattern  *regexp.Regexp
	Keywords []string // in lower case; a text without any of them is not searched; none: always searched
	Entropy  float64  // bits per character that the match must exceed; 0: any
}

// ofRepository gives the marker its name. Where another rule finds the same secret, that one does.
var ofRepository = rule{id: "repository", broad: 1 << 10}

// find adds the secrets of a text to spans. low is the text in lower case.
func (r RepositoryRule) find(text, low string, spans []span) []span {
	if len(r.Keywords) > 0 && !containsAny(low, r.Keywords...) {
		return spans
	}
	for _, loc := range r.Pattern.FindAllStringIndex(text, -1) {
		start, end := loc[0], loc[1]
		for start > 0 && (word(text[start-1]) || text[start-1] == '-' || inNumber(text, start-1)) {
			start--
		}
		for end < len(text) && (word(text[end]) || text[end] == '-' || inNumber(text, end)) {
			end++
		}
		if r.Entropy > 0 && entropy(text[loc[0]:loc[1]]) <= r.Entropy || !secretLike(text[start:end]) {
			continue
		}
		spans = append(spans, span{start: start, end: end, rule: &ofRepository})
	}
	return spans
}

// inNumber reports whether a point stands between two digits.
func inNumber(text string, at int) bool {
	return text[at] == '.' && at > 0 && at+1 < len(text) && digitCount(text[at-1:at]) == 1 && digitCount(text[at+1:at+2]) == 1
}

// minRepository is the fewest characters that a repository's rule takes out: a number of four
// digits is a port or a year.
const minRepository = 6

// secretLike reports whether a match can be a secret and is no words: an id, a number of several
// groups, an address, a path from the root, random letters. All that is between two blanks must be.
// What a rule of work is made of is none: a version, a day, the name of a target or a setting with its number.
func secretLike(match string) bool {
	if len(match) < minRepository || !ascii(match) {
		return false
	}
	for piece := range strings.FieldsSeq(match) {
		plain := strings.Trim(piece, "\"'`()[]{}<>,;:.!?")
		if version().MatchString(plain) || day().MatchString(plain) || !strings.ContainsAny(piece, "0123456789") && !addressLike(piece) && !looksRandom(piece) {
			return false
		}
		if strings.ContainsAny(plain, "_=") && digitCount(plain) < minDigits && !looksRandom(plain) && !addressLike(plain) {
			return false
		}
	}
	return true
}

// minDigits is the fewest digits by which a name of words is an id of its own: test_v2_all and max_retries=100 are none.
const minDigits = 5

func digitCount(s string) (n int) {
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			n++
		}
	}
	return n
}

// Versions of three numbers and more may be addresses on a network: of those only what begins with v, or goes on with a suffix.
var (
	version = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[A-Za-z@/]+[@/:-])?(?:v\d+(?:\.\d+)+|[~^]?\d+(?:\.\d+){1,2})(?:[-+][0-9A-Za-z.-]+)?$`)
	})
	day = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\d{4}-\d{2}(?:-\d{2})?(?:T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?$`)
	})
)

// addressLike reports an address of mail, a URL, a path from the root, or a name of a host of three parts.
func addressLike(s string) bool {
	s = strings.Trim(s, "\"'`()[]{}<>,;:.!?")
	at := strings.IndexByte(s, '@')
	return at > 0 && strings.IndexByte(s[at:], '.') > 1 || strings.Contains(s, "://") ||
		strings.HasPrefix(s, "/") && strings.IndexByte(s[1:], '/') > 0 ||
		strings.Count(s, ".") > 1 && !strings.Contains(s, "..")
}
