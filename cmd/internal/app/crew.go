package app

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"sync"

	"leanctx/agents"
	"leanctx/agents/cost"
	"leanctx/agents/share"
	"leanctx/cmd/internal/op"
	"leanctx/internal/secret"
	"leanctx/overview/project"
	"leanctx/tasks"
)

// crew is who works in one project, and on what. The registry of agents and
// the tasks know each other through it; each is opened when it is first asked
// for, since most commands need neither.
type crew struct {
	openAgents func() (*agents.Store, error)
	openTasks  func() (*tasks.Store, error)
	openShares func() (*share.Store, error)

	mu       sync.Mutex
	registry *agents.Store // once it is open
	board    *tasks.Store  // likewise
	shelf    *share.Store  // likewise
}

// crew is the project's, made at the first call for it.
func (s *stores) crew(sc op.Scope, p project.Project) (*crew, error) {
	return kept(s, s.crews, p.Hash, func() (*crew, error) {
		c, err := s.config()
		if err != nil {
			return nil, err
		}
		settings, _, err := s.settings(sc)
		if err != nil {
			return nil, err
		}
		r, err := redactor(settings.Sensitive)
		if err != nil {
			return nil, err
		}
		w, dir := new(crew), filepath.Join(c.DataDir, "agents")
		w.openAgents = func() (*agents.Store, error) {
			return agents.Open(dir, &agents.Options{
				ProjectRoot: p.Root, ProjectHash: p.Hash, LongLived: s.lasting, Redactor: r, Logger: s.logger,
				Tasks: reassigner{w}, Facts: s.asserted(sc, p), Files: w.shared, Free: w.free, Shared: w.unpulled,
			})
		}
		w.openTasks = func() (*tasks.Store, error) {
			return tasks.Open(dir, &tasks.Options{
				ProjectRoot: p.Root, ProjectHash: p.Hash, Version: build().Version, LongLived: s.lasting, Redactor: r, Logger: s.logger,
				Agents: directory{w},
			})
		}
		w.openShares = func() (*share.Store, error) {
			return share.Open(filepath.Join(dir, "shared", p.Hash), &share.Options{
				ProjectRoot: p.Root, LongLived: s.lasting, Redactor: r, Tokens: new(cost.Tokenizer).Count, Logger: s.logger,
			})
		}
		return w, nil
	})
}

// agents is the registry, opened if it is not.
func (w *crew) agents() (*agents.Store, error) { return once(w, &w.registry, w.openAgents) }

// tasks is the tasks, opened if they are not.
func (w *crew) tasks() (*tasks.Store, error) { return once(w, &w.board, w.openTasks) }

// shares is the shared files, opened if they are not.
func (w *crew) shares() (*share.Store, error) { return once(w, &w.shelf, w.openShares) }

// once is what x holds, or what open opens; what cannot be opened is tried
// again at the next call.
func once[T any](w *crew, x **T, open func() (*T, error)) (*T, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if *x != nil {
		return *x, nil
	}
	made, err := open()
	if err == nil {
		*x = made
	}
	return made, err
}

// known is the registry if it is open.
func (w *crew) known() *agents.Store {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.registry
}

// Notices are what the open stores have to say that no answer has told.
func (w *crew) Notices() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	if w.registry != nil {
		out = w.registry.Notices()
	}
	if w.board != nil {
		out = append(out, w.board.Notices()...)
	}
	if w.shelf != nil {
		out = append(out, w.shelf.Notices()...)
	}
	return out
}

// Close closes what was opened.
func (w *crew) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	if w.registry != nil {
		errs = append(errs, w.registry.Close())
	}
	if w.board != nil {
		errs = append(errs, w.board.Close())
	}
	if w.shelf != nil {
		errs = append(errs, w.shelf.Close())
	}
	return errors.Join(errs...)
}

// redactor is made of the user's own rules, or nil for the built-in ones.
func redactor(rules []secret.Rule) (*secret.Redactor, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	return secret.New(rules)
}

