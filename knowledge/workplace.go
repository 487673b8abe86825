package knowledge

import (
	"context"

	"leanctx/formats"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/ledger"
	"leanctx/knowledge/reminder"
)

// Workplace is what a briefing tells beside facts: who else is at work in the
// project, and on what. Agents and their tasks meet it.
type Workplace interface {
	// LastTask is the title of the task last worked on, or nothing.
	LastTask(ctx context.Context) (string, error)

	// Company lists the agents at work, as id(role) and in order, and counts
	// what one of them has not read yet.
	Company(ctx context.Context, agent string) (agents []string, unread int, err error)

	// Reached reports whether a task is or was in a state. A task or state
	// that there is not is an error.
	Reached(ctx context.Context, task, state string) (bool, error)
}

// occasion is what the workplace has to say at this moment. What it cannot tell
// is left out with a notice: facts must not become silent because a list of
// agents is damaged.
func (s *Store) occasion(ctx context.Context) briefing.Occasion {
	o := briefing.Occasion{Intent: s.intent(ctx)}
	w := s.opts.Workplace
	if w == nil {
		return o
	}
	var err error
	if o.LastTask, err = w.LastTask(ctx); err != nil {
		s.board.Add("the last task is not known: %v", err)
	}
	if o.Agents, o.Unread, err = w.Company(ctx, s.actor.Agent); err != nil {
		s.board.Add("the agents at work are not known: %v", err)
	}
	var open []formats.Reminder
	if err := s.view(ctx, func(st *ledger.State, _ moment) error {
		open = reminder.Open(st.Reminders)
		return nil
	}); err == nil {
		o.Reached = s.reached(ctx, open)
	}
	return o
}

// reached lists those of some reminders that wait for a task which has come to
// the state they name.
func (s *Store) reached(ctx context.Context, open []formats.Reminder) map[string]bool {
	w := s.opts.Workplace
	if w == nil {
		return nil
	}
	var out map[string]bool
	for _, x := range open {
		task, state, waits := reminder.Task(x)
		if !waits {
			continue
		}
		// The task may be gone with its store; then the reminder waits.
		if ok, err := w.Reached(ctx, task, state); err == nil && ok {
			if out == nil {
				out = map[string]bool{}
			}
			out[x.ID] = true
		}
	}
	return out
}
