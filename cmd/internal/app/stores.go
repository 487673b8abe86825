package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
	"leanctx/embed"
	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/internal/journal/jetstream"
	"leanctx/internal/secret"
	"leanctx/knowledge"
	"leanctx/knowledge/listing"
	"leanctx/knowledge/replica"
	"leanctx/knowledge/transfer"
	"leanctx/overview/project"
	"leanctx/tasks"
)

// stores opens each store when it is first needed, and keeps it open.
type stores struct {
	config       *config.Config // nil until the flags of a command are known
	warn         func(string)
	logger       *slog.Logger // of a server
	longLived    bool         // in a server
	warned       sync.Map     // warnings that were given
	away         atomic.Bool  // an answer said that the team's server is away
	lastProjects sync.Map     // the last project of a scope's path
	intents      sync.Map     // the task that a connection named

	clientSessions sync.Map // of connections, by project

	background sync.WaitGroup // background work

	mu     sync.Mutex
	open   map[string]io.Closer // by type and project
	models *embed.Models        // nil until it is needed
	teams  map[string]*jetstream.Stream

	moving   atomic.Bool   // this process has closed the fence of a project
	gitWait  time.Duration // how long git may take to say which project this is; 0: as long as usual
	teamWait time.Duration // how long a reading command waits for newer commits of a team
	hurry    *hurry        // a hook's: what it has no time to read is left out; nil: everything is read
}

func newStores(c *config.Config, warn func(string)) *stores {
	return &stores{
		config: c, warn: warn, logger: slog.New(slog.DiscardHandler), teamWait: teamWait,
		open: make(map[string]io.Closer), teams: make(map[string]*jetstream.Stream),
	}
}

// serve sets the stores up for a server. It is called before any store is open.
func (s *stores) serve(logger *slog.Logger) {
	s.logger, s.longLived = logger, true
	s.background.Go(runtime.GC) // from here on garbage is collected, which a command puts off
	s.warn = func(text string) { logger.Warn(text) }
}

// projectPlace is a project, and where its stores are.
type projectPlace struct {
	project.Project
	at    *membership
	other bool // it is not one of the call's session, which has named it
}

// facts opens the facts of a call's project for its caller.
func (s *stores) facts(ctx context.Context, sc op.Scope) (*knowledge.Store, error) {
	return ofCall(s, projectStores.factStore)(ctx, sc)
}

// opened is an open store of a project, nil if there is none.
func opened[T io.Closer](s *stores, key string) (x T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok = s.open[fmt.Sprintf("%T %s", x, key)].(T)
	return x, ok
}

// openOnce returns the open store of a project, or opens one by start. start runs without the
// lock, since it may need another open store. If two calls run start at once, the first
// store is kept and the other closed, without the lock too.
func openOnce[T io.Closer](s *stores, key string, start func() (T, error)) (T, error) {
	if x, ok := opened[T](s, key); ok {
		return x, nil
	}
	made, err := start()
	if err != nil {
		return made, err
	}
	key = fmt.Sprintf("%T %s", made, key)
	s.mu.Lock()
	first, late := s.open[key].(T)
	if !late {
		s.open[key] = made
	}
	s.mu.Unlock()
	if late {
		return first, made.Close()
	}
	return made, nil
}

// guest opens the store of another project for a search. Nothing is adopted, compacted or
// archived there.
func (s *stores) guest(found project.Project) (*knowledge.Store, error) {
	m, err := s.membership(found.Hash)
	if err != nil {
		return nil, err
	}
	if store, ok := opened[*knowledge.Store](s, m.key()); ok {
		return store, nil
	}
	return openOnce(s, "guest "+m.key(), func() (*knowledge.Store, error) {
		w := s.in(op.Scope{Project: found.Root}, projectPlace{Project: found, at: m}) // its own rules for secrets
		store, err := knowledge.Open(m.knowledgeDir(), &knowledge.Options{ProjectRoot: found.Root, ProjectHash: found.Hash, Logger: s.logger, Findings: w})
		if err != nil {
			return nil, fmt.Errorf("project %s: %w", found.Name, err)
		}
		return store, nil
	})
}

// facts opens the facts of a project. The user's own rules for secrets are compiled with it;
// the built-in rules are compiled when something is stored.
func (w projectStores) facts() (*knowledge.Store, error) {
	return openOf(w, func(m *membership, r *secret.Redactor) (*knowledge.Store, error) {
		p := w.project
		o := &knowledge.Options{
			Redactor: r, ProjectRoot: p.Root, ProjectHash: m.project(), Team: m.team(w.stores), Fence: m.fence(w.stores), LongLived: w.longLived, Unasked: w.hurry != nil, Logger: w.logger,
			Findings: w, OtherStores: w, Coworkers: w, Encoders: w.encoders(),
			Detach: func() { detach(p.Root) },
			Adopt: func(ctx context.Context, k *knowledge.Store) error {
				return transfer.Adopt(ctx, k, w.config.Adoptable())
			},
			Erased: replica.Purge, RepositoryBrings: func() string { return repositoryBrings(p) }, RepositorySettings: w.repositorySettings,
			Intent: method(w.tasks, (*tasks.Store).Current), LastSession: w.lastSession, Person: func() string { return w.person(p.Root) },
			Home: w.home(), WorkTrees: func() []string { return w.workTrees(p.Root) },
		}
		if m.moved() {
			o.Adopt = nil // the former store has adopted what another program kept
			o.Erased = func(dir string, r *formats.Replica, erased []formats.Tombstone) error {
				return errors.Join(replica.Purge(dir, r, erased), w.eraseBefore(context.Background(), erased))
			}
		}
		return knowledge.Open(m.knowledgeDir(), o)
	})
}

