package agents

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"leanctx/agents/diary"
	"leanctx/agents/live"
	"leanctx/internal/journal"
	"leanctx/internal/notice"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/internal/secret"
)

// schema is the newest one of the registry's file that this program reads.
const schema = 1

// Actor is who speaks to the store.
type Actor struct {
	Agent   string // the id that register gave, passed with the call; may be empty
	Client  string // the MCP client's or the shell's name; may be empty
	Session string // one connection; may be empty
}

// Reassigner moves tasks from agent to agent. It is met by a store of tasks.
type Reassigner interface {
	// Reassign gives every open task of one agent to another and returns the
	// tasks' ids. Done again it finds nothing more to do.
	Reassign(ctx context.Context, from, to, reason string) (ids []string, err error)
	// OpenTasks lists the ids of the open tasks that an agent is to do.
	OpenTasks(ctx context.Context, agent string) ([]string, error)
}

// Options of a store. The zero value works.
type Options struct {
	ProjectRoot string
	ProjectHash string           // what a handle sees is this project's alone
	LongLived   bool             // a server: it holds its agents' liveness locks, and compacts in the background
	Now         func() time.Time // default time.Now
	Redactor    *secret.Redactor // default: the built-in rules
	Logger      *slog.Logger
	Tasks       Reassigner // moved by a handoff; may be nil
	// Facts lists what (category/key) an agent asserted, and Files
	// the paths it has shared, the newest first, for a handoff; both may be nil.
	Facts, Files func(ctx context.Context, agent string) ([]string, error)
	// Free lists the ids of the tasks that an agent may claim; may be nil.
	Free func(ctx context.Context, agent string) ([]string, error)
	// Shared counts what was shared with an agent and it has not had yet; may be
	// nil.
	Shared func(ctx context.Context, agent string) (int, error)
	Fault  func(op, name string) error // for crash tests: called before each file operation
}

// Store is the agents of one project. It is safe for concurrent use, by any
// number of processes.
type Store struct {
	*core
	actor Actor
}

// core is what all handles on a store share.
type core struct {
	dir     string
	opts    Options
	log     *journal.Log[*state, event]
	secrets *secret.Lazy

	live    *live.Locks
	poll    time.Duration // of Follow
	notices notice.Pending
	diaries *diary.Shelf
}

// Open opens the store kept in dir; nothing is created before the first write.
func Open(dir string, o *Options) (*Store, error) {
	dir = filepath.Clean(dir)
	c := &core{dir: dir, poll: pollEvery, live: live.New(filepath.Join(dir, "live"))}
	if o != nil {
		c.opts = *o
	}
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	if c.opts.Logger == nil {
		c.opts.Logger = slog.New(slog.DiscardHandler)
	}
	// The existing program keeps a registry.json of its own in the same directory.
	log, err := journal.OpenOwn(dir, machine{}, &journal.Options{
		Name: "registry", Schema: schema, Now: c.opts.Now, LongLived: c.opts.LongLived,
		Logger: c.opts.Logger, Fault: c.opts.Fault,
	})
	if err != nil {
		return nil, err
	}
	c.log = log
	c.diaries = diary.New(filepath.Join(dir, "diaries"), &diary.Options{
		LongLived: c.opts.LongLived, Now: c.opts.Now, Logger: c.opts.Logger, Notices: &c.notices, Fault: c.opts.Fault,
	})
	c.secrets = secret.NewLazy(c.opts.Redactor)
	return &Store{core: c}, nil
}

// As is the same store for another caller.
func (s *Store) As(a Actor) *Store {
	a.Client, _ = s.redact(a.Client)
	return &Store{core: s.core, actor: a}
}

// Close lets go of the agents that this process kept alive.
func (s *Store) Close() error {
	return errors.Join(s.live.Close(), s.diaries.Close(), s.log.Close())
}

// Compact writes the registry and the diaries of the project's agents into
// their readable files, one each. A diary that cannot be written keeps no other
// from it.
func (s *Store) Compact(ctx context.Context) error {
	ids, _, err := s.writers(ctx)
	errs := []error{err, s.log.Compact(ctx)}
	for _, id := range ids {
		errs = append(errs, s.diaries.Compact(ctx, id))
	}
	return errors.Join(errs...)
}

// Notices returns, once each, what the user should know beside the answer: a
// torn write dropped, damage set aside.
func (s *Store) Notices() []string { return s.notices.Take(s.log.Warnings()) }

// redact takes secrets out of a text and names the rules that found them.
func (s *Store) redact(text string) (string, []string) { return s.secrets.Mark(text) }

// moment is when something is done, by the clock of the process that does it.
// It may go back, and differ between processes; see the package's
// documentation of why it is not the recorded time.
type moment struct{ now time.Time }

func (s *Store) moment() moment { return moment{s.opts.Now().UTC()} }

// view runs f on the newest state of the project, without waiting for any
// writer. f must not change it nor keep it, and may be called twice.
func (s *Store) view(ctx context.Context, f func(*project, moment) error) error {
	return s.log.View(ctx, func(st *state, _ journal.Head) error {
		return f(st.project(s.opts.ProjectHash), s.moment())
	})
}

// update commits what decide says, in a commit of its own. decide must not
// change the state. The first commit of a project also names it.
func (s *Store) update(ctx context.Context, decide func(*project, moment) ([]event, error)) error {
	return s.updateAll(ctx, func(st *state, m moment) ([]event, error) {
		return decide(st.project(s.opts.ProjectHash), m)
	})
}

func (s *Store) updateAll(ctx context.Context, decide func(*state, moment) ([]event, error)) error {
	_, err := s.log.Update(ctx, func(st *state, recorded time.Time) ([]event, error) {
		m := s.moment()
		events, err := decide(st, m)
		if err != nil || len(events) == 0 {
			return nil, err
		}
		if st.projects[s.opts.ProjectHash] == nil {
			events = append([]event{{Open: &opened{s.opts.ProjectRoot}}}, events...)
		}
		for i := range events {
			events[i].Project = s.opts.ProjectHash
			if recorded.Sub(m.now) > time.Second {
				events[i].Clock = m.now
			}
		}
		return events, nil
	})
	return err
}

// sender is the name under which somebody who registered no agent posts.
func (s *Store) sender(p *project) string {
	name := cmp.Or(prose.Line(prose.Clip(s.actor.Client, maxWord)), "anonymous")
	if p.agents[name] != nil {
		return "anonymous" // a client must not pass for an agent
	}
	return name
}

// The errors of calls that cannot be done as they were made.
type (
	ArgumentError = refusal.ArgumentError // which argument is wrong and why
	NotFoundError = refusal.NotFoundError // a named thing does not exist
)
