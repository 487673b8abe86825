package language

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxClauses is how many clauses of a prompt are read: the first ones.
const MaxClauses = 12

// minClause is how many words a clause has at least.
const minClause = 2

// maxRead is how many bytes of a prompt are read.
const maxRead = 64 << 10

// joints are the words at which a clause ends.
var joints = map[string]bool{"and": true, "then": true, "with": true}

// Clauses are the clauses of a prompt in their order, of two words or more each. People ask for several things in one
// sentence, so a clause ends at a stop, a comma, a line's end, and at and, then, with. What is pasted is no clause: code
// between fences or indented, and lines of a log, a diff or a stack trace.
func Clauses(text string) (out []string) {
	for _, line := range spoken(text) {
		for len(line) > 0 && len(out) < MaxClauses {
			n, joint := clauseEnd(line)
			if c := strings.Trim(line[:n], " \t-*•.,;:!?()\"'"); words(c) >= minClause {
				out = append(out, c)
			}
			line = line[n+joint:]
		}
	}
	return out
}

// minList is how many short pieces a line has that is a list of topics, and maxItem how many words such a piece has.
const (
	minList = 3
	maxItem = 4
)

// Topics are the topics of lists that are one word each, which are no clauses: "write CONTRIBUTING.md: setup, tests, who to
// ask, size". lists are all items of lists.
func Topics(text string) (topics, lists []string) {
	for _, line := range spoken(text) {
		var items []string
		for len(line) > 0 && len(items) <= MaxClauses {
			n, joint := clauseEnd(line)
			if c := strings.Trim(line[:n], " \t-*•.,;:!?()\"'"); words(c) > 0 && words(c) <= maxItem {
				items = append(items, c)
			}
			line = line[n+joint:]
		}
		if len(items) < minList {
			continue
		}
		for _, item := range items {
			if lists = append(lists, item); words(item) == 1 && len(topics) < MaxClauses {
				topics = append(topics, item)
			}
		}
	}
	return topics, lists
}

// Spoken is a prompt without what is pasted. If all of it is pasted, it is the first line of it.
func Spoken(text string) string {
	if lines := spoken(text); len(lines) > 0 {
		return strings.Join(lines, "\n")
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text[:min(len(text), maxRead)]), "\n")
	return first
}

// spoken are the lines of a prompt that somebody wrote for it.
func spoken(text string) (out []string) {
	fence := ""
	for line := range strings.Lines(strings.ToValidUTF8(text[:min(len(text), maxRead)], " ")) {
		bare := strings.TrimSpace(line)
		if mark := fenceOf(bare); mark != "" {
			switch fence {
			case "":
				fence = mark
			case mark:
				fence = ""
			}
			continue
		}
		if fence != "" || bare == "" || pasted(strings.TrimRight(line, "\r\n"), bare) {
			continue
		}
		out = append(out, bare)
	}
	return out
}

// fenceOf is the fence with which a line begins or ends a block of code.
func fenceOf(line string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) && !strings.Contains(line[len(mark):], mark) {
			return mark
		}
	}
	return ""
}

// maxSpoken is how long a line may be that somebody wrote for a prompt: a longer one without a stop is a record.
const maxSpoken = 4 << 10

// pasted reports whether a line was written by a program: it is indented like code, begins like a line of a log, a
// diff or a stack trace, or has more marks and digits than prose has.
func pasted(line, bare string) bool {
	if strings.HasPrefix(line, "    ") && !isBullet(bare) || strings.HasPrefix(line, "\t") && !isBullet(bare) {
		return true
	}
	for _, begin := range []string{"@@ ", "diff --git", "index ", "--- a/", "+++ b/", "at ", "File \"", "Traceback (", "goroutine ", "panic:", "Caused by:", "caused by:", "{", "}", "[{", "<", "$ ", "> ", "#!", "//", "/*", "* @", "import ", "#include", "ERROR", "WARN", "INFO", "DEBUG", "FATAL", "E/", "npm ERR!", "FAIL\t", "FAIL:", "--- FAIL", "ok  \t", "=== RUN"} {
		if strings.HasPrefix(bare, begin) && (begin != "at " || strings.ContainsAny(bare, "(:")) && (begin != "index " || strings.Contains(bare, "..")) && (begin != "import " || strings.ContainsAny(bare, `"'.{(;`)) {
			return true
		}
	}
	if len(bare) > maxSpoken && !strings.ContainsAny(bare, ".?!;") {
		return true
	}
	return stamped(bare) || marksOf(bare)
}

func isBullet(line string) bool {
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "• ")
}

// stamped reports whether a line begins with an instant, as the lines of a log do.
func stamped(line string) bool {
	line = strings.TrimLeft(line, "[(")
	digits, marks := 0, 0
	for i, r := range line {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case strings.ContainsRune("-:/.TZ,+ ", r):
			marks++
		default:
			return digits >= 6 && marks >= 2 && i >= 8 && strings.Contains(line[:i], ":")
		}
	}
	return digits >= 6 && marks >= 2
}

// maxMarks is the share of marks from which a line of some length is code. Prose has about .04, code .15 and more.
const maxMarks = .14

// marksOf reports whether a line has more of the marks of code than prose has.
func marksOf(line string) bool {
	marks, all := 0, 0
	for _, r := range line {
		if unicode.IsSpace(r) {
			continue
		}
		all++
		if strings.ContainsRune("{}()[]<>=;|&$*\\\"`+%^~#@", r) {
			marks++
		}
	}
	return all >= 12 && float64(marks) > maxMarks*float64(all)
}

// clauseEnd is where the first clause of a line ends, and how many bytes the joint after it takes. A stop within a word
// (src/a.go, v1.2, 10:30) ends nothing.
func clauseEnd(line string) (n, joint int) {
	word := -1 // where the current word began
	for i, r := range line {
		size := utf8.RuneLen(r)
		switch {
		case strings.ContainsRune("。！？；、，：", r):
			return i, size
		case strings.ContainsRune(".;:?!,", r):
			if next, _ := utf8.DecodeRuneInString(line[i+size:]); i+size == len(line) || unicode.IsSpace(next) || strings.ContainsRune(`"')]`, next) {
				return i, size
			}
		case unicode.IsSpace(r):
			if word >= 0 && joints[strings.ToLower(line[word:i])] {
				return word, i - word
			}
			word = -1
			continue
		}
		if word < 0 {
			word = i
		}
	}
	return len(line), 0
}

// words counts the words of a text.
func words(text string) int { return len(strings.FieldsFunc(text, notWord)) }

// notWord reports whether a rune stands between words. The marks of names (a-b, a_b, src/a.go) are of the word.
func notWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-/.#+'’@", r)
}
