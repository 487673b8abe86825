package knowledge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/args"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/reminder"
	"leanctx/knowledge/state"
)

// NewReminder is a text and the condition on which to show it.
type NewReminder struct {
	Value   string `json:"value" arg:"1" jsonschema:"what to be reminded of"`
	Path    string `json:"path,omitempty" jsonschema:"when a file matching this glob is read or edited, e.g. src/auth/**"`
	Keyword string `json:"keyword,omitempty" jsonschema:"when a query or task holds this word"`
	Due     string `json:"due,omitempty" jsonschema:"a day, an instant, or how long from now (3d)"`
	Task    string `json:"task,omitempty" jsonschema:"when a task reaches a state, as <id>:<State>"`
	Source  string `json:"source,omitempty" jsonschema:"user, if the user wants it"`
}

// The limits of reminders: hooks read all that are open. Of those that other replicas made as many are open.
const (
	MaxReminder      = 2 << 10 // bytes of one
	MaxTrigger       = 4 << 10 // bytes of the path, the keyword and the task
	MaxOpenReminders = 200
)

// Reminded is a reminder as stored.
type Reminded struct {
	Reminder formats.Reminder `json:"reminder"`
	Redacted []string         `json:"redacted,omitempty"`
}

// Text gives the answer's line.
func (r Reminded) Text() string {
	x := r.Reminder
	if x.State == reminder.StateDone {
		return fmt.Sprintf("Reminder %s done: %s", x.ID, prose.Brief(x.Text))
	}
	return fmt.Sprintf("Reminder %s set: %s (%s)", x.ID, prose.Brief(x.Text), reminder.Trigger(x)) + prose.Redacted(r.Redacted)
}

// Remind stores a reminder. It needs one trigger at least: without one it
// would never surface.
func Remind(ctx context.Context, s *Store, a NewReminder) (Reminded, error) {
	in := input{secrets: s.secrets}
	by := s.Source(a.Source, 1)
	x := formats.Reminder{
		Text: in.value("value", a.Value), State: reminder.StateOpen, CreatedBy: reminderAuthor(by),
		Path: s.Relative(in.text("path", a.Path)), Keyword: in.text("keyword", a.Keyword), Task: in.text("task", a.Task),
	}
	if in.err != nil {
		return Reminded{}, in.err
	}
	if n := len(x.Text); n > MaxReminder {
		return Reminded{}, refusal.Argument("value", "value has %s bytes, more than the %s of a reminder", prose.Number(n), prose.Number(MaxReminder))
	}
	if a.Due != "" {
		t, err := args.ParseDue("due", a.Due, s.Now())
		if err != nil {
			return Reminded{}, err
		}
		x.Due = &t.Time
		if by.Kind != KindUser && t.Before(fact.StartOfDay(s.Now())) {
			return Reminded{}, refusal.Argument("due", "due %s is over: only the user is reminded of what is past", fact.Day(t.Time))
		}
	}
	if reminder.Trigger(x) == "" {
		return Reminded{}, refusal.Argument("due", "a reminder needs a trigger: path, keyword, due or task")
	}
	if _, err := path.Match(strings.ReplaceAll(x.Path, "**", "*"), ""); err != nil {
		return Reminded{}, refusal.Argument("path", "path %q is not a glob: %v", prose.Clip(x.Path, 60), err)
	}
	if err := checkTask(ctx, s, x.Task); err != nil {
		return Reminded{}, err
	}
	err := s.UpdateSome(ctx, func(st state.Reader, now time.Time) ([]state.Event, error) {
		same := func(y formats.Reminder) bool {
			return y.TakenIn && y.State == x.State && y.Text == x.Text && y.Path == x.Path && y.Keyword == x.Keyword && y.Task == x.Task && (y.Due == nil) == (x.Due == nil)
		}
		// The user confirms one that came with the repository. What an agent says again is its own.
		if i := slices.IndexFunc(st.Reminders, same); i >= 0 && by.Kind == KindUser && reminder.ValidID(st.Reminders[i].ID) {
			x.ID, x.CreatedAt = st.Reminders[i].ID, now
			return []state.Event{{Remind: &x}}, nil
		}
		x.CreatedAt = now
		x.ID = "r-" + formats.VersionID("reminder", "", x.Text, now, 0)[2:8]
		events := []state.Event{{Remind: &x}}
		if open := reminder.Open(st.Reminders); len(open) >= MaxOpenReminders {
			last := open[len(open)-1] // those of agents and of colleagues come last
			if by.Kind != KindUser || reminder.Users(last) {
				return nil, &refusal.HintError{Problem: fmt.Sprintf("%d reminders are open", len(open)), Hint: "finish some first: remind_done"}
			}
			last.State, last.DoneAt = reminder.StateDone, &now // it gives way to what the user wants
			events = append(events, state.Event{Remind: &last})
		}
		return events, nil
	})
	return Reminded{x, in.redacted}, err
}

