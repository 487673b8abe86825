package language

import "strings"

// commandWords are those of a text that commands.
var commandWords = map[string]bool{
	"always": true, "never": true, "must": true, "mustn't": true, "don't": true, "dont": true, "nobody": true, "forbidden": true, "only": true, "no": true,
}

// Commands reports whether a text says what is to be done or left: always, never, must, don't, nobody, forbidden, only, no,
// do not.
func Commands(text string) bool {
	before := ""
	for w := range strings.FieldsFuncSeq(strings.ToLower(strings.ReplaceAll(text, "’", "'")), func(r rune) bool { return notWord(r) || r == '.' || r == '/' }) {
		if commandWords[w] || w == "not" && before == "do" {
			return true
		}
		before = w
	}
	return false
}

// practiceRooms are names of rooms that hold how work is done.
var practiceRooms = map[string]bool{
	"workflow": true, "convention": true, "test": true, "testing": true, "build": true, "tool": true, "tooling": true, "process": true, "processe": true, "style": true, "policy": true, "policie": true, "preference": true, "pref": true, "user": true, "rule": true,
	"env": true, "environment": true, "pattern": true, "guideline": true, "practice": true,
}

// Practice reports whether a text of a room says how work is done, whatever the task is. The room decides; in a room of
// security, the form: it does where it commands. In rooms whose names tell nothing the form misleads: of 360 facts of four
// projects most that say "only" or "no" are about one matter.
func Practice(room, text string) bool {
	security := false
	for w := range strings.FieldsFuncSeq(strings.ToLower(room), func(r rune) bool { return notWord(r) || strings.ContainsRune("_-/.", r) }) {
		if practiceRooms[w] || practiceRooms[strings.TrimSuffix(w, "s")] {
			return true
		}
		security = security || w == "security"
	}
	return security && Commands(text)
}