// person is the name of the user of this machine in a project.
func (s *stores) person(root string) string {
	registry, err := s.registry(config.Share)
	if err != nil {
		return ""
	}
	return registry.Person(context.Background(), root)
}

// workTrees are the roots of the other work trees of a call's project.
func (w projectStores) workTrees(root string) []string {
	projects, _, err := w.projectRegistry(w.scope)
	if err != nil {
		return nil
	}
	return projects.WorkTrees(context.Background(), root)
}

// home is the user's home directory, empty if there is none.
func (s *stores) home() string {
	home, err := s.config.Home()
	if err != nil {
		return ""
	}
	return home
}

// encoders are those of this process.
func (s *stores) encoders() *embed.Models {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.models == nil {
		s.models = &embed.Models{Dir: s.config.ModelsDir, AutoDownload: s.config.AutoDownload, LongLived: s.longLived, Logger: s.logger, Child: worker()}
	}
	return s.models
}

// lastSession returns when the last session of an agent began, from the token counts.
func (w projectStores) lastSession(ctx context.Context, a knowledge.Actor) (time.Time, error) {
	usage, err := w.usage()
	if err != nil {
		return time.Time{}, err
	}
	return usage.LastSession(ctx, a.Agent, a.Session)
}

// asserted lists the facts that an agent asserted, for a handoff.
func (w projectStores) asserted(ctx context.Context, agent string, since time.Time) ([]string, error) {
	store, err := w.factStore()
	if err != nil {
		return nil, err
	}
	return listing.Asserted(ctx, store, agent, since)
}

// eraseBefore erases facts also from the stores that the project had before it joined.
func (w projectStores) eraseBefore(ctx context.Context, erased []formats.Tombstone) error {
	for m := w.project.at; m.moved(); {
		m = m.before()
		if _, err := os.Stat(m.knowledgeDir()); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		store, err := w.in(w.scope, projectPlace{Project: w.project.Project, at: m}).factStore()
		if err != nil {
			return err
		}
		if err := knowledge.EraseShared(ctx, store, erased); err != nil {
			return err
		}
	}
	return nil
}

// library are the stores of a search: those of all projects, unless the configuration
// limits the search to its own project.
func (s *stores) library(ctx context.Context, sc op.Scope) (*knowledge.Library, error) {
	w, err := s.of(ctx, sc)
	if err != nil {
		return nil, err
	}
	own, err := w.factStore()
	if err != nil {
		return nil, err
	}
	l := &knowledge.Library{Own: own}
	settings, _, err := s.settings(sc)
	if err != nil || !settings.CrossProjectSearch {
		return l, err
	}
	projects, _, err := s.projectRegistry(sc)
	if err != nil {
		return nil, err
	}
	all, err := projects.List(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(p project.Project) bool { return p.Hash == w.project.Hash || !sc.Grant.Reaches(p.Hash) })
	l.Others = s.others(all)
	return l, nil
}

// others opens the stores of other projects one by one. It leaves out projects whose
// configuration forbids it, and names those whose configuration cannot be read.
func (s *stores) others(all []project.Project) iter.Seq2[*knowledge.Store, error] {
	return func(yield func(*knowledge.Store, error) bool) {
		for _, p := range all {
			settings, err := s.config.For(p.Root, p.Root)
			if err == nil && !settings.CrossProjectSearch {
				continue
			}
			var store *knowledge.Store
			if err == nil {
				store, err = s.guest(p)
			} else {
				err = fmt.Errorf("project %s: %w", p.Name, err)
			}
			if !yield(store, err) {
				return
			}
		}
	}
}

