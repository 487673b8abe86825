package app

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"leanctx/agents"
	"leanctx/agents/cost"
	"leanctx/agents/share"
	"leanctx/cmd/internal/op"
	"leanctx/internal/secret"
	"leanctx/tasks"
)

// projectStores are the agents, tasks and shared files of one project. Each store is
// opened when it is first asked for, since most commands need none of them.
type projectStores struct {
	agents lazy[*agents.Store]
	tasks  lazy[*tasks.Store]
	shares lazy[*share.Store]
}

// projectStore is one of them.
type projectStore interface {
	comparable
	Notices() []string
	Close() error
}

// lazy is a store that is opened at its first use.
type lazy[T projectStore] struct {
	open func() (T, error)

	mu    sync.Mutex
	store T
}

// get opens the store if it is not open. After an error the next call tries again.
func (l *lazy[T]) get() (store T, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store == store {
		store, err = l.open()
		if err != nil {
			return *new(T), err
		}
		l.store = store
	}
	return l.store, nil
}

// method is a method of a store that opens the store first.
func method[S projectStore, A, R any](l *lazy[S], call func(S, context.Context, A) (R, error)) func(context.Context, A) (R, error) {
	return func(ctx context.Context, a A) (none R, err error) {
		store, err := l.get()
		if err != nil {
			return none, err
		}
		return call(store, ctx, a)
	}
}

// known is the store if it is open, else nil.
func (l *lazy[T]) known() T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.store
}

func (l *lazy[T]) notices() []string {
	if store := l.known(); store != *new(T) {
		return store.Notices()
	}
	return nil
}

func (l *lazy[T]) close() error {
	if store := l.known(); store != *new(T) {
		return store.Close()
	}
	return nil
}

// projectStores are the project's, made at the first call for it.
func (s *stores) projectStores(sc op.Scope, p located) (*projectStores, error) {
	m := p.at
	return openOnce(s, m.key(), func() (*projectStores, error) {
		settings, _, err := s.settings(sc)
		if err != nil {
			return nil, err
		}
		r, err := redactor(settings.Sensitive)
		if err != nil {
			return nil, err
		}
		w, dir := new(projectStores), m.agentsDir()
		w.agents.open = func() (*agents.Store, error) {
			return agents.Open(dir, &agents.Options{
				Team: m.team(s), Machine: m.machine(),
				ProjectRoot: p.Root, ProjectHash: m.project(), LongLived: s.longLived, Redactor: r, Logger: s.logger,
				Tasks: reassigner{w}, Facts: s.asserted(sc, p),
				Files: method(&w.shares, (*share.Store).Paths), Free: method(&w.tasks, (*tasks.Store).FreeFor), Shared: method(&w.shares, (*share.Store).Waiting),
			})
		}
		w.tasks.open = func() (*tasks.Store, error) {
			return tasks.Open(dir, &tasks.Options{
				Team: m.team(s), ProjectRoot: p.Root, ProjectHash: m.project(), Version: build().Version, LongLived: s.longLived, Redactor: r, Logger: s.logger,
				Agents: directory{w},
			})
		}
		w.shares.open = func() (*share.Store, error) {
			return share.Open(filepath.Join(dir, "shared", p.Hash), &share.Options{
				Team: m.team(s), Contents: m.contents(s), ProjectRoot: p.Root, LongLived: s.longLived, Redactor: r, Tokens: new(cost.Tokenizer).Count, Logger: s.logger,
			})
		}
		return w, nil
	})
}

// Notices are what the open stores have to say that no answer has shown.
func (w *projectStores) Notices() []string {
	return slices.Concat(w.agents.notices(), w.tasks.notices(), w.shares.notices())
}

// Close closes the stores that are open.
func (w *projectStores) Close() error {
	return errors.Join(w.agents.close(), w.tasks.close(), w.shares.close())
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
func (s *stores) self(sc op.Scope, p located) string {
	w := s.openProject(p)
	agent := sc.Agent
	if agent == "" && w != nil {
		if registry := w.agents.known(); registry != nil {
			agent = registry.As(agents.Actor{Session: sc.Caller.Session}).Self()
		}
	}
	agent = cmp.Or(agent, s.config.Agent)
	if w == nil || agent == "" || idForm.MatchString(agent) {
		return agent
	}
	if registry, err := w.agents.get(); err == nil {
		if id, err := registry.Named(context.Background(), agent); err == nil {
			return id
		}
	}
	return agent
}

// idForm is how the id of an agent ends.
var idForm = regexp.MustCompile(`-[0-9a-f]{4,}$`)

// agentStore opens the registry of agents of a call's project.
func (s *stores) agentStore(find finder) func(context.Context, op.Scope) (*agents.Store, error) {
	return func(ctx context.Context, sc op.Scope) (*agents.Store, error) {
		w, _, err := s.callStores(ctx, sc, find)
		if err != nil {
			return nil, err
		}
		return s.registry(w, sc)
	}
}

// registry is the store of agents for a caller. The agent that a connection registered is not
// named here, since the registry knows it. A caller that registers again without naming an
// agent becomes another agent.
func (s *stores) registry(w *projectStores, sc op.Scope) (*agents.Store, error) {
	store, err := w.agents.get()
	if err != nil {
		return nil, err
	}
	a := agents.Actor{Agent: sc.Agent, Client: sc.Caller.Name, Session: sc.Caller.Session}
	if store.As(a).Self() == "" {
		a.Agent = s.config.Agent
	}
	return store.As(a), nil
}

// taskStore opens the tasks of a call's project.
func (s *stores) taskStore(find finder) func(context.Context, op.Scope) (*tasks.Store, error) {
	return func(ctx context.Context, sc op.Scope) (*tasks.Store, error) {
		w, agent, err := s.callStores(ctx, sc, find)
		if err != nil {
			return nil, err
		}
		store, err := w.tasks.get()
		if err != nil {
			return nil, err
		}
		return store.As(tasks.Actor{Agent: agent, Client: cmp.Or(sc.Caller.Name, sc.Caller.Kind), Session: sc.Caller.Session}), nil
	}
}

// shareStore opens the shared files of a call's project.
func (s *stores) shareStore(find finder) func(context.Context, op.Scope) (*share.Store, error) {
	return func(ctx context.Context, sc op.Scope) (*share.Store, error) {
		w, agent, err := s.callStores(ctx, sc, find)
		if err != nil {
			return nil, err
		}
		registry, err := w.agents.get()
		if err != nil {
			return nil, err
		}
		store, err := w.shares.get()
		if err != nil {
			return nil, err
		}
		return store.As(registry.As(agents.Actor{Agent: agent, Client: sc.Caller.Name, Session: sc.Caller.Session})), nil
	}
}

// callStores is the stores of a call's project, and the agent that calls. A name
// that may be several agents' is none's.
func (s *stores) callStores(ctx context.Context, sc op.Scope, find finder) (w *projectStores, agent string, err error) {
	p, err := find(ctx, sc)
	if err != nil {
		return nil, "", err
	}
	if w, err = s.projectStores(sc, p); err != nil {
		return nil, "", err
	}
	agent = s.self(sc, p)
	if agent == "" || idForm.MatchString(agent) {
		return w, agent, nil
	}
	registry, err := w.agents.get()
	if err != nil {
		return nil, "", err
	}
	_, err = registry.Named(ctx, agent)
	if _, several := errors.AsType[*agents.ArgumentError](err); several {
		return nil, "", err
	}
	return w, agent, nil
}
