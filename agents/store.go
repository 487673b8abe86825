package agents

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/agents/diary"
	"leanctx/agents/live"
	"leanctx/internal/journal"
	"leanctx/internal/notice"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/internal/secret"
)

// schema is the version of registry.json. Newer ones are refused.
const schema = 1

// Actor is the caller of the store.
type Actor struct {
	Agent   string // the id that register gave, passed with the call; may be empty
	Client  string // the MCP client's or the shell's name; may be empty
	Session string // one connection; may be empty
	Name    string // the agent that it is without registering: see [SessionName]; may be empty
}

// Reassigner moves tasks between agents. The store of tasks implements it.
type Reassigner interface {
	// Reassign gives open tasks of one agent to another and returns their ids: those that are
	// named, else all. A second call finds nothing more to do.
	Reassign(ctx context.Context, from, to, reason string, tasks ...string) (ids []string, err error)
	// OpenTasks lists the ids of an agent's open tasks.
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
	// For a handoff. Facts lists the facts (category/key) that an agent asserted since an
	// instant; Files lists the paths it has shared, the newest first. Both may be nil.
	Facts func(ctx context.Context, agent string, since time.Time) ([]string, error)
	Files func(ctx context.Context, agent string) ([]string, error)
	// Free lists the ids of the tasks that an agent may claim; may be nil.
	Free func(ctx context.Context, agent string) ([]string, error)
	// Shared counts the shares that an agent has not pulled yet; may be nil.
	Shared func(ctx context.Context, agent string) (int, error)
	// Person gives the name of the user of this machine, which no agent may have; may be nil.
	Person func() string
	Fault  func(op, name string) error // for crash tests: called before each file operation
	Team   journal.Team                // the machines that share the agents; nil: this one alone
	Fence  journal.Fence               // of the agents while they move to a team or back; may be nil
	// Machine is this machine's name in a team. An agent is resumed where it works: the
	// liveness locks of another machine cannot be seen.
	Machine string
}

// Store is the agents of one project, for one caller. It is safe for concurrent use, by any
// number of processes.
type Store struct {
	*core
	caller caller
}

// caller is who a handle speaks for.
type caller struct {
	Actor
	live *live.Locks // know the agents of a connection
}

// core is what all handles on a store share. Its methods do not depend on who calls.
type core struct {
	dir   string
	opts  Options
	log   *journal.Log[*state, event]
	texts textRules

	live    *live.Locks
	notices notice.Pending
	diaries *diary.Dir
}

// Open opens the store kept in dir; nothing is created before the first write.
func Open(dir string, o *Options) (*Store, error) {
	dir = filepath.Clean(dir)
	c := &core{dir: dir, live: live.New(filepath.Join(dir, "live"))}
	if o != nil {
		c.opts = *o
	}
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	c.opts.Logger = cmp.Or(c.opts.Logger, slog.New(slog.DiscardHandler))
	// The existing program keeps its registry.json in the same directory.
	log, err := journal.OpenOwn(dir, machine{}, &journal.Options{
		Name: "registry", Schema: schema, Now: c.opts.Now, LongLived: c.opts.LongLived,
		Logger: c.opts.Logger, Fault: c.opts.Fault, Remote: c.opts.Team.Log("agents"), Fence: c.opts.Fence,
	})
	if err != nil {
		return nil, err
	}
	c.log = log
	c.diaries = diary.New(filepath.Join(dir, "diaries"), &diary.Options{
		LongLived: c.opts.LongLived, Now: c.opts.Now, Logger: c.opts.Logger, Notices: &c.notices, Fault: c.opts.Fault, Team: c.opts.Team, Fence: c.opts.Fence,
	})
	c.texts = textRules{cmp.Or(c.opts.Redactor, secret.BuiltIn())}
	return (&Store{core: c}).As(Actor{}), nil
}

// As is the same store for another caller.
func (s *Store) As(a Actor) *Store {
	a.Client, _ = s.texts.Clean(a.Client)
	return &Store{s.core, caller{a, s.live}}
}

// Close releases the liveness locks of this process and closes the files.
func (s *core) Close() error {
	s.log.SettleOrLog()
	return errors.Join(s.live.Close(), s.diaries.Close(), s.log.Close())
}

// Compact writes the registry and each diary of the project's agents into its snapshot
// file. An error in one diary does not stop the others.
func (s *core) Compact(ctx context.Context) error {
	ids, err := s.writers(ctx)
	errs := []error{err, s.log.Compact(ctx)}
	for _, id := range ids {
		errs = append(errs, s.diaries.Compact(ctx, id))
	}
	return errors.Join(errs...)
}

// Notices returns warnings for the user, each once: torn writes that were dropped, damaged
// files that were set aside.
func (s *core) Notices() []string { return s.notices.Take(s.log.Warnings()) }

// Away says, once, that the team's server gave no answer, so that what is read may be old. Empty: it did.
func (s *core) Away() string { return s.notices.Away(s.log.Warnings()) }

// now is the clock of this process. It may go back and differ between processes. The
// package documentation says why it is not the recorded time.
func (s *core) now() time.Time { return s.opts.Now().UTC() }