// close closes all open stores: those of facts first, since their background work uses the
// others, and may open one until it has ended.
func (s *stores) close() error {
	s.background.Wait()
	var errs []error
	for x := s.next(); x != nil; x = s.next() {
		if n, ok := x.(interface{ Notices() []string }); ok {
			for _, text := range n.Notices() { // that no answer has shown
				s.warn(text)
			}
		}
		if n, ok := x.(interface{ Away() string }); ok && !s.longLived {
			if text := n.Away(); text != "" && !s.away.Swap(true) {
				s.warn(text)
			}
		}
		errs = append(errs, x.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.teams {
		errs = append(errs, t.Close())
	}
	clear(s.teams)
	if s.models != nil {
		errs = append(errs, s.models.Close())
	}
	return errors.Join(errs...)
}

// next takes the store that is to be closed next out of those that are open, nil after the
// last one.
func (s *stores) next() io.Closer {
	s.mu.Lock()
	defer s.mu.Unlock()
	var key string
	for _, k := range slices.Sorted(maps.Keys(s.open)) {
		if _, facts := s.open[k].(*knowledge.Store); facts || key == "" {
			key = k
		}
	}
	x := s.open[key]
	delete(s.open, key)
	return x
}

// dir is the directory of a call.
func (s *stores) dir(sc op.Scope) (string, error) {
	w, err := s.workplace(sc)
	if err == nil && w.dir == "" {
		err = w.missing()
	}
	return w.dir, err
}

// settings returns the settings for the project of a call, and the directory of the call.
func (s *stores) settings(sc op.Scope) (config.Settings, string, error) {
	seen, err := s.look(context.Background(), sc)
	return seen.settings, seen.dir, err
}

// seen is what a call sees of its project's directory. It looks once.
type seen struct {
	dir      string
	look     project.Look
	refusal  error // why the directory is of no project
	settings config.Settings
}

// look looks at the directory of a call, and reads the settings that count there. What is wrong with
// the directory is said when its project is looked for.
func (s *stores) look(ctx context.Context, sc op.Scope) (seen, error) {
	dir, err := s.dir(sc)
	if err != nil {
		return seen{}, err
	}
	projects, err := s.registry(config.Share)
	if err != nil {
		return seen{}, err
	}
	v, root := seen{dir: dir}, ""
	if v.look, v.refusal = projects.Look(dir); v.refusal == nil {
		root, err = projects.Root(ctx, v.look)
	}
	if err = errors.Join(v.refusal, err); err != nil {
		s.logger.Debug("a directory has no configuration", "directory", dir, "error", err)
	}
	v.settings, err = s.config.For(dir, root)
	for _, w := range v.settings.Warnings {
		s.warnOnce(w)
	}
	if err != nil && sc.Grant.Restricted() {
		s.logger.Warn("the configuration of a project cannot be read", "error", err)
		err = &op.ForbiddenError{What: unreachable}
	}
	return v, err
}

// repositorySettings says what the project's configuration file changes, and what of it does not count.
func (w projectStores) repositorySettings() []string {
	settings, _, err := w.settings(w.scope)
	if err != nil {
		return nil // every command says so
	}
	return slices.Concat(settings.Changes, settings.Ineffective())
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
	p, err := s.registry(settings.Worktrees)
	return p, dir, err
}

// registry opens the map of projects.
func (s *stores) registry(worktrees string) (*project.Registry, error) {
	return openOnce(s, worktrees, func() (*project.Registry, error) {
		home, _ := s.config.Home() // without one nothing is left out
		return project.Open(s.config.DataDir, &project.Options{Worktrees: worktrees, Home: home, Logger: s.logger, GitTimeout: s.gitWait})
	})
}

// project finds the project of a call and where its stores are. An operation that changes
// something first ends a `team leave` of the project that was killed.
func (s *stores) project(ctx context.Context, sc op.Scope) (projectPlace, error) {
	p, err := s.find(ctx, sc)
	if err == nil && p.at.Leaving && sc.Effect != op.Reads {
		if err = s.finishLeave(ctx, sc, p); err == nil {
			p.at, err = s.membership(p.Hash)
		}
	}
	return p, err
}

// find finds the project of a call and where its stores are, and records what is new about
// it. An operation that only reads records no unknown project, and works on a disk that cannot
// be written. It does record news about a known project, if it can: a repository that moves
// is found by its first commit, which often comes after the first fact.
func (s *stores) find(ctx context.Context, sc op.Scope) (projectPlace, error) {
	ctx = journal.Once(ctx)
	v, err := s.look(ctx, sc)
	if err != nil {
		return projectPlace{}, err
	}
	projects, err := s.registry(v.settings.Worktrees)
	if err != nil {
		return projectPlace{}, err
	}
	other := false
	var found project.Project
	if err = v.refusal; err == nil {
		found, err = projects.Find(ctx, v.look) // nothing is recorded that the call may not reach
	}
	if err = reachable(sc, found, err); err == nil {
		err = s.servable(ctx, sc, projects, found)
	}
	if err == nil {
		other, err = s.stay(ctx, sc, projects, found)
	}
	if err == nil {
		var w workplace
		if w, err = s.workplace(sc); err == nil {
			err = w.unnamed(s, found)
		}
	}
	if err == nil && (sc.Effect != op.Reads || found.Known) {
		news, e := projects.Resolve(ctx, v.look)
		if e == nil {
			found = news
		} else if sc.Effect != op.Reads {
			err = e
		}
	}
	for _, n := range found.Notices {
		s.warnOnce(n)
	}
	p := projectPlace{Project: found, other: other}
	if err == nil {
		p.at, err = s.membership(found.Hash)
	}
	if err == nil {
		s.lastProjects.Store(sc.Project, p)
	}
	return p, err
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
