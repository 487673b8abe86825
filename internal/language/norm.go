package language

import (
	"slices"
	"strings"
	"time"
)

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

// demandWords are those of a sentence that says how something has to be done, beside the [commandWords] and the [universal] ones.
var demandWords = map[string]bool{
	"ask": true, "without": true, "unless": true, "rejected": true, "refused": true, "avoid": true, "prefer": true, "required": true, "cannot": true,
}

// imperatives are the verbs with which a sentence begins that says what to do.
var imperatives = map[string]bool{
	"use": true, "run": true, "keep": true, "check": true, "write": true, "answer": true, "tag": true, "put": true, "call": true, "give": true, "add": true, "build": true, "make": true, "start": true, "stop": true, "test": true,
	"name": true, "let": true, "leave": true, "treat": true, "generate": true, "mark": true, "label": true, "rebase": true, "squash": true, "rename": true, "commit": true, "format": true, "sign": true, "send": true, "wait": true, "install": true,
	"merge": true, "push": true, "say": true, "tell": true, "show": true, "prefix": true, "document": true, "log": true, "open": true, "read": true, "pass": true, "take": true, "store": true, "follow": true, "remember": true,
}

// Demands reports whether the first sentence of a text says how something has to be done, and does not only tell how it is:
// it commands, allows no exception, sets a bound, begins with what to do, or speaks of all things of a kind, as "Commit
// subjects start with the ticket" does.
func Demands(text string) bool {
	text = firstSentence(text)
	if Commands(text) {
		return true
	}
	words := normWords(text)
	for i, w := range words {
		switch {
		case demandWords[w], i == 0 && imperatives[w]:
			return true
		case universal[w] && (i <= 1 || words[i-1] == "for" || words[i-1] == "of"): // "at each rung" tells what a program does
			return true
		case (w == "most" || w == "least") && i > 0 && words[i-1] == "at":
			return true
		case i > 0 && i <= maxSubject && pluralVerbs[w] && isPlural(words[i-1]) && isGeneric(words[:i]):
			return w != "are" || i+1 == len(words) || !places[words[i+1]] // "textures are in Git LFS"
		}
	}
	return false
}

// Settles reports whether the first sentence of a text commands or says what stays as it is.
func Settles(text string) bool {
	text = firstSentence(text)
	return Commands(text) || slices.ContainsFunc(normWords(text), func(w string) bool { return settledWords[w] })
}

// settledWords are those of a sentence that says what stays as it is.
var settledWords = map[string]bool{"stay": true, "stays": true, "remain": true, "remains": true, "pinned": true, "frozen": true, "locked": true}

// firstSentence is the first sentence of a text of its first paragraph, where lines are wrapped.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text[:min(len(text), maxSentence)]), "\n\n")
	return FirstSentence(strings.ReplaceAll(text, "\n", " "), minSentence)
}

// maxSentence is how many bytes of a text are read for its first sentence.
const maxSentence = 1 << 10

// normWords are the words of a sentence, in small letters.
func normWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return notWord(r) || r == '.' || r == '/' })
}

// maxSubject is how many words stand before the verb of a sentence that speaks of all things of a kind.
const maxSubject = 4

// universal are the words that allow no exception of a sentence's subject.
var universal = map[string]bool{"every": true, "each": true, "everything": true, "everyone": true, "anything": true, "anyone": true, "any": true, "all": true}

// pluralVerbs are verbs of a subject in the plural that say how its things have to be.
var pluralVerbs = map[string]bool{
	"are": true, "have": true, "go": true, "live": true, "run": true, "start": true, "end": true, "begin": true, "use": true, "come": true, "stay": true, "take": true, "get": true, "need": true, "carry": true, "follow": true, "contain": true, "belong": true, "keep": true, "return": true,
}

// places begin where something is.
var places = map[string]bool{"in": true, "on": true, "at": true, "under": true, "here": true, "there": true}

// isPlural reports whether a word is a noun in the plural, by its ending.
func isPlural(w string) bool {
	return len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is")
}

// isGeneric reports whether a subject speaks of a kind and not of certain things, as "the tests" and "our tests" do.
func isGeneric(subject []string) bool {
	for _, w := range subject {
		if particular[w] {
			return false
		}
	}
	return true
}

