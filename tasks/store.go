package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/notice"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/internal/secret"
)

const schema = 1

// Actor is who speaks to the store.
type Actor struct {
	Agent   string // the id that register gave; may be empty
	Client  string // the client's or shell's name
	Session string // one connection
}

// name is who did something, for the history.
func (a Actor) name() string { return cmp.Or(a.Agent, a.Client, "user") }

// Directory knows the agents of the project.
type Directory interface {
	// Resolve turns an id, a unique prefix of one, or a type into the id or
	// type that a task is addressed to. Nobody of that name is an error.
	Resolve(ctx context.Context, name string) (id string, err error)
	// Silent tells since when nothing was heard of an agent that counts as
	// silent.
	Silent(ctx context.Context, id string) (since time.Time, silent bool, err error)
	// Settle has the handoffs completed whose process was killed half-way:
	// they move tasks, by [Store.Reassign]. It is asked before each operation.
	Settle(ctx context.Context) error
}

// Options of a store. The zero value works.
type Options struct {
	ProjectRoot string           // named in the log; the file knows projects by their hash
	ProjectHash string           // the project whose tasks a handle sees
	Version     string           // of this program, for the agent card
	LongLived   bool             // a server: snapshots are written in the background
	Now         func() time.Time // default time.Now
	Redactor    *secret.Redactor // default: the built-in rules
	Logger      *slog.Logger
	Agents      Directory                   // nil: an assignee is taken as given, and nobody counts as silent
	Fault       func(op, name string) error // for crash tests: called before each file operation

	partsFrom int64 // tests only: the smallest file that is read in parts, in bytes; else partialFrom
}

// Store is the tasks of one project. It is safe for concurrent use, by any
// number of processes.
type Store struct {
	*core
	actor Actor
}

// core is what all handles on a store share.
type core struct {
	dir     string
	opts    Options
	log     *journal.Log[*board, event]
	secrets *secret.Lazy
	machine machine
	poll    time.Duration // of Follow

	notices notice.Board
}

// Open opens the store kept in dir as tasks.json, which holds the tasks of
// every project; nothing is created before the first write.
func Open(dir string, o *Options) (*Store, error) {
	c := &core{dir: dir, poll: pollEvery}
	if o != nil {
		c.opts = *o
	}
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	if c.opts.Logger == nil {
		c.opts.Logger = slog.New(slog.DiscardHandler)
	}
	if c.opts.ProjectRoot != "" {
		c.opts.Logger = c.opts.Logger.With("project", c.opts.ProjectRoot)
	}
	c.machine = machine{from: cmp.Or(c.opts.partsFrom, partialFrom), whole: new(atomic.Bool)}
	c.machine.whole.Store(c.opts.LongLived) // it will be asked for everything sooner or later
	// The existing program keeps a tasks.json of its own in the same directory.
	log, err := journal.OpenOwn(dir, c.machine, &journal.Options{
		Name: "tasks", Schema: schema, Now: c.opts.Now, LongLived: c.opts.LongLived,
		Logger: c.opts.Logger, Fault: c.opts.Fault,
	})
	if err != nil {
		return nil, err
	}
	c.log = log
	c.secrets = secret.NewLazy(c.opts.Redactor)
	return &Store{core: c}, nil
}

// As is the same store for another caller. A name is stored with what its
// bearer does, so secrets are taken out of it too.
func (s *Store) As(a Actor) *Store {
	a.Agent, _ = s.redact(a.Agent)
	a.Client, _ = s.redact(a.Client)
	a.Session, _ = s.redact(a.Session)
	return &Store{core: s.core, actor: a}
}

// Close ends background work.
func (s *Store) Close() error { return s.log.Close() }

// Compact writes all tasks into the one readable file.
func (s *Store) Compact(ctx context.Context) error { return s.log.Compact(ctx) }

// Notices returns, once each, what the user should know beside the answer: a
// torn write dropped, damage set aside.
func (s *Store) Notices() []string { return s.notices.Take(s.log.Warnings()) }

