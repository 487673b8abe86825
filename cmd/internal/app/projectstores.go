package app

import (
	"cmp"
	"context"
	"path/filepath"

	"leanctx/agents"
	"leanctx/agents/cost"
	"leanctx/agents/share"
	"leanctx/cmd/internal/op"
	"leanctx/internal/refusal"
	"leanctx/internal/secret"
	"leanctx/tasks"
)

// projectStores opens the agents, tasks, shared files and token counts of one project, each
// when it is first asked for, since most commands need none of them.
type projectStores struct {
	*stores
	scope   op.Scope
	project located
}

// in is the stores of a project.
func (s *stores) in(sc op.Scope, p located) projectStores { return projectStores{s, sc, p} }

func (w projectStores) agents() (*agents.Store, error) {
	p, m := w.project, w.project.at
	return openOnce(w.stores, m.key(), func() (*agents.Store, error) {
		r, err := w.redactor(w.scope)
		if err != nil {
			return nil, err
		}
		return agents.Open(m.agentsDir(), &agents.Options{
			Team: m.team(w.stores), Fence: m.fence(w.stores), Machine: m.machine(),
			ProjectRoot: p.Root, ProjectHash: m.project(), LongLived: w.longLived, Redactor: r, Logger: w.logger,
			Tasks: w, Facts: w.asserted,
			Files: method(w.shares, (*share.Store).Paths), Free: method(w.tasks, (*tasks.Store).FreeFor), Shared: method(w.shares, (*share.Store).Waiting),
		})
	})
}

func (w projectStores) tasks() (*tasks.Store, error) {
	p, m := w.project, w.project.at
	return openOnce(w.stores, m.key(), func() (*tasks.Store, error) {
		r, err := w.redactor(w.scope)
		if err != nil {
			return nil, err
		}
		return tasks.Open(m.agentsDir(), &tasks.Options{
			Team: m.team(w.stores), Fence: m.fence(w.stores), ProjectRoot: p.Root, ProjectHash: m.project(), Version: build().Version,
			LongLived: w.longLived, Redactor: r, Logger: w.logger, Agents: w,
		})
	})
}

func (w projectStores) shares() (*share.Store, error) {
	p, m := w.project, w.project.at
	return openOnce(w.stores, m.key(), func() (*share.Store, error) {
		r, err := w.redactor(w.scope)
		if err != nil {
			return nil, err
		}
		return share.Open(filepath.Join(m.agentsDir(), "shared", p.Hash), &share.Options{
			Team: m.team(w.stores), Fence: m.fence(w.stores), Contents: m.contents(w.stores), ProjectRoot: p.Root,
			LongLived: w.longLived, Redactor: r, Tokens: new(cost.Tokenizer).Count, Logger: w.logger,
		})
	})
}

func (w projectStores) usage() (*cost.Usage, error) {
	p := w.project
	return openOnce(w.stores, p.Hash, func() (*cost.Usage, error) {
		return cost.Open(w.config.DataDir, &cost.Options{ProjectRoot: p.Root, ProjectHash: p.Hash, LongLived: w.longLived, Logger: w.logger})
	})
}

// method is a method of a store that opens the store first.
func method[S, A, R any](open func() (S, error), call func(S, context.Context, A) (R, error)) func(context.Context, A) (R, error) {
	return func(ctx context.Context, a A) (none R, err error) {
		store, err := open()
		if err != nil {
			return none, err
		}
		return call(store, ctx, a)
	}
}

// redactor is made of the user's own rules, or nil for the built-in ones.
func (s *stores) redactor(sc op.Scope) (*secret.Redactor, error) {
	settings, _, err := s.settings(sc)
	if err != nil || len(settings.Sensitive) == 0 {
		return nil, err
	}
	return secret.New(settings.Sensitive)
}

// agent is the id of the agent that a call is made for: the one it names, else the one
// that its connection registered, else the configuration's. Nothing is opened to find out,
// unless it is named by less than its id: a connection that registered has opened the
// registry. A name that no agent has, or several, is given back with that error.
func (s *stores) agent(sc op.Scope, p located) (string, error) {
	name := sc.Agent
	if name == "" {
		if registry, ok := opened[*agents.Store](s, p.at.key()); ok {
			name = registry.As(agents.Actor{Session: sc.Caller.Session}).Self()
		}
	}
	name = cmp.Or(name, s.config.Agent)
	if name == "" || agents.KindOf(name) != name {
		return name, nil
	}
	registry, err := s.in(sc, p).agents()
	if err != nil {
		return name, err
	}
	id, err := registry.Named(context.Background(), name)
	return cmp.Or(id, name), err
}

// agentStore opens the registry of agents of a call's project. The agent that a connection
// registered is not named here, since the registry knows it. A caller that registers again
// without naming an agent becomes another agent.
func (s *stores) agentStore(ctx context.Context, sc op.Scope) (*agents.Store, error) {
	w, _, err := s.callStores(ctx, sc)
	if err != nil {
		return nil, err
	}
	store, err := w.agents()
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
func (s *stores) taskStore(ctx context.Context, sc op.Scope) (*tasks.Store, error) {
	w, agent, err := s.callStores(ctx, sc)
	if err != nil {
		return nil, err
	}
	store, err := w.tasks()
	if err != nil {
		return nil, err
	}
	return store.As(tasks.Actor{Agent: agent, Client: cmp.Or(sc.Caller.Name, sc.Caller.Kind), Session: sc.Caller.Session}), nil
}

// shareStore opens the shared files of a call's project.
func (s *stores) shareStore(ctx context.Context, sc op.Scope) (*share.Store, error) {
	w, agent, err := s.callStores(ctx, sc)
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

// usageStore opens the token counts of a call's project.
func (s *stores) usageStore(ctx context.Context, sc op.Scope) (*cost.Usage, error) {
	p, err := s.project(ctx, sc)
	if err != nil {
		return nil, err
	}
	usage, err := s.in(sc, p).usage()
	if err != nil {
		return nil, err
	}
	agent, _ := s.agent(sc, p)
	return usage.As(cost.Actor{Agent: agent, Client: sc.Caller.Name, Session: sc.Caller.Session}), nil
}

// callStores is the stores of a call's project, and the agent that calls. A name
// that may be several agents' is none's.
func (s *stores) callStores(ctx context.Context, sc op.Scope) (w projectStores, agent string, err error) {
	p, err := s.project(ctx, sc)
	if err != nil {
		return w, "", err
	}
	agent, err = s.agent(sc, p)
	if is[*refusal.NotFoundError](err) { // the store says so, or a message waits for it
		err = nil
	}
	return s.in(sc, p), agent, err
}
