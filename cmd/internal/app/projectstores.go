package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"leanctx/agents"
	"leanctx/agents/cost"
	"leanctx/agents/share"
	"leanctx/cmd/internal/op"
	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/internal/secret"
	"leanctx/knowledge"
	"leanctx/overview/tree"
	"leanctx/tasks"
)

// projectStores opens the facts, agents, tasks, shared files and token counts of one project,
// each at first use, since most commands need few of them.
type projectStores struct {
	*stores
	scope   op.Scope
	project projectPlace
}

// in is the stores of a project.
func (s *stores) in(sc op.Scope, p projectPlace) projectStores { return projectStores{s, sc, p} }

// of is the stores of a call's project.
func (s *stores) of(ctx context.Context, sc op.Scope) (projectStores, error) {
	p, err := s.project(ctx, sc)
	return s.in(sc, p), err
}

// ofCall makes what opens a store for a call out of what opens it for a project.
func ofCall[T any](s *stores, open func(projectStores) (T, error)) func(context.Context, op.Scope) (T, error) {
	return func(ctx context.Context, sc op.Scope) (none T, err error) {
		w, err := s.of(ctx, sc)
		if err == nil {
			err = w.checkNames(ctx)
		}
		if err == nil && w.project.other { // what agents wrote there, and tasks, tell of its facts too
			_, err = w.factStore()
		}
		if err != nil {
			return none, err
		}
		return open(w)
	}
}

// checkNames refuses an agent whose name would be read as the user's, and marks a client that calls
// itself so. The person's name costs a call of git, so it is looked up only for what changes something.
func (w *projectStores) checkNames(ctx context.Context) error {
	if args.ClaimsUser(w.scope.Caller.Name, "") {
		w.scope.Caller.Name = "client:" + w.scope.Caller.Name
	}
	for _, name := range []string{w.scope.Agent, w.config.Agent} {
		if name == "" || args.AgentType(name) != "" && !args.ClaimsUser(name, "") {
			continue
		}
		person := ""
		if w.scope.Effect != op.Reads {
			person = w.person(w.project.Root)
		}
		if args.ClaimsUser(name, person) {
			return &refusal.ArgumentError{Argument: "agent", Subject: name, Problem: fmt.Sprintf("agent %q would be read as the user: give your id (register gives one), or leave it out", prose.Clip(name, 40))}
		}
	}
	return nil
}

// openOf returns the open store of a project, or opens one with the user's rules for secrets.
func openOf[T io.Closer](w projectStores, start func(*membership, *secret.Redactor) (T, error)) (T, error) {
	return openOnce(w.stores, w.project.at.key(), func() (none T, err error) {
		r, err := w.redactor(w.scope)
		if err != nil {
			return none, err
		}
		return start(w.project.at, r)
	})
}

func (w projectStores) agents() (*agents.Store, error) {
	return readInTime(w, agentsStem, func(m *membership, r *secret.Redactor) (*agents.Store, error) {
		return agents.Open(m.agentsDir(), &agents.Options{
			Team: m.team(w.stores), Fence: m.fence(w.stores), Machine: m.machine(),
			ProjectRoot: w.project.Root, ProjectHash: m.project(), LongLived: w.longLived, Redactor: r, Logger: w.logger,
			Tasks: w, Facts: w.asserted, Person: func() string { return w.person(w.project.Root) },
			Files: method(w.shares, (*share.Store).Paths), Free: method(w.tasks, (*tasks.Store).FreeFor), Shared: method(w.shares, (*share.Store).Waiting),
		})
	})
}

func (w projectStores) tasks() (*tasks.Store, error) {
	return readInTime(w, tasksStem, func(m *membership, r *secret.Redactor) (*tasks.Store, error) {
		return tasks.Open(m.agentsDir(), &tasks.Options{
			Team: m.team(w.stores), Fence: m.fence(w.stores), ProjectRoot: w.project.Root, ProjectHash: m.project(), Version: build().Version,
			LongLived: w.longLived, Redactor: r, Logger: w.logger, Agents: w,
		})
	})
}

func (w projectStores) shares() (*share.Store, error) {
	return openOf(w, func(m *membership, r *secret.Redactor) (*share.Store, error) {
		return share.Open(filepath.Join(m.agentsDir(), "shared", w.project.Hash), &share.Options{
			Team: m.team(w.stores), Fence: m.fence(w.stores), Contents: m.contents(w.stores), ProjectRoot: w.project.Root,
			LongLived: w.longLived, Redactor: r, Logger: w.logger,
			Ignored: func(ctx context.Context, root string, names []string) ([]string, error) {
				return tree.Ignored(ctx, root, names, nil)
			},
		})
	})
}

