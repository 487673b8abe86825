package overview

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"leanctx/overview/source"
)

// Listed is one file of a tier.
type Listed struct {
	Path     string   `json:"path"` // relative to the root of the project
	Language string   `json:"language,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Tests    []string `json:"tests,omitempty"` // paths of its tests that have no line of their own
	Score    float64  `json:"score"`           // 0 to about 1; comparable within one answer only
}

// testsMost is how many tests a file's line names. Others have lines of their own.
const testsMost = 3

// tests are the tests of each file that has some among those in order, best first.
// Nobody who does not say what for wants to know them.
func (r *ranking) tests(order []int) map[int][]int {
	out := map[int][]int{}
	if r.subject == nil {
		return out
	}
	for _, i := range order {
		if of := r.subject[i]; of >= 0 {
			out[of] = append(out[of], i)
		}
	}
	return out
}

func listed(r *ranking, i int, tests []int) Listed {
	e := r.entries[i]
	l := Listed{Path: shown(e.Path), Language: string(e.language), Reason: reason(e), Score: float64(int(r.score[i]*1000)) / 1000}
	for _, t := range tests {
		l.Tests = append(l.Tests, shown(r.entries[t].Path))
	}
	return l
}

// shown is a path on one line: one that has what does not print is quoted.
func shown(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return strconv.Quote(name)
	}
	return name
}

// What a reason holds at most.
const (
	reasonMost = 120 // bytes
	reasonDoc  = 60  // bytes of what a file says, over which its definitions are left out
	reasonDefs = 4   // definitions
)

// reason is what a file is for, in one line: what it says itself, and where
// that is nothing or little, what it defines.
func reason(e *entry) string {
	text := e.doc
	if len(text) < reasonDoc {
		if defs := definitions(e); text == "" {
			text = defs
		} else if defs != "" {
			text += "; " + defs
		}
	}
	text = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, text)
	return source.Clip(text, reasonMost)
}

// definitions are the names that the doc does not say, those that others use first.
func definitions(e *entry) string {
	names := slices.DeleteFunc(slices.Clone(e.names), func(n string) bool {
		return strings.HasPrefix(n, "__") && strings.HasSuffix(n, "__") || strings.Contains(e.doc, n)
	})
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(private(e.language, a), private(e.language, b)) })
	rest := len(names) + e.more
	names = names[:min(reasonDefs, len(names))]
	text := strings.Join(names, ", ")
	if rest -= len(names); rest > 0 && text != "" {
		text += fmt.Sprintf(" (+%d)", rest)
	}
	return text
}

// private is more the less a name is meant for others, as far as its letters tell.
func private(l source.Language, name string) int {
	first, _ := utf8.DecodeRuneInString(name)
	switch {
	case first == '_':
		return 3
	case len(name) > 1 && strings.ToUpper(name) == name:
		return 2 // a constant
	case l == source.Go && !unicode.IsUpper(first):
		return 1
	}
	return 0
}

// line is the file's line of text.
func (l Listed) line() string {
	text := "    " + l.Path
	if l.Reason != "" {
		text += " - " + l.Reason
	}
	tests := make([]string, len(l.Tests))
	for i, t := range l.Tests {
		if tests[i] = t; path.Dir(t) == path.Dir(l.Path) {
			tests[i] = path.Base(t)
		}
	}
	if len(tests) > 0 {
		text += " [tested by " + strings.Join(tests, ", ") + "]"
	}
	return text + "\n"
}