// reminderAuthor is who a reminder is of: nobody's name is the user's.
func reminderAuthor(by Source) string {
	if by.Kind == KindUser {
		return ""
	}
	return cmp.Or(by.By, by.Kind)
}

// checkTask refuses a task or a state that there is not, since such a reminder
// would never surface. Without coworkers only the form is known.
func checkTask(ctx context.Context, s *Store, given string) error {
	if given == "" {
		return nil
	}
	task, state, ok := strings.Cut(given, ":")
	if task, state = strings.TrimSpace(task), strings.TrimSpace(state); !ok || task == "" || state == "" {
		return refusal.Argument("task", "task %q is not <id>:<State>", prose.Clip(given, 60))
	}
	if s.opts.Coworkers == nil {
		return nil
	}
	_, err := s.opts.Coworkers.Reached(ctx, task, state)
	if err == nil || ctx.Err() != nil || errors.Is(err, journal.ErrLocked) ||
		errors.Is(err, journal.ErrCorrupt) || errors.Is(err, journal.ErrNewer) || errors.Is(err, journal.ErrForeign) {
		return err
	}
	return refusal.Argument("task", "task %q: %v", prose.Clip(given, 60), err)
}

// Done names a reminder that is finished.
type Done struct {
	ID     string `json:"id" arg:"1" jsonschema:"the reminder's id"`
	Source string `json:"source,omitempty" jsonschema:"user, if the user says that it is done"`
}

// RemindDone finishes a reminder; it surfaces no more. Only the user finishes the user's.
func RemindDone(ctx context.Context, s *Store, d Done) (Reminded, error) {
	if err := refusal.Required("id", d.ID); err != nil {
		return Reminded{}, err
	}
	var r Reminded
	err := s.UpdateSome(ctx, func(st state.Reader, now time.Time) ([]state.Event, error) {
		i := slices.IndexFunc(st.Reminders, func(x formats.Reminder) bool { return x.ID == strings.TrimSpace(d.ID) })
		if i < 0 {
			return nil, refusal.NotFound("No reminder found: %s", prose.Brief(d.ID))
		}
		r = Reminded{Reminder: st.Reminders[i]}
		if r.Reminder.State == reminder.StateDone {
			return nil, nil
		}
		if x := r.Reminder; x.CreatedBy == "" && !x.TakenIn && s.Source(d.Source, 1).Kind != KindUser {
			return nil, refusal.Argument("id", "reminder %s is the user's: ask the user, then repeat with source=user", prose.Line(x.ID))
		}
		r.Reminder.State, r.Reminder.DoneAt, r.Reminder.TakenIn = reminder.StateDone, &now, false
		return []state.Event{{Remind: &r.Reminder}}, nil
	})
	return r, err
}

// surfacing lists the open reminders to show with an answer: their keyword is in the question, as
// whole words. A question about now also gets those that are due today, or whose task has reached
// its state. It runs after the answer, so a store to adopt has been adopted by now.
func (l *lookup) surfacing(ctx context.Context, f *query) (out []formats.Reminder, err error) {
	var open []formats.Reminder
	err = l.store.log.ViewSome(ctx, func(st state.Reader) error {
		open = reminder.Open(st.Reminders)
		return nil
	})
	var reached map[string]bool
	if !f.hasTime {
		reached = Reached(ctx, l.store.opts.Coworkers, open)
	}
	for _, r := range open {
		if reached[r.ID] || !f.hasTime && reminder.Due(r, fact.StartOfDay(f.now)) || reminder.AtWords(r, f.Query) {
			out = append(out, r)
		}
	}
	return out, err
}

// Met lists the open reminders that a prompt meets: their keyword is in it, they are due, or their task has come to its state.
func Met(ctx context.Context, s *Store, prompt string) ([]formats.Reminder, error) {
	l := lookup{store: s}
	return l.surfacing(ctx, &query{Question: Question{Query: prompt}, now: s.Now()})
}
