package app

import (
	"context"
	"strings"
	"time"

	"leanctx/agents"
	"leanctx/knowledge"
)

// reassigner is how a handoff moves tasks.
type reassigner struct{ w *crew }

func (r reassigner) Reassign(ctx context.Context, from, to, reason string) ([]string, error) {
	t, err := r.w.tasks()
	if err != nil {
		return nil, err
	}
	return t.Reassign(ctx, from, to, reason)
}

func (r reassigner) OpenTasks(ctx context.Context, agent string) ([]string, error) {
	t, err := r.w.tasks()
	if err != nil {
		return nil, err
	}
	return t.OpenTasks(ctx, agent)
}

// directory is how tasks find their agents.
type directory struct{ w *crew }

func (d directory) Resolve(ctx context.Context, name string) (string, error) {
	a, err := d.w.agents()
	if err != nil {
		return "", err
	}
	return a.Resolve(ctx, name)
}

func (d directory) Silent(ctx context.Context, id string) (time.Time, bool, error) {
	a, err := d.w.agents()
	if err != nil {
		return time.Time{}, false, err
	}
	return a.Silent(ctx, id)
}

func (d directory) Settle(ctx context.Context) error {
	a, err := d.w.agents()
	if err != nil {
		return err
	}
	return a.Settle(ctx)
}

// shared lists the files that an agent has shared, for a handoff.
func (w *crew) shared(ctx context.Context, agent string) ([]string, error) {
	store, err := w.shares()
	if err != nil {
		return nil, err
	}
	return store.Paths(ctx, agent)
}

// free lists the tasks that an agent may claim.
func (w *crew) free(ctx context.Context, agent string) ([]string, error) {
	store, err := w.tasks()
	if err != nil {
		return nil, err
	}
	return store.FreeFor(ctx, agent)
}

// unpulled counts what was shared with an agent and it has not had yet.
func (w *crew) unpulled(ctx context.Context, agent string) (int, error) {
	store, err := w.shares()
	if err != nil {
		return 0, err
	}
	return store.Waiting(ctx, agent)
}

// current is the title of the task that an agent is working on.
func (w *crew) current(ctx context.Context, agent string) (string, error) {
	store, err := w.tasks()
	if err != nil {
		return "", err
	}
	return store.Current(ctx, agent)
}

// findings is what agents wrote down, for consolidation and search.
type findings struct{ w *crew }

func (f findings) Findings(ctx context.Context, since time.Time) ([]knowledge.Finding, error) {
	a, err := f.w.agents()
	if err != nil {
		return nil, err
	}
	noted, err := a.Findings(ctx, since)
	if err != nil {
		return nil, err
	}
	t, err := f.w.tasks()
	if err != nil {
		return nil, err
	}
	results, err := t.Results(ctx, since)
	if err != nil {
		return nil, err
	}
	out := make([]knowledge.Finding, 0, len(noted)+len(results))
	for _, n := range noted {
		out = append(out, knowledge.Finding(n))
	}
	for _, r := range results {
		out = append(out, knowledge.Finding(r))
	}
	return out, nil
}

// surroundings is what a briefing tells of agents and tasks.
type surroundings struct{ w *crew }

func (s surroundings) LastTask(ctx context.Context) (string, error) {
	t, err := s.w.tasks()
	if err != nil {
		return "", err
	}
	return t.LastTask(ctx)
}

func (s surroundings) Company(ctx context.Context, agent string) ([]string, int, error) {
	a, err := s.w.agents()
	if err != nil {
		return nil, 0, err
	}
	p, err := a.As(agents.Actor{Agent: agent}).Presence(ctx)
	for i, name := range p.Agents {
		p.Agents[i] = strings.ReplaceAll(name, ",", ";") // the briefing puts commas between them
	}
	return p.Agents, p.Unread, err
}

func (s surroundings) Reached(ctx context.Context, task, state string) (bool, error) {
	t, err := s.w.tasks()
	if err != nil {
		return false, err
	}
	return t.Reached(ctx, task, state)
}