func (w projectStores) usage() (*cost.Usage, error) {
	p := w.project
	return openOnce(w.stores, p.Hash, func() (*cost.Usage, error) {
		return cost.Open(w.config.DataDir, &cost.Options{ProjectRoot: p.Root, ProjectHash: p.Hash, LongLived: w.longLived, Logger: w.logger})
	})
}

// closed refuses the facts of another project to a session if some of them are for that project alone.
// Answers of many kinds would show them; a search across projects leaves them out.
func (w projectStores) closed(store *knowledge.Store) error {
	private, err := knowledge.HasProjectOnly(context.Background(), store)
	if err == nil && private {
		err = &op.ForbiddenError{What: fmt.Sprintf("project %s has facts that are for its own sessions alone (privacy project_only): a search across projects finds the others", w.project.Name)}
	}
	return err
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

// redactor has the built-in rules, the user's own and the repository's.
func (s *stores) redactor(sc op.Scope) (*secret.Redactor, error) {
	settings, _, err := s.settings(sc)
	if err != nil {
		return nil, err
	}
	return settings.Redactor()
}

// self is the id of the agent that a call is made for: the one it names, else the one
// that its connection registered, else the configuration's. Nothing is opened to find out,
// unless it is named by less than its id: a connection that registered has opened the
// registry. A caller of none of these is the agent that its client's session is named after.
// A name that no agent has, or several, is given back with that error.
func (w projectStores) self() (string, error) {
	name := w.scope.Agent
	if name == "" {
		if registry, ok := opened[*agents.Store](w.stores, w.project.at.key()); ok {
			name = registry.As(agents.Actor{Session: w.scope.Caller.Session}).Self()
		}
	}
	name = cmp.Or(name, w.config.Agent)
	if agents.KindOf(name) != name {
		return name, nil
	}
	if name == "" {
		j, ok := w.joined()
		if !ok {
			return "", nil
		}
		name = j.Name(w.project.Hash)
	}
	registry, err := w.agents()
	if err != nil {
		return name, err
	}
	id, err := registry.Named(context.Background(), name)
	if name == w.sessionName() { // it need not be registered
		err = nil
	}
	return cmp.Or(id, name), err
}

// The methods below are the stores for the caller of an operation.

// factStore opens the facts.
func (w projectStores) factStore() (*knowledge.Store, error) {
	store, err := w.facts()
	if err == nil && w.project.other {
		err = w.closed(store)
	}
	if err != nil {
		return nil, err
	}
	agent, _ := w.self() // a name that nobody has stands as it is
	by := knowledge.Actor{Agent: w.scope.Caller.Name, Kind: w.scope.Caller.Kind, Session: w.scope.Caller.Session, Dir: w.callerDir()}
	if g := w.scope.Grant; g != nil {
		by.Remote = g.NoFiles // a token that was given to somebody, or none
	}
	if agent != "" {
		by.Agent, by.Kind = agent, knowledge.KindAgent
	}
	return store.As(by).On(w.intent()), nil
}

// agentStore opens the registry of agents. The agent that a connection registered is not
// named here, since the registry knows it. A caller that registers again without naming an
// agent becomes another agent.
func (w projectStores) agentStore() (*agents.Store, error) {
	store, err := w.agents()
	if err != nil {
		return nil, err
	}
	a := w.actor(w.scope.Agent)
	if store.As(a).Self() == "" {
		a.Agent = w.config.Agent
	}
	return store.As(a), nil
}

// taskStore opens the tasks.
func (w projectStores) taskStore() (*tasks.Store, error) {
	agent, err := w.self()
	if err != nil && !is[*refusal.NotFoundError](err) { // a task may wait for an agent that nobody is yet
		return nil, err
	}
	if agent, err = w.enter(agent); err != nil {
		return nil, err
	}
	store, err := w.tasks()
	if err != nil {
		return nil, err
	}
	return store.As(tasks.Actor{Agent: agent, Client: cmp.Or(w.scope.Caller.Name, w.scope.Caller.Kind), Session: w.scope.Caller.Session}), nil
}

// shareStore opens the shared files.
func (w projectStores) shareStore() (*share.Store, error) {
	agent, err := w.self()
	if err != nil && !is[*refusal.NotFoundError](err) { // the store says so
		return nil, err
	}
	if agent, err = w.enter(agent); err != nil {
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
	return store.As(registry.As(w.actor(agent))), nil
}

// usageStore opens the token counts.
func (w projectStores) usageStore() (*cost.Usage, error) {
	usage, err := w.usage()
	if err != nil {
		return nil, err
	}
	agent, _ := w.self()
	return usage.As(cost.Actor{Agent: agent, Client: w.scope.Caller.Name, Session: w.scope.Caller.Session}), nil
}