// redact takes secrets out of a text and names the rules that found them.
func (s *Store) redact(text string) (string, []string) { return s.secrets.Mark(text) }

// view runs f on the newest board, without waiting for any writer. now is the
// instant that the answer is about.
func (s *Store) view(ctx context.Context, f func(b *board, now time.Time) error) error {
	return s.viewAt(ctx, func(b *board, h journal.Head) error { return f(b, s.now(h)) })
}

func (s *Store) viewAt(ctx context.Context, f func(*board, journal.Head) error) error {
	return s.wholly(ctx, func() error { return s.log.View(ctx, f) })
}

// update commits what decide says, in a commit of its own.
func (s *Store) update(ctx context.Context, decide func(b *board, now time.Time) ([]event, error)) error {
	return s.wholly(ctx, func() error {
		_, err := s.log.Update(ctx, decide)
		return err
	})
}

// wholly does what do does, and if old tasks could not be read for it, again on
// a file that was read whole, checksum, repair and all.
func (s *Store) wholly(ctx context.Context, do func() error) error {
	err := do()
	if _, old := errors.AsType[*oldError](err); !old {
		return err
	}
	s.machine.whole.Store(true)
	if err := s.log.Forget(ctx); err != nil {
		return err
	}
	return do()
}

// settle has interrupted handoffs completed before the caller decides on
// tasks that may be another agent's by them.
func (s *Store) settle(ctx context.Context) error {
	if s.opts.Agents == nil {
		return nil
	}
	return s.opts.Agents.Settle(ctx)
}

// settled is settle for those who only look: a directory that cannot answer
// makes no task unreadable.
func (s *Store) settled(ctx context.Context) {
	if err := s.settle(ctx); err != nil {
		s.opts.Logger.Warn("tasks may be shown with an agent that handed them off", "error", err)
	}
}

// now is the instant that an answer is about: never before what was last
// recorded, so that a clock set back makes no age negative.
func (s *Store) now(h journal.Head) time.Time {
	if t := s.opts.Now().UTC(); t.After(h.At) {
		return t
	}
	return h.At
}

// silent tells since when the assignee of an open task has been silent; nil if
// it has not, or nobody knows. A directory that cannot answer makes no task
// unreadable.
func (s *Store) silent(ctx context.Context, t Task, known map[string]*time.Time) *time.Time {
	if s.opts.Agents == nil || t.Assignee == "" || t.State.Final() {
		return nil
	}
	if since, ok := known[t.Assignee]; ok {
		return since
	}
	var out *time.Time
	since, silent, err := s.opts.Agents.Silent(ctx, t.Assignee)
	if err != nil {
		s.opts.Logger.Debug("nobody knows whether an assignee is silent", "agent", t.Assignee, "error", err)
	} else if silent {
		out = new(since.UTC())
	}
	if known != nil {
		known[t.Assignee] = out
	}
	return out
}

// corrupt is the error of a task whose text cannot be read although its
// checksum is good.
func corrupt(id string, err error) error {
	return fmt.Errorf("task %s: %w: it is not understood, a newer program may have written it: %w", id, journal.ErrCorrupt, err)
}

// The errors of calls that cannot be done as they were made.
type (
	ArgumentError = refusal.ArgumentError // which argument is wrong and why
	NotFoundError = refusal.NotFoundError // a named thing does not exist
)

// TakenError says that a task is another agent's.
type TakenError struct {
	Task, By string     // By is its assignee: an id or a type
	Creator  string     // who else says how it stands; empty where only the assignee could do it
	Silent   *time.Time // since when By is silent, if it is
}

func (e *TakenError) Error() string {
	text := fmt.Sprintf("task %s is %s's", e.Task, prose.Brief(e.By))
	switch {
	case e.Silent != nil:
		return text + ", who is silent since " + stamp(*e.Silent) + "; claim it to take it over"
	case e.Creator != "" && e.Creator != e.By:
		text += ", given by " + prose.Brief(e.Creator) + ": only those two say how it stands"
	}
	return text + "; send it a message, or have it handed over"
}