// self is the agent that a call is made for: the one it names, else the one
// that its connection registered, else the configuration's. Nothing is opened
// to find out, unless it is named by less than its id: a connection that
// registered has opened the registry.
func (s *stores) self(sc op.Scope, hash, configured string) string {
	s.mu.Lock()
	w := s.crews[hash]
	s.mu.Unlock()
	agent := sc.Agent
	if agent == "" && w != nil {
		if registry := w.known(); registry != nil {
			agent = registry.As(agents.Actor{Session: sc.Caller.Session}).Self()
		}
	}
	agent = cmp.Or(agent, configured)
	if w == nil || agent == "" || idForm.MatchString(agent) {
		return agent
	}
	if registry, err := w.agents(); err == nil {
		if id, err := registry.Named(context.Background(), agent); err == nil {
			return id
		}
	}
	return agent
}

// idForm is how the id of an agent ends.
var idForm = regexp.MustCompile(`-[0-9a-f]{4,}$`)

// finder tells which project a call is about.
type finder func(context.Context, op.Scope) (project.Project, error)

// working opens the registry of agents of a call's project.
func (s *stores) working(find finder) func(context.Context, op.Scope) (*agents.Store, error) {
	return func(ctx context.Context, sc op.Scope) (*agents.Store, error) {
		w, _, err := s.workplace(ctx, sc, find)
		if err != nil {
			return nil, err
		}
		return s.registry(w, sc)
	}
}

// registry is the agents as seen by whoever calls. The one that a connection
// registered is not named here, since the registry knows it: who registers
// again without naming an agent is to be another one.
func (s *stores) registry(w *crew, sc op.Scope) (*agents.Store, error) {
	c, err := s.config()
	if err != nil {
		return nil, err
	}
	store, err := w.agents()
	if err != nil {
		return nil, err
	}
	a := agents.Actor{Agent: sc.Agent, Client: sc.Caller.Name, Session: sc.Caller.Session}
	if store.As(a).Self() == "" {
		a.Agent = c.Agent
	}
	return store.As(a), nil
}

// doing opens the tasks of a call's project.
func (s *stores) doing(find finder) func(context.Context, op.Scope) (*tasks.Store, error) {
	return func(ctx context.Context, sc op.Scope) (*tasks.Store, error) {
		w, agent, err := s.workplace(ctx, sc, find)
		if err != nil {
			return nil, err
		}
		store, err := w.tasks()
		if err != nil {
			return nil, err
		}
		return store.As(tasks.Actor{Agent: agent, Client: cmp.Or(sc.Caller.Name, sc.Caller.Kind), Session: sc.Caller.Session}), nil
	}
}

// sharing opens the shared files of a call's project.
func (s *stores) sharing(find finder) func(context.Context, op.Scope) (*share.Store, error) {
	return func(ctx context.Context, sc op.Scope) (*share.Store, error) {
		w, agent, err := s.workplace(ctx, sc, find)
		if err != nil {
			return nil, err
		}
		registry, err := w.agents()
		if err != nil {
			return nil, err
		}
		store, err := w.shares()
		if err != nil {
			return nil, err
		}
		return store.As(registry.As(agents.Actor{Agent: agent, Client: sc.Caller.Name, Session: sc.Caller.Session})), nil
	}
}

// workplace is the crew of a call's project, and the agent that calls. A name
// that may be several agents' is none's.
func (s *stores) workplace(ctx context.Context, sc op.Scope, find finder) (w *crew, agent string, err error) {
	c, err := s.config()
	if err != nil {
		return nil, "", err
	}
	p, err := find(ctx, sc)
	if err != nil {
		return nil, "", err
	}
	if w, err = s.crew(sc, p); err != nil {
		return nil, "", err
	}
	agent = s.self(sc, p.Hash, c.Agent)
	if agent == "" || idForm.MatchString(agent) {
		return w, agent, nil
	}
	registry, err := w.agents()
	if err != nil {
		return nil, "", err
	}
	_, err = registry.Named(ctx, agent)
	if _, several := errors.AsType[*agents.ArgumentError](err); several {
		return nil, "", err
	}
	return w, agent, nil
}
