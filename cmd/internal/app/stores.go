package app

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"leanctx/agents/cost"
	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
	"leanctx/internal/journal/jetstream"
	"leanctx/knowledge"
	"leanctx/knowledge/listing"
	"leanctx/knowledge/replica"
	"leanctx/knowledge/transfer"
	"leanctx/overview/project"
	"leanctx/tasks"
)

// stores opens each store when it is first needed, and keeps it open.
type stores struct {
	config       func() (*config.Config, error)
	warn         func(string)
	logger       *slog.Logger // of a server
	longLived    bool         // in a server
	warned       sync.Map     // warnings that were given
	lastProjects sync.Map     // the last project of a scope's path
	lastTouch    sync.Map     // when an agent was last active
	intents      sync.Map     // the task that a connection named

	background sync.WaitGroup // background work

	mu         sync.Mutex
	projects   map[string]*project.Registry // by the worktrees setting
	knowledge  map[string]*knowledge.Store  // by project hash
	guests     map[string]*knowledge.Store  // of other projects, opened for a search
	perProject map[string]*projectStores    // by project hash
	usages     map[string]*cost.Usage       // by project hash
	loaded     *models                      // nil until it is needed
	teams      map[string]*jetstream.Stream // by project hash

	teamWait time.Duration // how long a reading command waits for newer commits of a team
}

func newStores(load func() (*config.Config, error), warn func(string)) *stores {
	return &stores{
		config: sync.OnceValues(load), warn: warn, logger: slog.New(slog.DiscardHandler),
		projects:  make(map[string]*project.Registry),
		knowledge: make(map[string]*knowledge.Store), guests: make(map[string]*knowledge.Store),
		perProject: make(map[string]*projectStores), usages: make(map[string]*cost.Usage),
		teams: make(map[string]*jetstream.Stream), teamWait: teamWait,
	}
}

// serve sets the stores up for a server. It is called before any store is open.
func (s *stores) serve(logger *slog.Logger) {
	restoreGC()
	s.logger, s.longLived = logger, true
	s.warn = func(text string) { logger.Warn(text) }
}

// open opens the store of a call's project for its caller.
func (s *stores) open(ctx context.Context, sc op.Scope) (*knowledge.Store, error) {
	p, err := s.resolve(ctx, sc)
	if err != nil {
		return nil, err
	}
	return s.store(sc, p)
}

// look is open for operations that only read.
func (s *stores) look(ctx context.Context, sc op.Scope) (*knowledge.Store, error) {
	p, err := s.lookup(ctx, sc)
	if err != nil {
		return nil, err
	}
	return s.store(sc, p)
}

// store returns the store of a project, and opens it if it is not open.
func (s *stores) store(sc op.Scope, p project.Project) (*knowledge.Store, error) {
	c, err := s.config()
	if err != nil {
		return nil, err
	}
	m, err := s.membership(p.Hash)
	if err != nil {
		return nil, err
	}
	store, err := openOnce(s, s.knowledge, m.key(), func() (*knowledge.Store, error) {
		o, err := s.options(sc, p)
		if err != nil {
			return nil, err
		}
		m.share(s, o)
		return knowledge.Open(m.knowledgeDir(), o)
	})
	if err != nil {
		return nil, err
	}
	return store.As(actor(sc, s.self(sc, p.Hash, c.Agent))).On(s.intent(sc, p.Hash)), nil
}

