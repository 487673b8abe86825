package meaning

import (
	"strings"
	"unicode"

	"leanctx/embed/vectors"
	"leanctx/knowledge/fact"
)

// maxText is how much of a text is encoded, in bytes. More would cost a
// command that compares fifty facts what it has not.
const maxText = 4 << 10

// Of is the text by which a version is found: the words of its key and
// aliases, then its value.
func Of(v *fact.Version) vectors.Text {
	text := name(v)
	if text != "" {
		text += ": "
	}
	return vectors.Text{ID: v.ID, Text: cutBytes(text+fact.Text(v), maxText)}
}

// OfName is the name of a version's fact.
func OfName(v *fact.Version) string { return cutBytes(name(v), maxText) }

// name is the words of a key and its aliases. Parts that hold a digit are left
// out: they are numbers, dates and ids more often than words.
func name(v *fact.Version) string {
	var b strings.Builder
	for _, name := range append([]string{v.Key}, v.Aliases...) {
		for _, w := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if strings.IndexFunc(w, unicode.IsDigit) < 0 {
				b.WriteString(w)
				b.WriteByte(' ')
			}
		}
	}
	return strings.TrimSuffix(b.String(), " ")
}

// questionsID follows the id of a version in the id of its questions' vector.
const questionsID = "?"

// OfQuestions is the text of a version's questions; ok: it has some.
func OfQuestions(v *fact.Version) (t vectors.Text, ok bool) {
	return vectors.Text{ID: QuestionsID(v.ID), Text: strings.Join(v.Questions, "; ")}, len(v.Questions) > 0
}

// QuestionsID is the id of the vector of a version's questions.
func QuestionsID(version string) string { return version + questionsID }

// VersionOf is the version that a vector is of.
func VersionOf(id string) string { return strings.TrimSuffix(id, questionsID) }

func cutBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}
