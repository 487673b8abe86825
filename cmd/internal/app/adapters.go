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

// The methods of projectStores in this file are what the stores of a project ask of each other:
// agents of tasks, tasks of agents, and facts of both.

// Reassign moves the tasks of a handoff.
func (w projectStores) Reassign(ctx context.Context, from, to, reason string, only ...string) ([]string, error) {
	t, err := w.tasks()
	if err != nil {
		return nil, err
	}
	return t.Reassign(ctx, from, to, reason, only...)
}

// OpenTasks implements [agents.Reassigner].
func (w projectStores) OpenTasks(ctx context.Context, agent string) ([]string, error) {
	return method(w.tasks, (*tasks.Store).OpenTasks)(ctx, agent)
}

// Resolve finds the agent of a task.
func (w projectStores) Resolve(ctx context.Context, name string) (id, note string, err error) {
	a, err := w.agents()
	if err != nil {
		return "", "", err
	}
	return a.Resolve(ctx, name)
}

// Silent implements [tasks.Directory].
func (w projectStores) Silent(ctx context.Context, id string) (time.Time, bool, error) {
	a, err := w.agents()
	if err != nil {
		return time.Time{}, false, err
	}
	return a.Silent(ctx, id)
}

// Findings are the diary entries of agents and the results of tasks, for consolidation and
// search.
func (w projectStores) Findings(ctx context.Context, since time.Time) ([]knowledge.Finding, error) {
	noted, err := method(w.agents, (*agents.Store).Findings)(ctx, since)
	if err != nil {
		return nil, err
	}
	results, err := method(w.tasks, (*tasks.Store).Results)(ctx, since)
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

// Written are the entries of diaries, findings, and what was written into tasks.
func (w projectStores) Written(ctx context.Context, from, until time.Time) ([]knowledge.Finding, error) {
	noted, err := method(w.agents, (*agents.Store).Findings)(ctx, from)
	if err != nil {
		return nil, err
	}
	tasks, err := w.tasks()
	if err != nil {
		return nil, err
	}
	of, err := tasks.Written(ctx, from, until)
	if err != nil {
		return nil, err
	}
	var out []knowledge.Finding
	for _, n := range noted {
		if !n.At.After(until) {
			out = append(out, knowledge.Finding(n))
		}
	}
	for _, x := range of {
		out = append(out, knowledge.Finding(x))
	}
	return out, nil
}

// Tasks gives a briefing the tasks of an agent.
func (w projectStores) Tasks(ctx context.Context, agent, client string) (r knowledge.Tasks, err error) {
	t, err := w.tasks()
	if err != nil {
		return r, err
	}
	if r.Last, err = t.LastTask(ctx); err != nil || agent == "" && client == "" {
		return r, err // nobody can be given a task
	}
	ahead, err := t.OpenWork(ctx, agent, func(kind string) bool { return agents.WorksIn(kind, client) })
	for _, x := range ahead.Own {
		r.Own = append(r.Own, fmt.Sprintf("%s [%s]", taskLine(x), x.State))
	}
	if ahead.Next != nil {
		r.Next = taskLine(*ahead.Next)
		if by := ahead.Next.CreatedBy; by != "" && by != knowledge.KindUser { // a title can say that it is the user's
			r.Next += " (by " + prose.Name(by) + ")"
		}
	}
	return r, err
}

// taskLine is a task in a briefing, where each takes few tokens.
func taskLine(t tasks.Task) string { return fmt.Sprintf(`%s "%s"`, t.ID, prose.Clip(t.Title, 80)) }

// Presence lists the agents at work for a briefing, and counts the unread messages.
func (w projectStores) Presence(ctx context.Context, agent string) ([]string, int, error) {
	a, err := w.agents()
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

// Reached reports whether a task has come to a state, for reminders.
func (w projectStores) Reached(ctx context.Context, task, state string) (bool, error) {
	t, err := w.tasks()
	if err != nil {
		return false, err
	}
	return t.Reached(ctx, task, state)
}

// Damage lists the damage of agents, tasks and shares, and the paths of files that were set
// aside. It creates no files.
func (w projectStores) Damage(ctx context.Context) (warnings, aside []string, err error) {
	a, t, s, err := w.all()
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
func (w projectStores) Copies(ctx context.Context, holds func(text string) bool) (refs []string, err error) {
	a, t, s, err := w.all()
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

func (w projectStores) all() (*agents.Store, *tasks.Store, *share.Store, error) {
	a, err := w.agents()
	if err != nil {
		return nil, nil, nil, err
	}
	t, err := w.tasks()
	if err != nil {
		return nil, nil, nil, err
	}
	s, err := w.shares()
	return a, t, s, err
}
