package tasks

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/notice"
	"leanctx/internal/prose"
	"leanctx/internal/secret"
)

const schema = 1

// Actor is the caller of the store.
type Actor struct {
	Agent   string // the id that register gave; may be empty
	Client  string // the client's or shell's name
	Session string // one connection
}

// name is the caller's name in the history.
func (a Actor) name() string { return cmp.Or(a.Agent, a.Client, "user") }

// Directory knows the agents of the project.
type Directory interface {
	// Resolve turns an id, a unique prefix of one, or a type into the id or type that a
	// task is addressed to. note says why nobody may take the task soon. The error is a
	// [*refusal.NotFoundError] for an id that nobody has.
	Resolve(ctx context.Context, name string) (id, note string, err error)
	// Silent reports whether an agent counts as silent, and its last activity.
	Silent(ctx context.Context, id string) (since time.Time, silent bool, err error)
}

// Options of a store. The zero value works.
type Options struct {
	ProjectRoot string           // for the log, and so that no link leads a file out of it
	ProjectHash string           // the project whose tasks a handle sees
	Version     string           // of this program, for the agent card
	LongLived   bool             // a server: snapshots are written in the background
	Now         func() time.Time // default time.Now
	Redactor    *secret.Redactor // default: the built-in rules
	Logger      *slog.Logger
	Agents      Directory                   // nil: assignees are not checked and nobody counts as silent
	Fault       func(op, name string) error // for crash tests: called before each file operation
	Team        journal.Team                // the machines that share the tasks; nil: this one alone
	Fence       journal.Fence               // of the tasks while they move to a team or back; may be nil
}

// Store is the tasks of one project, for one caller. It is safe for concurrent use, by any
// number of processes.
type Store struct {
	*core
	actor Actor
}

// core is what all handles on a store share. Its methods do not depend on who calls.
type core struct {
	dir     string
	opts    Options
	log     *journal.Log[*state, event]
	secrets *secret.Redactor
	notices notice.Pending
}

// Open opens the store kept in dir as tasks.json, which holds the tasks of all projects.
// Nothing is created before the first write.
func Open(dir string, o *Options) (*Store, error) {
	c := &core{dir: dir}
	if o != nil {
		c.opts = *o
	}
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	c.opts.Logger = cmp.Or(c.opts.Logger, slog.New(slog.DiscardHandler))
	if c.opts.ProjectRoot != "" {
		c.opts.Logger = c.opts.Logger.With("project", c.opts.ProjectRoot)
	}
	// The existing program keeps its tasks.json in the same directory.
	log, err := journal.OpenOwn(dir, machine{}, &journal.Options{
		Name: "tasks", Schema: schema, Now: c.opts.Now, LongLived: c.opts.LongLived,
		Logger: c.opts.Logger, Fault: c.opts.Fault, Remote: c.opts.Team.Log("tasks"), Fence: c.opts.Fence,
	})
	if err != nil {
		return nil, err
	}
	c.log = log
	c.secrets = cmp.Or(c.opts.Redactor, secret.BuiltIn())
	return &Store{core: c}, nil
}

// As is the same store for another caller. The client's name is stored in the history, so
// secrets are removed from it too.
func (s *Store) As(a Actor) *Store {
	a.Agent, _ = s.redact(a.Agent)
	a.Client, _ = s.redact(a.Client)
	a.Session, _ = s.redact(a.Session)
	return &Store{core: s.core, actor: a}
}

// Close ends background work.
func (s *core) Close() error {
	s.log.SettleOrLog()
	return s.log.Close()
}

// Compact writes all tasks into the snapshot file.
func (s *core) Compact(ctx context.Context) error { return s.log.Compact(ctx) }

// Notices returns warnings for the user, each once: torn writes that were dropped, damaged
// files that were set aside.
func (s *core) Notices() []string { return s.notices.Take(s.log.Warnings()) }

// Away says, once, that the team's server gave no answer, so that what is read may be old. Empty: it did.
func (s *core) Away() string { return s.notices.Away(s.log.Warnings()) }

// Damage reports what is or was wrong with the tasks' file since it was opened. aside
// lists the paths of damaged files and torn writes that were set aside.
func (s *core) Damage(ctx context.Context) (found, aside []string, err error) {
	if err := s.Load(ctx); err != nil {
		return nil, nil, err
	}
	found, aside = notice.Damage(s.dir, s.log.Warnings(), s.log.Stats())
	return found, aside, nil
}

