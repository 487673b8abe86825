package tasks

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
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
	// Resolve turns an id, a unique prefix of one, or a type into the id or type
	// that a task is addressed to. note says why it may wait long. The error is a
	// [*NotFoundError] for an id that nobody has.
	Resolve(ctx context.Context, name string) (id, note string, err error)
	// Silent tells since when nothing was heard of an agent that counts as silent.
	Silent(ctx context.Context, id string) (since time.Time, silent bool, err error)
	// Settle completes the handoffs whose process was killed half-way: they move
	// tasks, by [Store.Reassign]. It is called before each operation.
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
	log     *journal.Log[*state, event]
	secrets *secret.Lazy
	poll    time.Duration // of Follow
	notices notice.Pending
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
	// The existing program keeps a tasks.json of its own in the same directory.
	log, err := journal.OpenOwn(dir, machine{}, &journal.Options{
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

// Damage tells what is wrong with the tasks' file or was since it was opened,
// and gives the paths of what was set aside: damaged files and torn writes.
func (s *Store) Damage(ctx context.Context) (told, aside []string, err error) {
	if err := s.view(ctx, func(*state, time.Time) error { return nil }); err != nil {
		return nil, nil, err
	}
	told, aside = notice.Damage(s.dir, s.log.Warnings(), s.log.Stats())
	return told, aside, nil
}

// Copies names the project's tasks that hold something, in their title,
// description, thread, history or artifacts: task:t-a3f8c1. It is for a caller that
// erases something from another store; nothing is changed.
func (s *Store) Copies(ctx context.Context, holds func(text string) bool) (refs []string, err error) {
	err = s.view(ctx, func(st *state, _ time.Time) error {
		refs = nil
		for _, r := range st.projects[s.opts.ProjectHash] {
			if r.holds(holds) {
				refs = append(refs, "task:"+r.ID)
			}
		}
		return nil
	})
	slices.Sort(refs)
	return refs, err
}

func (r *record) holds(holds func(text string) bool) bool {
	return holds(r.Title) || holds(r.Description) || holds(strings.Join(r.References, "\n")) ||
		slices.ContainsFunc(r.thread.Messages, func(m Message) bool { return holds(m.Text) }) ||
		slices.ContainsFunc(r.History, func(h Transition) bool { return holds(h.Why) }) ||
		slices.ContainsFunc(r.Artifacts, func(a Artifact) bool { return holds(a.Name) || holds(a.Text) })
}

// redact takes secrets out of a text and names the rules that found them.
func (s *Store) redact(text string) (string, []string) { return s.secrets.Mark(text) }

// view runs f on the newest state, without waiting for any writer. now is the
// instant that the answer is about.
func (s *Store) view(ctx context.Context, f func(st *state, now time.Time) error) error {
	return s.log.View(ctx, func(st *state, h journal.Head) error { return f(st, s.now(h)) })
}

// update commits what decide says, in a commit of its own.
func (s *Store) update(ctx context.Context, decide func(st *state, now time.Time) ([]event, error)) error {
	_, err := s.log.Update(ctx, decide)
	return err
}

// settle completes interrupted handoffs before the caller decides on tasks that
// they may move.
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
// unreadable. known holds answers for the next tasks; it may be nil.
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

// TransitionError says that a task cannot go from one state to another.
type TransitionError struct {
	Task     string // its id
	From, To State
}

func (e *TransitionError) Error() string {
	if e.From.Final() {
		return fmt.Sprintf("task %s is %s, which is final; for more work create a task with references=%s", e.Task, e.From, e.Task)
	}
	return fmt.Sprintf("task %s cannot go from %s to %s; from %s it goes to %s", e.Task, e.From, e.To, e.From, stateNames(e.From.Next()))
}
