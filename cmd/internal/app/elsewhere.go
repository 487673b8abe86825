package app

import (
	"context"

	"leanctx/agents"
	"leanctx/agents/share"
	"leanctx/tasks"
)

// elsewhere is what is kept of a project beside its facts, for those who examine
// its files and those who erase.
type elsewhere struct{ w *crew }

// Damage tells what is wrong with the files of agents, tasks and shares, and
// gives the paths of what was set aside. Nothing is made where nobody ever worked.
func (e elsewhere) Damage(ctx context.Context) (told, aside []string, err error) {
	a, t, s, err := e.all()
	if err != nil {
		return nil, nil, err
	}
	for _, look := range []func(context.Context) ([]string, []string, error){a.Damage, t.Damage, s.Damage} {
		more, files, err := look(ctx)
		if err != nil { // it is what was asked for
			more = append(more, err.Error())
		}
		told, aside = append(told, more...), append(aside, files...)
	}
	return told, aside, nil
}

// Copies names what in diaries, messages, handoffs, tasks and shares holds
// something.
func (e elsewhere) Copies(ctx context.Context, holds func(text string) bool) (refs []string, err error) {
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

func (e elsewhere) all() (*agents.Store, *tasks.Store, *share.Store, error) {
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
