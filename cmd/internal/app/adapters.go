package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"leanctx/agents"
	"leanctx/agents/share"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/tasks"
)

// reassigner moves the tasks of a handoff.
type reassigner struct{ w projectStores }

func (r reassigner) Reassign(ctx context.Context, from, to, reason string, only ...string) ([]string, error) {
	t, err := r.w.tasks()
	if err != nil {
		return nil, err
	}
	return t.Reassign(ctx, from, to, reason, only...)
}

func (r reassigner) OpenTasks(ctx context.Context, agent string) ([]string, error) {
	return method(r.w.tasks, (*tasks.Store).OpenTasks)(ctx, agent)
}

// directory finds the agents of tasks.
type directory struct{ w projectStores }

func (d directory) Resolve(ctx context.Context, name string) (id, note string, err error) {
	a, err := d.w.agents()
	if err != nil {
		return "", "", err
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

// findings are the diary entries and findings of agents, for consolidation and search.
type findings struct{ w projectStores }

func (f findings) Findings(ctx context.Context, since time.Time) ([]knowledge.Finding, error) {
	noted, err := method(f.w.agents, (*agents.Store).Findings)(ctx, since)
	if err != nil {
		return nil, err
	}
	results, err := method(f.w.tasks, (*tasks.Store).Results)(ctx, since)
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

// coworkers gives a briefing the agents and tasks of the project.
type coworkers struct{ w projectStores }

func (c coworkers) Tasks(ctx context.Context, agent, client string) (r knowledge.Tasks, err error) {
	t, err := c.w.tasks()
	if err != nil {
		return r, err
	}
	if r.Last, err = t.LastTask(ctx); err != nil || agent == "" && client == "" {
		return r, err // nobody can be given a task
	}
	ahead, err := t.Ahead(ctx, agent, func(kind string) bool { return sameKind(kind, client) })
	for _, x := range ahead.Own {
		r.Own = append(r.Own, fmt.Sprintf("%s [%s]", taskLine(x), x.State))
	}
	if ahead.Next != nil {
		r.Next = taskLine(*ahead.Next)
	}
	return r, err
}

// taskLine is a task in a briefing, where each takes few tokens.
func taskLine(t tasks.Task) string { return fmt.Sprintf(`%s "%s"`, t.ID, prose.Clip(t.Title, 80)) }

func (c coworkers) Company(ctx context.Context, agent string) ([]string, int, error) {
	a, err := c.w.agents()
	if err != nil {
		return nil, 0, err
	}
	p, err := a.As(agents.Actor{Agent: agent}).Presence(ctx)
	names := make([]string, len(p.Agents))
	for i, c := range p.Agents {
		names[i] = strings.ReplaceAll(c.String(), ",", ";") // the briefing puts commas between them
	}
	return names, p.Unread, err
}

func (c coworkers) Reached(ctx context.Context, task, state string) (bool, error) {
	t, err := c.w.tasks()
	if err != nil {
		return false, err
	}
	return t.Reached(ctx, task, state)
}

// otherStores are the stores of a project beside its facts. Health examines them, and an
// erasure searches them.
type otherStores struct{ w projectStores }

// Damage lists the damage of agents, tasks and shares, and the paths of files that were set
// aside. It creates no files.
func (e otherStores) Damage(ctx context.Context) (warnings, aside []string, err error) {
	a, t, s, err := e.all()
	if err != nil {
		return nil, nil, err
	}
	for _, look := range []func(context.Context) ([]string, []string, error){a.Damage, t.Damage, s.Damage} {
		more, files, err := look(ctx)
		if err != nil { // a store that cannot be read is damage too
			more = append(more, err.Error())
		}
		warnings, aside = append(warnings, more...), append(aside, files...)
	}
	return warnings, aside, nil
}

// Copies lists the diary entries, messages, handoffs, tasks and shares whose text holds
// something.
func (e otherStores) Copies(ctx context.Context, holds func(text string) bool) (refs []string, err error) {
	a, t, s, err := e.all()
	if err != nil {
		return nil, err
	}
	for _, look := range []func(context.Context, func(string) bool) ([]string, error){a.Copies, t.Copies, s.Copies} {
		more, err := look(ctx, holds)
		refs = append(refs, more...)
		if err != nil {
			return refs, err
		}
	}
	return refs, nil
}

func (e otherStores) all() (*agents.Store, *tasks.Store, *share.Store, error) {
	a, err := e.w.agents()
	if err != nil {
		return nil, nil, nil, err
	}
	t, err := e.w.tasks()
	if err != nil {
		return nil, nil, nil, err
	}
	s, err := e.w.shares()
	return a, t, s, err
}
