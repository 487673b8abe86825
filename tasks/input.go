package tasks

import (
	"slices"
	"strings"
	"unicode/utf8"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Limits of a task. They apply to the text as it was given.
const (
	MaxTitle     = 200      // characters of a title
	MaxText      = 64 << 10 // bytes of a description, a message or an artifact
	MaxReference = 500      // characters of one reference, and of an artifact's name
	MaxRefs      = 50       // references of one task
	maxName      = 100      // characters of an agent's name
)

// input checks and cleans the texts of one call. It keeps the first error.
type input struct {
	s        *Store
	redacted []string
	err      error
}

func (in *input) fail(argument, format string, args ...any) string {
	if in.err == nil {
		in.err = refusal.Argument(argument, format, args...)
	}
	return ""
}

// text checks a text of any number of lines.
func (in *input) text(argument, v string) string {
	switch {
	case len(v) > MaxText:
		return in.fail(argument, "%s has %d bytes, more than %d: keep the text in a file and name it here", argument, len(v), MaxText)
	case !utf8.ValidString(v):
		return in.fail(argument, "%s is not valid UTF-8", argument)
	}
	return in.clean(strings.TrimSpace(v))
}

// line checks a text of one line.
func (in *input) line(argument, v string, most int) string {
	if v = strings.TrimSpace(v); len(v) <= MaxText && utf8.ValidString(v) {
		if n := utf8.RuneCountInString(v); n > most {
			return in.fail(argument, "%s has %d characters, more than %d", argument, n, most)
		}
		if i := strings.IndexFunc(v, prose.IsControl); i >= 0 {
			return in.fail(argument, "%s is not one line of plain text: it holds %+q", argument, []rune(v[i:])[0])
		}
	}
	return in.text(argument, v)
}

func (in *input) clean(v string) string {
	if in.s == nil { // a query: nothing is stored
		return v
	}
	v, found := in.s.redact(v)
	for _, rule := range found {
		if !slices.Contains(in.redacted, rule) {
			in.redacted = append(in.redacted, rule)
		}
	}
	return v
}

// references checks references: a fact (category/key), a task, a file.
func (in *input) references(list []string) []string {
	var out []string
	for _, v := range list {
		if v = in.line("references", v, MaxReference); v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	if len(out) > MaxRefs {
		in.fail("references", "references has %d entries, more than %d", len(out), MaxRefs)
	}
	return out
}

// agentName refuses a name that no agent can have.
func (in *input) agentName(argument, v string) string {
	v = in.line(argument, v, maxName)
	if strings.ContainsAny(v, `/\`) || v == "." || v == ".." {
		return in.fail(argument, "%s %q is not an agent: give an id, the beginning of one, or a type", argument, prose.Clip(v, 60))
	}
	return v
}
