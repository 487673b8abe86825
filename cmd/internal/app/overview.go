package app

import (
	"context"
	"path/filepath"

	"leanctx/cmd/internal/op"
	"leanctx/knowledge"
	"leanctx/knowledge/briefing"
	"leanctx/overview"
)

// overviewMap opens the map of a call's project. It writes nothing but its cache.
func (s *stores) overviewMap(ctx context.Context, sc op.Scope) (*overview.Map, error) {
	w, err := s.of(ctx, sc)
	if err != nil {
		return nil, err
	}
	store, err := w.factStore()
	if err != nil {
		return nil, err
	}
	r, err := s.redactor(sc)
	if err != nil {
		return nil, err
	}
	return overview.NewMap(w.project.Root, &overview.MapOptions{
		Cache: filepath.Join(s.config.DataDir, "overview", w.project.Hash), Redactor: r, Memory: overviewMemory{store, w.intends}, Progress: op.Progress(ctx), Logger: s.logger,
	}), nil
}

// overviewMemory gives an overview the project's facts.
type overviewMemory struct {
	store   *knowledge.Store
	working func(task string) // notes what the caller is about to do
}

// intends records the task of an overview for later calls of its connection. A command needs
// no record: it ends with its answer.
func (w projectStores) intends(task string) {
	if session := w.scope.Caller.Session; w.longLived && task != "" && session != "" {
		w.intents.Store(w.project.Hash+"\x00"+session, task)
	}
}

// intent is the task of the last overview on a connection.
func (w projectStores) intent() string {
	task, _ := w.intents.Load(w.project.Hash + "\x00" + w.scope.Caller.Session)
	text, _ := task.(string)
	return text
}

// maxNaming is the number of facts whose files are considered.
const maxNaming = 20

// Naming are the facts, patterns and gotchas that a task finds.
func (m overviewMemory) Naming(ctx context.Context, task string) ([]string, error) {
	return knowledge.Naming(ctx, m.store, task, maxNaming)
}

// Briefing is the briefing as an overview prints it.
func (m overviewMemory) Briefing(ctx context.Context, w overview.Work) (string, error) {
	m.working(w.Task)
	b, err := briefing.Begin(ctx, m.store, briefing.Work(w))
	return b.OverviewText(), err
}
