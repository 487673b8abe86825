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
	"workflow": true, "convention": true, "test": true, "testing": true, "build": true, "tool": true, "tooling": true, "process": true, "style": true, "policy": true, "policie": true, "preference": true, "pref": true, "user": true, "rule": true,
	"env": true, "environment": true, "pattern": true, "guideline": true, "practice": true,
}

// matterRooms are names of rooms that hold what the project is, whatever the form of a text in them.
var matterRooms = map[string]bool{
	"architecture": true, "arch": true, "decision": true, "gotcha": true, "bug": true, "issue": true, "blocker": true, "team": true, "owner": true, "people": true, "release": true, "plan": true, "roadmap": true, "milestone": true, "date": true, "calendar": true,
	"status": true, "progres": true, "result": true, "finding": true, "insight": true, "version": true, "dependency": true, "dependencie": true, "dep": true, "infra": true, "infrastructure": true, "data": true, "database": true, "schema": true, "api": true, "design": true,
	"stack": true, "performance": true, "product": true, "operation": true, "deployment": true, "session": true, "research": true, "incident": true, "limit": true, "cluster": true, "platform": true, "feature": true,
}

// Practice reports whether a text of a room says how work is done, whatever the task is. The room decides. In a room of
// security, and in one whose name tells nothing, it does where it commands.
func Practice(room, text string) bool {
	known := false
	for w := range strings.FieldsFuncSeq(strings.ToLower(room), func(r rune) bool { return notWord(r) || strings.ContainsRune("_-/.", r) }) {
		w = strings.TrimSuffix(w, "s")
		if practiceRooms[w] {
			return true
		}
		known = known || matterRooms[w]
	}
	return !known && Commands(text)
}