// openOnce returns the open store of a project, or opens one by start. start runs without the
// lock, since it may need another open store. If two calls run start at once, the first
// store is kept and the other closed.
func openOnce[T interface{ Close() error }](s *stores, all map[string]T, hash string, start func() (T, error)) (T, error) {
	s.mu.Lock()
	x, ok := all[hash]
	s.mu.Unlock()
	if ok {
		return x, nil
	}
	made, err := start()
	if err != nil {
		return made, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if x, ok = all[hash]; ok {
		return x, made.Close()
	}
	all[hash] = made
	return made, nil
}

// guest opens the store of another project for a search. Nothing is adopted, compacted or
// archived there.
func (s *stores) guest(p project.Project) (*knowledge.Store, error) {
	m, err := s.membership(p.Hash)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	store := s.knowledge[m.key()]
	s.mu.Unlock()
	if store != nil {
		return store, nil
	}
	return openOnce(s, s.guests, m.key(), func() (*knowledge.Store, error) {
		w, err := s.projectStores(op.Scope{}, p)
		if err != nil {
			return nil, err
		}
		store, err := knowledge.Open(m.knowledgeDir(), &knowledge.Options{ProjectRoot: p.Root, ProjectHash: p.Hash, Logger: s.logger, Findings: findings{w}})
		if err != nil {
			return nil, fmt.Errorf("project %s: %w", p.Name, err)
		}
		return store, nil
	})
}

// options are the options of a store. They compile the user's own redaction rules; the
// built-in rules are compiled when something is stored.
func (s *stores) options(sc op.Scope, p project.Project) (*knowledge.Options, error) {
	c, err := s.config()
	if err != nil {
		return nil, err
	}
	settings, _, err := s.settings(sc)
	if err != nil {
		return nil, err
	}
	w, err := s.projectStores(sc, p)
	if err != nil {
		return nil, err
	}
	o := &knowledge.Options{
		ProjectRoot: p.Root, ProjectHash: p.Hash, LongLived: s.longLived, Logger: s.logger,
		Findings: findings{w}, OtherStores: otherStores{w}, Coworkers: coworkers{w},
		Detach: func() { detach(p.Root) },
		Adopt:  func(ctx context.Context, k *knowledge.Store) error { return transfer.Adopt(ctx, k, c.Legacy) },
		Erased: replica.Purge, Brings: func() int { return replica.Brings(p.Root) },
		Intent: method(&w.tasks, (*tasks.Store).Current), LastSession: s.lastSession(p),
	}
	dir, err := s.knowledgeDir(p.Hash)
	if err != nil {
		return nil, err
	}
	m := newVectored(dir, s.transformers(c))
	o.Semantic, o.Vectors = m, m
	o.Redactor, err = redactor(settings.Sensitive)
	return o, err
}

// lastSession returns when the last session of an agent began, from the token counts.
func (s *stores) lastSession(p project.Project) func(context.Context, knowledge.Actor) (time.Time, error) {
	return func(ctx context.Context, a knowledge.Actor) (time.Time, error) {
		usage, err := s.usage(p)
		if err != nil {
			return time.Time{}, err
		}
		return usage.LastSession(ctx, a.Agent, a.Session)
	}
}

// asserted lists the facts that an agent asserted, for a handoff.
func (s *stores) asserted(sc op.Scope, p project.Project) func(context.Context, string, time.Time) ([]string, error) {
	return func(ctx context.Context, agent string, since time.Time) ([]string, error) {
		store, err := s.store(sc, p)
		if err != nil {
			return nil, err
		}
		return listing.Asserted(ctx, store, agent, since)
	}
}

// actor is who asserts: the agent if there is one, or else the caller.
func actor(sc op.Scope, agent string) knowledge.Actor {
	if agent != "" {
		return knowledge.Actor{Agent: agent, Kind: knowledge.KindAgent, Session: sc.Caller.Session}
	}
	return knowledge.Actor{Agent: sc.Caller.Name, Kind: sc.Caller.Kind, Session: sc.Caller.Session}
}

// library are the stores of a search: those of all projects, unless the configuration
// limits the search to its own project.
func (s *stores) library(ctx context.Context, sc op.Scope) (*knowledge.Library, error) {
	own, err := s.look(ctx, sc)
	if err != nil {
		return nil, err
	}
	settings, _, err := s.settings(sc)
	if err != nil {
		return nil, err
	}
	l := &knowledge.Library{Own: own}
	if !settings.CrossProjectSearch {
		return l, nil
	}
	here, err := s.lookup(ctx, sc)
	if err != nil {
		return nil, err
	}
	projects, _, err := s.projectRegistry(sc)
	if err != nil {
		return nil, err
	}
	all, err := projects.List(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(p project.Project) bool { return !sc.Grant.Reaches(p.Hash) })
	l.Others = s.others(all, here.Hash)
	return l, nil
}

// others opens the stores of other projects one by one. It leaves out projects whose
// configuration forbids it, and those whose configuration cannot be read.
func (s *stores) others(all []project.Project, own string) iter.Seq2[*knowledge.Store, error] {
	return func(yield func(*knowledge.Store, error) bool) {
		for _, p := range all {
			if p.Hash == own {
				continue
			}
			open, err := s.searchable(p)
			if err == nil && !open {
				continue
			}
			var store *knowledge.Store
			if err == nil {
				store, err = s.guest(p)
			}
			if !yield(store, err) {
				return
			}
		}
	}
}

// searchable tells whether other projects may look into one.
func (s *stores) searchable(p project.Project) (bool, error) {
	c, err := s.config()
	if err != nil {
		return false, err
	}
	settings, err := c.For(p.Root)
	if err != nil {
		return false, fmt.Errorf("project %s: %w", p.Name, err)
	}
	return settings.CrossProjectSearch, nil
}

// close closes all open stores.
func (s *stores) close() error {
	s.background.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, open := range []map[string]*knowledge.Store{s.knowledge, s.guests} {
		for _, k := range open {
			for _, n := range k.Notices() { // notices that no answer has shown
				s.warn(n)
			}
			errs = append(errs, k.Close())
		}
		clear(open)
	}
	for _, w := range s.perProject {
		for _, n := range w.Notices() {
			s.warn(n)
		}
		errs = append(errs, w.Close())
	}
	clear(s.perProject)
	for _, u := range s.usages {
		errs = append(errs, u.Close())
	}
	clear(s.usages)
	for _, p := range s.projects {
		errs = append(errs, p.Close())
	}
	clear(s.projects)
	for _, t := range s.teams {
		errs = append(errs, t.Close())
	}
	clear(s.teams)
	if s.loaded != nil {
		s.loaded.close()
	}
	return errors.Join(errs...)
}

// settings returns the settings for the project of a call, and the directory of the call.
func (s *stores) settings(sc op.Scope) (config.Settings, string, error) {
	c, err := s.config()
	if err != nil {
		return config.Settings{}, "", err
	}
	dir := c.Project
	if sc.Project != "" {
		if dir, err = c.Path(sc.Project); err != nil {
			return config.Settings{}, "", err
		}
	}
	settings, err := c.For(dir)
	for _, w := range settings.Warnings {
		s.warnOnce(w)
	}
	if err != nil && sc.Grant.Restricted() {
		s.logger.Warn("the configuration of a project cannot be read", "error", err)
		err = &op.ForbiddenError{What: unreachable}
	}
	return settings, dir, err
}

// warnOnce gives each warning once, since a server reads the configuration many times.
func (s *stores) warnOnce(text string) {
	if _, repeated := s.warned.LoadOrStore(text, true); !repeated {
		s.warn(text)
	}
}

// projectRegistry returns the map of projects, with the worktrees setting of a call's
// project, and the directory of the call.
func (s *stores) projectRegistry(sc op.Scope) (*project.Registry, string, error) {
	settings, dir, err := s.settings(sc)
	if err != nil {
		return nil, "", err
	}
	c, err := s.config()
	if err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.projects[settings.Worktrees]; p != nil {
		return p, dir, nil
	}
	p, err := project.Open(c.DataDir, &project.Options{Worktrees: settings.Worktrees, Logger: s.logger})
	if err != nil {
		return nil, "", err
	}
	s.projects[settings.Worktrees] = p
	return p, dir, nil
}

// resolve finds the project of a call, and records what is new about it.
func (s *stores) resolve(ctx context.Context, sc op.Scope) (project.Project, error) {
	projects, dir, err := s.projectRegistry(sc)
	if err != nil {
		return project.Project{}, err
	}
	if sc.Grant.Restricted() { // it must not create a project that it may not reach
		p, err := projects.Lookup(ctx, dir)
		if err = reachable(sc, p, err); err != nil {
			return project.Project{}, err
		}
	}
	p, err := projects.Resolve(ctx, dir)
	return s.warnOf(sc, p, err)
}

// reachable refuses a project that the caller may not reach, with the same error whether it
// exists or not.
func reachable(sc op.Scope, p project.Project, err error) error {
	if sc.Grant.Restricted() && (err != nil || !sc.Grant.Reaches(p.Hash)) {
		return &op.ForbiddenError{What: unreachable}
	}
	return err
}

const unreachable = "this access does not reach that project"

// lookup is resolve for operations that only read. It records no unknown project, and works on
// a read-only disk. It does record news about a known project, if it can. A repository that
// moves is found by its first commit, which often comes after the first fact.
func (s *stores) lookup(ctx context.Context, sc op.Scope) (project.Project, error) {
	projects, dir, err := s.projectRegistry(sc)
	if err != nil {
		return project.Project{}, err
	}
	p, err := projects.Lookup(ctx, dir)
	if err = reachable(sc, p, err); err == nil && p.Known {
		if learned, err := projects.Resolve(ctx, dir); err == nil {
			p = learned
		}
	}
	return s.warnOf(sc, p, err)
}

func (s *stores) warnOf(sc op.Scope, p project.Project, err error) (project.Project, error) {
	if err == nil {
		s.lastProjects.Store(sc.Project, p)
	}
	for _, n := range p.Notices {
		s.warnOnce(n)
	}
	return p, err
}

// knowledgeDir is where the facts of a project are kept.
func (s *stores) knowledgeDir(hash string) (string, error) {
	m, err := s.membership(hash)
	if err != nil {
		return "", err
	}
	return m.knowledgeDir(), nil
}
