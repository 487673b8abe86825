package language

import (
	"strings"
	"unicode"
)

// changesOfMind are the phrases with which somebody says that something is different from now on. Each is looked for as
// whole words.
var changesOfMind = []string{
	"change of plan", "change of plans", "change of heart", "changed my mind", "changed our mind", "changed our minds", "changed his mind", "changed her mind", "changed their mind", "new plan", "plans changed", "plan changed",
	"from now on", "from today on", "from here on", "as of today", "as of now", "starting today", "going forward",
	"moved to", "moves to", "moved from", "is moved", "was moved", "postponed", "pushed back", "brought forward", "delayed until", "delayed to", "rescheduled",
	"no longer", "not any more", "not anymore", "any more we", "instead of", "instead", "rather than", "scrap that", "forget what i said", "on second thought", "we reverted", "is off the table",
	"switched to", "switching to", "we switch to", "migrated to", "replaced by", "replaces", "is now", "are now", "now owns", "takes over", "took over", "handed over to", "renamed to", "dropped", "we drop", "retired", "deprecated",
	"decided to", "decided against", "we decided", "have decided", "we agreed", "it is decided", "it's decided", "was decided",
}

// ChangesMind reports whether a prompt says that something is different from now on. A question ("is X now Y?",
// "should we use X instead?") changes nothing, and neither does what is pasted.
func ChangesMind(text string) bool {
	for _, line := range spoken(text) {
		for sentence := range Sentences(line) {
			if says(sentence) {
				return true
			}
		}
	}
	return false
}

// says reports whether a sentence that is no question holds a phrase of change.
func says(sentence string) bool {
	text := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(sentence), "’", "'"))
	if strings.HasSuffix(text, "?") {
		return false
	}
	for piece := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(",;:.!", r) }) {
		if strings.HasSuffix(strings.TrimSpace(piece), " after all") { // "after all tests" is another thing
			return true
		}
	}
	padded := " " + strings.Join(strings.FieldsFunc(text, notWord), " ") + " "
	padded = strings.ReplaceAll(padded, ". ", " ")
	for _, p := range changesOfMind {
		_, after, ok := strings.Cut(padded, " "+p+" ")
		after = strings.TrimPrefix(after, "of ")
		if ok && !(compares[p] && after != "" && unicode.IsDigit(rune(after[0]))) {
			return true
		}
	}
	return false
}

// compares are the phrases that a number follows where somebody tells what is wrong: "it is 40 instead of 9".
var compares = map[string]bool{"instead of": true, "instead": true, "rather than": true}