// Copies lists the project's tasks whose title, description, thread, history or artifacts
// match: task:t-a3f8c1. It serves callers that erase the text in another store; it changes
// nothing.
func (s *core) Copies(ctx context.Context, holds func(text string) bool) (refs []string, err error) {
	err = s.view(ctx, func(p project, _ time.Time) error {
		refs = nil
		for _, r := range p {
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

// redact removes secrets from a text and lists the rules that matched.
func (s *core) redact(text string) (string, []string) { return s.secrets.Clean(text) }

// view runs f on the newest tasks of the project without waiting for a writer. now is the time
// that the answer is about.
func (s *core) view(ctx context.Context, f func(p project, now time.Time) error) error {
	return s.log.View(ctx, func(st *state, h journal.Head) error { return f(st.projects[s.opts.ProjectHash], s.now(h)) })
}

// Load reads the files, unless they were read.
func (s *core) Load(ctx context.Context) error {
	return s.view(ctx, func(project, time.Time) error { return nil })
}

// update commits the events that decide returns, in one commit.
func (s *core) update(ctx context.Context, decide func(p project, now time.Time) ([]event, error)) error {
	_, err := s.log.Update(ctx, func(st *state, now time.Time) ([]event, error) {
		p := st.projects[s.opts.ProjectHash]
		events, err := decide(p, now)
		if err == nil {
			err = p.mayGrow(events, now)
		}
		for _, e := range events {
			if e.Change != nil {
				e.Change.Project = s.opts.ProjectHash
			}
		}
		return events, err
	})
	return err
}

// now is the time that an answer is about. It is never before the last recorded time, so
// no age is negative after a clock was set back.
func (s *core) now(h journal.Head) time.Time {
	if t := s.opts.Now().UTC(); t.After(h.At) {
		return t
	}
	return h.At
}

// silent tells since when the assignees of open tasks are silent; nil: they are not, or the
// directory cannot tell.
func (s *core) silent(ctx context.Context, list ...Task) map[string]*time.Time {
	silent := map[string]*time.Time{}
	for _, t := range list {
		if _, known := silent[t.Assignee]; known || s.opts.Agents == nil || t.Assignee == "" || t.State.Final() {
			continue
		}
		silent[t.Assignee] = nil
		since, is, err := s.opts.Agents.Silent(ctx, t.Assignee)
		if err != nil {
			s.opts.Logger.Debug("could not check whether an assignee is silent", "agent", t.Assignee, "error", err)
		} else if is {
			silent[t.Assignee] = new(since.UTC())
		}
	}
	return silent
}

// silentAssignees is silent for all open tasks that somebody has claimed.
func (s *core) silentAssignees(ctx context.Context) (map[string]*time.Time, error) {
	var claimed []Task
	err := s.view(ctx, func(p project, _ time.Time) error {
		claimed = nil
		for _, x := range p {
			if !x.State.Final() && !x.unclaimed() {
				claimed = append(claimed, x.Task)
			}
		}
		return nil
	})
	return s.silent(ctx, claimed...), err
}

// TakenError means that a task belongs to another agent.
type TakenError struct {
	Task, By string     // By is its assignee: an id or a type
	Creator  string     // who else may set its state; empty if only the assignee could
	Silent   *time.Time // the last activity of By, if it is silent
}

func (e *TakenError) Error() string {
	text := fmt.Sprintf("task %s is %s's", e.Task, prose.Brief(e.By))
	switch {
	case e.Silent != nil:
		return text + ", who is silent since " + stamp(*e.Silent) + "; claim it to take it over"
	case e.Creator != "" && e.Creator != e.By:
		text += ", given by " + prose.Brief(e.Creator) + ": only they may change its state"
	}
	return text + "; send a message, or have the task handed over"
}

// TransitionError means that a task cannot go from one state to another.
type TransitionError struct {
	Task     string // its id
	From, To State
}

func (e *TransitionError) Error() string { return e.TextIn(prose.MCP) }

// TextIn is the problem and what to do, in the caller's syntax.
func (e *TransitionError) TextIn(call prose.Syntax) string {
	if e.From.Final() {
		return fmt.Sprintf("task %s is %s, which is final; for more work create a task with %s", e.Task, e.From, call("", "references", e.Task))
	}
	return fmt.Sprintf("task %s cannot go from %s to %s; from %s it goes to %s", e.Task, e.From, e.To, e.From, stateNames(e.From.Next()))
}

// CopyTo adds the project's tasks to another store, as they are, and returns how many were
// not there. The instant is not needed: a task's id is unique for ever.
func (s *core) CopyTo(ctx context.Context, to *Store, _ time.Time) (n int, err error) {
	var list []*record
	_, err = s.log.Update(ctx, func(st *state, _ time.Time) ([]event, error) { // a write that has begun ends first
		list = slices.SortedFunc(maps.Values(st.projects[s.opts.ProjectHash]), byAge)
		return nil, nil
	})
	if err != nil || len(list) == 0 {
		return 0, err
	}
	_, err = to.log.Update(ctx, func(st *state, _ time.Time) (events []event, err error) {
		for _, r := range list {
			if st.projects[to.opts.ProjectHash][r.ID] == nil {
				c := *r
				c.Project = to.opts.ProjectHash
				events = append(events, event{Create: &c})
			}
		}
		n = len(events)
		return events, nil
	})
	return n, err
}