var particular = map[string]bool{"the": true, "our": true, "these": true, "those": true, "his": true, "her": true, "their": true, "its": true, "my": true, "we": true, "they": true, "some": true, "most": true, "many": true, "two": true, "three": true, "four": true}

// Dated reports whether a text names a day: by its date, by a month and a number, or by its name.
func Dated(text string) bool {
	words := Words(text)
	number := func(i int) bool {
		return i >= 0 && i < len(words) && words[i].Text[0] >= '0' && words[i].Text[0] <= '9'
	}
	for i, w := range words {
		if _, month := monthAt(w.Text); month && (number(i-1) || number(i+1) || i > 1 && words[i-1].Text == "of" && number(i-2)) {
			return true
		}
		if _, err := time.Parse(time.DateOnly, w.Text); err == nil || slices.Contains(weekdays, strings.TrimSuffix(w.Text, "s")) {
			return true
		}
	}
	return false
}

// minSentence is how many bytes a sentence has at least: "Rule from Odd." and "No." are none.
const minSentence = 20

// practiceRooms are names of rooms that hold how work is done.
var practiceRooms = map[string]bool{
	"workflow": true, "convention": true, "test": true, "testing": true, "build": true, "tool": true, "tooling": true, "process": true, "processe": true, "style": true, "policy": true, "policie": true, "preference": true, "pref": true, "user": true, "rule": true,
	"env": true, "environment": true, "pattern": true, "guideline": true, "practice": true,
	"git": true, "ci": true, "commit": true, "branch": true, "branche": true, "branching": true, "review": true, "qa": true, "quality": true, "check": true, "lint": true, "linting": true, "format": true, "formatting": true, "naming": true,
	"coding": true, "code": true, "norm": true, "standard": true, "principle": true, "habit": true, "etiquette": true, "hygiene": true, "agreement": true, "contributing": true, "collaboration": true, "instruction": true,
}

// matterRooms are names of rooms that hold what is so, not how work is done, whatever the form of a text.
var matterRooms = map[string]bool{
	"architecture": true, "arch": true, "decision": true, "team": true, "people": true, "owner": true, "infra": true, "infrastructure": true, "data": true, "database": true, "schema": true, "design": true, "product": true, "business": true,
	"bug": true, "incident": true, "gotcha": true, "blocker": true, "status": true, "progress": true, "result": true, "finding": true, "insight": true, "release": true, "version": true, "dependency": true, "dependencie": true, "dep": true,
	"performance": true, "stack": true, "api": true, "deployment": true, "operation": true, "cluster": true, "platform": true, "feature": true, "plan": true, "roadmap": true, "date": true, "calendar": true, "domain": true, "security": true,
	"integration": true, "model": true, "training": true, "general": true, "note": true, "session": true, "task": true, "relation": true, "fact": true,
}

// Rules reports whether a text of a room, which a user stated, is a rule for how work is done where the name of the room does
// not tell: the form of the text does.
func Rules(room, text string) bool {
	for w := range strings.FieldsFuncSeq(strings.ToLower(room), roomSeparator) {
		if matterRooms[w] || matterRooms[strings.TrimSuffix(w, "s")] {
			return false
		}
	}
	return Demands(text)
}

// roomSeparator reports whether a rune stands between the words of a room's name.
func roomSeparator(r rune) bool { return notWord(r) || strings.ContainsRune("_-/.", r) }

// Practice reports whether a text of a room says how work is done, whatever the task is. The room decides; in a room of
// security, the form: it does where it commands. In rooms whose names tell nothing the form misleads: of 360 facts of four
// projects most that say "only" or "no" are about one matter.
func Practice(room, text string) bool {
	security := false
	for w := range strings.FieldsFuncSeq(strings.ToLower(room), roomSeparator) {
		if practiceRooms[w] || practiceRooms[strings.TrimSuffix(w, "s")] {
			return true
		}
		security = security || w == "security"
	}
	return security && Commands(text)
}

// minOpening is how many characters the opening of a text has at least.
const minOpening = 60

// Opening is the part of a text that stands for the whole where there is no place for it: up to the first full stop or
// semicolon after 60 characters.
func Opening(text string) string {
	n := 0
	for i, r := range text {
		if n++; n > minOpening && (r == ';' || r == '.' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n')) {
			return text[:i]
		}
	}
	return text
}
