package prose

import (
	"strings"
	"unicode"
)

// maxWordBytes is the most bytes of an id or a word of a closed set.
const maxWordBytes = 200

// IsLine reports whether answers can show texts as they are: each is its own [Line].
func IsLine(texts ...string) bool {
	for _, s := range texts {
		if s != Line(s) {
			return false
		}
	}
	return true
}

// IsWord reports whether texts can be ids or words of a closed set: short, one line, no blank. What
// another machine wrote is checked with it where it is read. An empty text passes.
func IsWord(texts ...string) bool {
	for _, s := range texts {
		if len(s) > maxWordBytes || strings.ContainsFunc(s, unicode.IsSpace) || !IsLine(s) {
			return false
		}
	}
	return true
}
