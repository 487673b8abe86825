package formats

import (
	"fmt"
	"strconv"
	"time"
)

// absent marks a text that a fact leaves out. It is no UTF-8, so no text of a
// file is ever equal to it.
const absent = "\xff"

// absentTime marks a time that a fact leaves out. No file can hold that year.
func absentTime() time.Time { return time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC) }

// newFact is a fact before it is read.
func newFact() Fact {
	t := absentTime()
	return Fact{
		Category: absent, Key: absent, Value: absent, Privacy: absent, Archetype: absent,
		Confidence: 0.8, ConfirmationCount: 1, RevisionCount: 1,
		CreatedAt: t, LastConfirmed: t, ValidFrom: t, RecordedFrom: t,
	}
}

func or[T comparable](v *T, marked, instead T) {
	if *v == marked {
		*v = instead
	}
}

// settle gives every fact what it leaves out.
func (d *Document) settle() error {
	nameless := false
	for i, f := range d.Facts {
		field := "facts[" + strconv.Itoa(i) + "]"
		if f == nil {
			return &MistakeError{Field: field, Problem: "want an object, found null"}
		}
		if m := f.settle(d.UpdatedAt); m != nil {
			m.Field = field + "." + m.Field
			return m
		}
		nameless = nameless || f.ID == ""
	}
	if nameless {
		d.identify()
	}
	return nil
}

func (f *Fact) settle(updated time.Time) *MistakeError {
	for _, m := range []struct{ name, value string }{{"category", f.Category}, {"key", f.Key}, {"value", f.Value}} {
		if m.value == absent {
			return &MistakeError{Field: m.name, Problem: "missing" + f.called()}
		}
	}
	none := absentTime()
	if updated.IsZero() {
		updated = none
	}
	for _, t := range []time.Time{f.RecordedFrom, f.LastConfirmed, f.ValidFrom, updated} {
		or(&f.CreatedAt, none, t)
	}
	if f.CreatedAt.Equal(none) {
		return &MistakeError{Field: "created_at", Problem: "missing" + f.called()}
	}
	or(&f.LastConfirmed, none, f.CreatedAt)
	or(&f.ValidFrom, none, f.CreatedAt)
	or(&f.RecordedFrom, none, f.CreatedAt)
	or(&f.Privacy, absent, "shared")
	if f.Archetype == absent {
		f.Archetype = Archetype(f.Category)
	}
	return nil
}

// called tells which fact an error is about, as far as the fact says.
func (f *Fact) called() string {
	if f.Category == absent || f.Key == absent {
		return ""
	}
	return fmt.Sprintf(" in the fact %s/%s", clip(f.Category), clip(f.Key))
}

// identify gives ids to the facts that have none.
func (d *Document) identify() {
	taken := make(map[string]bool, len(d.Facts))
	for _, f := range d.Facts {
		taken[f.ID] = true
	}
	for _, f := range d.Facts {
		for n := 0; f.ID == ""; n++ {
			id := VersionID(f.Category, f.Key, f.Value, f.RecordedFrom, n)
			if !taken[id] {
				f.ID, taken[id] = id, true
			}
		}
	}
}

// Archetypes are what kinds of knowledge there are.
var Archetypes = []string{"architecture", "decision", "gotcha", "pattern", "convention", "workflow", "dependency", "preference", "observation", "fact"}

// Archetype is what kind of knowledge lean-ctx takes a category to hold; "fact"
// for one that it has no kind for.
func Archetype(category string) string {
	switch name := FoldName(category); name {
	case "architecture", "arch", "data_model", "schema":
		return "architecture"
	case "gotcha", "gotchas", "known_bugs", "known_issues", "bug", "bugs", "blocker", "blockers":
		return "gotcha"
	case "decision", "pattern", "convention", "workflow", "dependency", "preference", "observation":
		return name
	case "decisions":
		return "decision"
	case "patterns":
		return "pattern"
	case "conventions", "style":
		return "convention"
	case "workflows":
		return "workflow"
	case "deps":
		return "dependency"
	case "pref", "prefs":
		return "preference"
	case "finding", "findings":
		return "observation"
	}
	return "fact"
}
