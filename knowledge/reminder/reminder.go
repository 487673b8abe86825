package reminder

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
)

// The states of a reminder.
const (
	StateOpen = "open"
	StateDone = "done"
)

// ValidID reports whether an id is of the form that this program makes. One of a file may be any text, and models read it.
func ValidID(id string) bool {
	hex, ok := strings.CutPrefix(id, "r-")
	return ok && hex != "" && len(hex) <= 16 && strings.Trim(hex, "0123456789abcdef") == ""
}

// Open lists those of some reminders that are still to surface: the user's first, then the soonest due.
func Open(list []formats.Reminder) []formats.Reminder {
	var out []formats.Reminder
	for _, r := range list {
		if r.State == StateOpen && !r.TakenIn {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b formats.Reminder) int {
		if a, b := Users(a), Users(b); a != b {
			if a {
				return -1
			}
			return 1
		}
		return ByDue(a, b)
	})
	return out
}

// Users reports whether a reminder is the user's of this store: no agent's, and no colleague's.
func Users(r formats.Reminder) bool { return r.CreatedBy == "" && r.Replica == "" }

// By names whoever a reminder is of; empty for the user's.
func By(r formats.Reminder) string {
	by := prose.Clip(r.CreatedBy, 40)
	if r.Replica != "" {
		by = cmp.Or(by, "user") + " of " + prose.Clip(r.Replica, 40)
	}
	if by == "" {
		return ""
	}
	return " (by " + by + ")"
}

// ByDue orders reminders: the soonest due first, then those without a day, the
// oldest first.
func ByDue(a, b formats.Reminder) int {
	switch {
	case a.Due != nil && b.Due != nil:
		return cmp.Or(a.Due.Compare(*b.Due), cmp.Compare(a.ID, b.ID))
	case a.Due != nil:
		return -1
	case b.Due != nil:
		return 1
	}
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// Due reports whether a reminder is due by the end of the day that begins at
// today.
func Due(r formats.Reminder, today time.Time) bool {
	return r.Due != nil && r.Due.Before(today.Add(24*time.Hour))
}

// AtWords reports whether a text holds a reminder's keyword.
func AtWords(r formats.Reminder, text string) bool { return fact.HoldsTerms(text, r.Keyword) }

// AtFile reports whether a reminder's path stands for a file, which is named
// from the project's root, with / between the parts.
func AtFile(r formats.Reminder, file string) bool { return r.Path != "" && matchesPath(r.Path, file) }

// Task is the task that a reminder waits for and the state it is to come to; ok
// is false when it waits for none.
func Task(r formats.Reminder) (task, state string, ok bool) { return strings.Cut(r.Task, ":") }

// Trigger says what a reminder waits for; nothing where it would never surface.
func Trigger(r formats.Reminder) string {
	var parts []string
	for _, p := range []struct{ name, value string }{{"path", r.Path}, {"keyword", r.Keyword}, {"task", r.Task}} {
		if p.value != "" {
			parts = append(parts, p.name+" "+prose.Line(p.value))
		}
	}
	if r.Due != nil {
		parts = append(parts, "due "+fact.Day(*r.Due))
	}
	return strings.Join(parts, ", ")
}
