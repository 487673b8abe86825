package listing

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/reminder"
	"leanctx/knowledge/state"
)

// ReminderQuery asks for reminders.
type ReminderQuery struct {
	State string `json:"state,omitempty" enum:"open,done,all" jsonschema:"which (default open)"`
}

// ReminderList is the reminders in a state, the soonest due first.
type ReminderList struct {
	Reminders []formats.Reminder `json:"reminders"`
	state     string
}

// Reminders lists reminders.
func Reminders(ctx context.Context, s *knowledge.Store, q ReminderQuery) (ReminderList, error) {
	q.State = cmp.Or(strings.ToLower(q.State), reminder.StateOpen)
	if !slices.Contains([]string{reminder.StateOpen, reminder.StateDone, "all"}, q.State) {
		return ReminderList{}, refusal.Argument("state", "state %q is none of open, done, all", prose.Clip(q.State, 40))
	}
	r := ReminderList{Reminders: []formats.Reminder{}, state: q.State}
	err := s.ViewSome(ctx, func(st state.Reader, _ time.Time) error {
		for _, x := range st.Reminders {
			if q.State == "all" || x.State == q.State {
				r.Reminders = append(r.Reminders, x)
			}
		}
		slices.SortFunc(r.Reminders, reminder.ByDue)
		return nil
	})
	return r, err
}

// Text gives the answer's lines.
func (r ReminderList) Text() string {
	if len(r.Reminders) == 0 {
		if r.state == "all" {
			return "No reminders."
		}
		return fmt.Sprintf("No %s reminders.", r.state)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Reminders (%d):", len(r.Reminders))
	for _, x := range r.Reminders {
		fmt.Fprintf(&b, "\n  %s %s (%s)", prose.Line(x.ID), prose.Brief(x.Text)+reminder.By(x), reminder.Trigger(x))
		b.WriteString(fact.Trust{Unconfirmed: x.TakenIn}.Mark())
		if x.State != reminder.StateOpen {
			fmt.Fprintf(&b, " [%s]", prose.Line(x.State))
		}
	}
	return b.String()
}

// Triggered lists the open reminders whose path matches a file, the soonest
// due first. The file is named from the project's root, with / between the
// parts; package reminder says which globs match it. Reading changes nothing.
func Triggered(ctx context.Context, s *knowledge.Store, file string) ([]formats.Reminder, error) {
	file = path.Clean(strings.ReplaceAll(file, `\`, "/"))
	if file == "." || file == ".." || strings.HasPrefix(file, "../") {
		return nil, nil
	}
	var out []formats.Reminder
	err := s.ViewSome(ctx, func(st state.Reader, _ time.Time) error {
		out = nil
		for _, r := range reminder.Open(st.Reminders) {
			if reminder.AtFile(r, file) {
				out = append(out, r)
			}
		}
		return nil
	})
	return out, err
}

// Gotcha is a mistake not to repeat in a file.
type Gotcha struct {
	ID         string // of the version
	Trigger    string
	Resolution string // may be empty
	Mark       string // see [knowledge.MarkOf]
	User       bool   // a user said it
}

// GotchasAt lists the gotchas whose trigger names a file: a user's first, what nobody has confirmed here last, and of each the
// worst first. The file is named as for [Triggered].
func GotchasAt(ctx context.Context, s *knowledge.Store, file string) (out []Gotcha, err error) {
	file = path.Clean(strings.ReplaceAll(file, `\`, "/"))
	found, err := knowledge.InRoomSharing(ctx, s, fact.RoomGotcha, file)
	found = slices.DeleteFunc(found, func(v *fact.Version) bool {
		trigger, _ := fact.GotchaParts(v.Value)
		return !slices.ContainsFunc(strings.Fields(trigger), func(word string) bool { return reminder.Names(word, file) })
	})
	slices.SortStableFunc(found, func(a, b *fact.Version) int {
		return cmp.Or(fact.UsersFirst(a, b), fact.WorstFirst(a, b))
	})
	for _, v := range found {
		g := Gotcha{ID: v.ID, Mark: knowledge.MarkOf(v), User: fact.Stated(v)}
		g.Trigger, g.Resolution = fact.GotchaParts(v.Value)
		out = append(out, g)
	}
	return out, err
}