// view runs f on the newest state of the project without waiting for a writer. f must not
// change or keep the state, and may be called twice.
func (s *core) view(ctx context.Context, f func(*project, time.Time) error) error {
	return s.log.View(ctx, func(st *state, _ journal.Head) error {
		return f(st.project(s.opts.ProjectHash), s.now())
	})
}

// Load reads the registry's files, unless they were read.
func (s *core) Load(ctx context.Context) error {
	return s.view(ctx, func(*project, time.Time) error { return nil })
}

// update commits the events that decide returns, in one commit. decide must not change the
// state. The first commit of a project also names it.
func (s *core) update(ctx context.Context, decide func(*project, time.Time) ([]event, error)) error {
	return s.updateAll(ctx, func(st *state, now time.Time) ([]event, error) {
		return decide(st.project(s.opts.ProjectHash), now)
	})
}

func (s *core) updateAll(ctx context.Context, decide func(*state, time.Time) ([]event, error)) error {
	_, err := s.log.Update(ctx, func(st *state, recorded time.Time) ([]event, error) {
		now := s.now()
		events, err := decide(st, now)
		if err != nil || len(events) == 0 {
			return nil, err
		}
		if st.projects[s.opts.ProjectHash] == nil {
			events = append([]event{{Open: &opened{s.opts.ProjectRoot}}}, events...)
		}
		for i := range events {
			events[i].Project = s.opts.ProjectHash
			if recorded.Sub(now) > time.Second {
				events[i].Clock = now
			}
		}
		return events, nil
	})
	return err
}

// sender is the name for a message of a caller that has not registered.
func (c caller) sender(p *project) string {
	name := cmp.Or(prose.Line(prose.Clip(c.Client, maxWord)), "anonymous")
	if p.agents[name] != nil {
		return "anonymous" // a client must not pass for an agent
	}
	return name
}

// Damage reports what is or was wrong, since it was opened, with the registry's file and
// the diaries of the project's agents. aside lists the paths of damaged files and torn
// writes that were set aside. A diary that cannot be read is in found; err is about the
// registry.
func (s *core) Damage(ctx context.Context) (found, aside []string, err error) {
	ids, err := s.writers(ctx)
	if err != nil {
		return nil, nil, err
	}
	found, aside = notice.Damage(s.dir, s.log.Warnings(), s.log.Stats())
	for _, id := range ids {
		f, a := s.diaries.Damage(ctx, id)
		found, aside = append(found, f...), append(aside, a...)
	}
	return found, aside, nil
}

// Copies lists the diary entries, messages, agents and handoffs of the project whose text
// matches: diary:cursor-a3f8/12, message:17, handoff:h-3. It serves callers that erase the
// text elsewhere; it changes nothing. Private messages are listed without their text.
func (s *core) Copies(ctx context.Context, holds func(text string) bool) (refs []string, err error) {
	ids, err := s.writers(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		list, err := s.diaries.Entries(ctx, id)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if holds(e.Text) || holds(e.Context) {
				refs = append(refs, e.Ref(id))
			}
		}
	}
	var more []string
	err = s.view(ctx, func(p *project, _ time.Time) error {
		more = p.copies(holds)
		return nil
	})
	return append(refs, more...), err
}

// copies lists the matches in the registry. A finding that somebody has not read yet is in
// two lists; it is named once.
func (p *project) copies(holds func(text string) bool) (refs []string) {
	named := map[uint64]bool{}
	name := func(m *message) {
		if !named[m.Number] && holds(m.Text) {
			named[m.Number] = true
			refs = append(refs, m.ref())
		}
	}
	for _, m := range slices.Concat(p.messages.all(), p.messages.findings) {
		name(m)
	}
	for _, h := range p.handoffs {
		if holds(h.Summary) {
			refs = append(refs, "handoff:"+h.ID)
		}
	}
	for _, a := range p.agents {
		if holds(a.Message) || holds(a.Role) {
			refs = append(refs, "agent:"+a.ID)
		}
	}
	return refs
}

const (
	maxText = 64 << 10 // bytes of a message, a diary entry, a handoff's summary
	maxRole = 200      // runes
	maxWord = 60       // runes of a name that an error repeats
)

// textRules check a text by size and form, and for secrets.
type textRules struct{ *secret.Redactor }

// clean checks and redacts a text of the caller. found are the rules that matched.
func (x textRules) clean(argument, text string, most int) (clean string, found []string, err error) {
	if text, err = checkedText(argument, text, most); err != nil {
		return "", nil, err
	}
	clean, found = x.Clean(text)
	return clean, found, nil
}

// withoutSecret refuses a name that holds a secret. A name must stay whole, so nothing can be
// removed from it. The error does not repeat the name.
func (x textRules) withoutSecret(argument, name string) error {
	if _, found := x.Clean(name); len(found) > 0 {
		return refusal.Argument(argument, "%s holds what looks like a secret (%s): it would be shown to every agent", argument, strings.Join(found, ", "))
	}
	return nil
}
