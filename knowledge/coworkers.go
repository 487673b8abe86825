package knowledge

import (
	"context"
	"strings"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/reminder"
)

// Coworkers is what a briefing tells beside facts: who else is at work in the
// project, and on what. Agents and their tasks meet it.
type Coworkers interface {
	// Tasks tells what was last worked on, and what waits for somebody: an agent, or
	// a client whose agent has not registered. Both may be empty.
	Tasks(ctx context.Context, agent, client string) (Tasks, error)

	// Presence lists the agents at work, as id(role) and in order, and counts
	// what one of them has not read yet.
	Presence(ctx context.Context, agent string) (agents []string, unread int, err error)

	// Reached reports whether a task is or was in a state. A task or state
	// that does not exist is an error.
	Reached(ctx context.Context, task, state string) (bool, error)
}

// Tasks is what a briefing tells of the tasks of the project.
type Tasks struct {
	Last string   // the title of the task last worked on; may be empty
	Own  []string // the caller's open tasks, each in a line
	Next string   // the task that the caller would get next, if it is none of them; may be empty
}

// OtherStores is what is kept of a project beside its facts: diaries, messages,
// tasks, shares. Health tells of its damage, and erasing names what is left
// there.
type OtherStores interface {
	// Damage tells what is wrong with the files, and gives the paths of what
	// was set aside.
	Damage(ctx context.Context) (told, aside []string, err error)

	// Copies names what holds something. With an error it gives what it found.
	Copies(ctx context.Context, holds func(text string) bool) (refs []string, err error)
}

// Reached returns the ids of those reminders that wait for a task which has come
// to the state they name.
func Reached(ctx context.Context, w Coworkers, open []formats.Reminder) map[string]bool {
	if w == nil {
		return nil
	}
	out := map[string]bool{}
	for _, x := range open {
		task, state, waits := reminder.Task(x)
		if !waits {
			continue
		}
		// The task may be gone with its store; then the reminder waits.
		if ok, err := w.Reached(ctx, task, state); err == nil && ok {
			out[x.ID] = true
		}
	}
	return out
}

// weighRival makes a change a contradiction of medium severity when another agent of the same
// type asserted the old value and is at work now.
func weighRival(ctx context.Context, s *Store, c *Contradiction) {
	if c == nil || !c.rival || s.opts.Coworkers == nil {
		return
	}
	agents, _, err := s.opts.Coworkers.Presence(ctx, s.actor.Agent)
	for _, a := range agents {
		if id, _, _ := strings.Cut(a, "("); id == c.OldAssertedBy {
			c.Severity = fact.Medium
		}
	}
	if err != nil {
		s.opts.Logger.Debug("nobody knows who is at work", "error", err) // the fact is stored
	}
}

// agentType is the type of an agent: cursor for cursor-a3f8. A name that no
// registry gave is its own type.
func agentType(id string) string {
	if i := strings.LastIndexByte(id, '-'); i > 0 && len(id)-i > 4 && strings.Trim(id[i+1:], "0123456789abcdef") == "" {
		return id[:i]
	}
	return id
}
