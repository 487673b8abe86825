package knowledge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/verdict"
)

// A fact may have several values, each true beside the others. Then each value has
// a timeline of its own: an assertion ends no other value unless it names it. A
// version that is one of several values is marked Also.

// AllValues is what replaces all values of a fact.
const AllValues = "*"

// valuesAt are the versions of a fact that are believed to be valid at t, oldest first.
func valuesAt(vs []*fact.Version, t time.Time) (out []*fact.Version) {
	for _, v := range vs {
		if fact.Believed(v) && fact.PeriodOf(v).Contains(t) {
			out = append(out, v)
		}
	}
	return out
}

// severalValued reports whether a fact has several values now or later.
func severalValued(vs []*fact.Version, now time.Time) bool {
	return slices.ContainsFunc(vs, func(v *fact.Version) bool { return v.Also && fact.Believed(v) && fact.Before(now, v.ValidUntil) })
}

// findLine decides whether the assertion is one of several values, and which of them makes room
// for it. That is the value that it replaces, or the one that it refines.
func (t *timeline) findLine() error {
	c := t.said
	at := t.present
	if c.From != nil {
		at = *c.From
	}
	held := valuesAt(t.before, at)
	for _, v := range valuesAt(t.before, t.present) {
		if !slices.Contains(held, v) {
			held = append(held, v)
		}
	}
	several := severalValued(t.before, t.present)
	t.several = c.Also || several && c.Replaces != AllValues
	if c.Replaces != "" && c.Replaces != AllValues {
		i := slices.IndexFunc(held, func(v *fact.Version) bool { return hasValue(v, c.Replaces) })
		if i < 0 {
			return noValue(c.Category, c.Key, c.Replaces)
		}
		t.line = held[i]
		return nil
	}
	if !t.several || c.Also || slices.ContainsFunc(held, t.equals) {
		return nil
	}
	for _, v := range held {
		if t.compare(v) != verdict.Refined {
			continue
		}
		if t.line != nil {
			t.line = nil // it refines more than one
			break
		}
		t.line = v
	}
	if c.Correct && t.line == nil {
		return refusal.Argument("replaces", "[%s] %s has %s: say with replaces which one was wrong", prose.Line(c.Category), prose.Line(c.Key), countValues(valuesOf(held)))
	}
	return nil
}

// inLine reports whether a version makes room for the assertion.
func (t *timeline) inLine(v *fact.Version) bool {
	return !t.several || t.line != nil && v.ID == t.line.ID
}

// markSeveral marks what holds now or later as one of several values.
func (t *timeline) markSeveral() {
	if !t.several {
		return
	}
	for _, v := range slices.Clone(t.versions) {
		if fact.Believed(v) && !v.Also && fact.Before(t.present, v.ValidUntil) {
			w := *v
			w.Also = true
			t.put(&w)
		}
	}
}

func valuesOf(vs []*fact.Version) []string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = v.Value
	}
	return out
}

// valuesMost is how many values of a fact a line names.
const valuesMost = 10

// countValues counts values and names them: 2 values: Claude Code, Codex.
func countValues(values []string) string {
	return prose.Count(len(values), "value") + ": " + nameValues(values)
}

func nameValues(values []string) string {
	var b strings.Builder
	for i, v := range values[:min(len(values), valuesMost)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(prose.Brief(v))
	}
	if more := len(values) - valuesMost; more > 0 {
		fmt.Fprintf(&b, ", … %d more", more)
	}
	return b.String()
}

// currentWith is the current version of a fact that has a value; without a value
// the current one.
func currentWith(vs []*fact.Version, value string, now time.Time) *fact.Version {
	if value == "" {
		return fact.Current(vs, now)
	}
	for _, v := range fact.AllCurrent(vs, now) {
		if hasValue(v, value) {
			return v
		}
	}
	return nil
}

// hasValue reports whether a version has a value; the empty one means any.
func hasValue(v *fact.Version, value string) bool {
	return value == "" || verdict.Compare(v.Key, v.Value, value) == verdict.Equal
}

// noValue says that a fact has not the value that was named.
func noValue(category, key, value string) error {
	return refusal.NotFound("No value '%s' of [%s] %s", prose.Brief(value), prose.Line(category), prose.Line(key))
}
