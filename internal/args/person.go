package args

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// ClaimsUser reports whether the name of a program would be read as that of a user: `user`, `user via page`,
// `user of X`, or the person's own name, in other letters that look the same too. person may be empty.
// An id such as codex-a3f8 is not read as a person called codex.
func ClaimsUser(name, person string) bool {
	return ClaimsUserOf(name, func() string { return person })
}

// ClaimsUserOf is [ClaimsUser] for a person whose name is found out only where it decides.
func ClaimsUserOf(name string, person func() string) bool {
	words := plainWords(name)
	if len(words) > 0 && words[0] == "the" {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	id := plainWords(AgentType(name))
	switch {
	case strings.Join(words, "") == userWord, len(id) == 1 && id[0] == userWord:
		return true
	case words[0] == userWord && (passesOn(words[1]) || strings.ContainsFunc(name, unicode.IsSpace)):
		return true
	}
	var said strings.Builder
	for i, w := range words {
		said.WriteString(w)
		if last := i == len(words)-1; last && len(id) == 0 || !last && passesOn(words[i+1]) {
			if said.String() == strings.Join(plainWords(person()), "") {
				return true
			}
		}
	}
	return false
}

const userWord = "user"

// passesOn reports whether a word stands between a user and who passed the user's word on.
func passesOn(word string) bool {
	return slices.Contains([]string{"via", "of", "by", "through", "at", "on"}, word)
}

// plainWords are the words of a name in small letters, without marks and hidden characters, each
// letter of another alphabet that looks like a Latin one as that.
func plainWords(name string) []string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToValidUTF8(name, "")) {
		switch {
		case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.IsControl(r) && !unicode.IsSpace(r):
		default:
			r = unicode.ToLower(r)
			if i := strings.IndexRune(lookalikes, r); i >= 0 {
				r = rune(latin[len([]rune(lookalikes[:i]))])
			}
			b.WriteRune(r)
		}
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// Letters that look like a Latin one, each above that one.
const (
	lookalikes = "асеорухіїјѕһԁԛԝбвкмнтгпԍоαβεηικνορτυχωϲϳıɑɡʋսѵʏꜱꞅʀᴇᴜ"
	latin      = "aceopyxiijshdqwbbkmhtrngoabeniknoptuxwcjiaguuvyssreu"
)
