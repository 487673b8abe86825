package agents

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
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
	// Facts lists what (category/key) an agent asserted since an instant, and Files the
	// paths it has shared, the newest first, for a handoff; both may be nil.
	Facts func(ctx context.Context, agent string, since time.Time) ([]string, error)
	Files func(ctx context.Context, agent string) ([]string, error)
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
	diaries *diary.Dir
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
	ids, err := s.writers(ctx)
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

// now is by the clock of this process. It may go back, and differ between
// processes; see the package's documentation of why it is not the recorded time.
func (s *Store) now() time.Time { return s.opts.Now().UTC() }

// view runs f on the newest state of the project, without waiting for any
// writer. f must not change it nor keep it, and may be called twice.
func (s *Store) view(ctx context.Context, f func(*project, time.Time) error) error {
	return s.log.View(ctx, func(st *state, _ journal.Head) error {
		return f(st.project(s.opts.ProjectHash), s.now())
	})
}

// update commits what decide says, in a commit of its own. decide must not
// change the state. The first commit of a project also names it.
func (s *Store) update(ctx context.Context, decide func(*project, time.Time) ([]event, error)) error {
	return s.updateAll(ctx, func(st *state, now time.Time) ([]event, error) {
		return decide(st.project(s.opts.ProjectHash), now)
	})
}

func (s *Store) updateAll(ctx context.Context, decide func(*state, time.Time) ([]event, error)) error {
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

// Damage tells what is wrong with the registry's file or was since it was
// opened, and with the diaries of the project's agents, and gives the paths of
// what was set aside: damaged files and torn writes. A diary that cannot be read
// is among what is told; err is the registry's.
func (s *Store) Damage(ctx context.Context) (told, aside []string, err error) {
	ids, err := s.writers(ctx)
	if err != nil {
		return nil, nil, err
	}
	told, aside = notice.Damage(s.dir, s.log.Warnings(), s.log.Stats())
	for _, id := range ids {
		t, a := s.diaries.Damage(ctx, id)
		told, aside = append(told, t...), append(aside, a...)
	}
	return told, aside, nil
}

// Copies names what is written in the project's diaries, on its scratchpad and
// in its handoffs that holds something: diary:cursor-a3f8/12, message:17,
// handoff:h-3. It is for who erases something elsewhere; nothing is changed, and
// private messages are named like others, without a word of theirs.
func (s *Store) Copies(ctx context.Context, holds func(text string) bool) (refs []string, err error) {
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

// copies are those in the registry. A finding that somebody is still to read
// stands there twice.
func (p *project) copies(holds func(text string) bool) (refs []string) {
	named := map[uint64]bool{}
	name := func(m *message) {
		if !named[m.Number] && holds(m.Text) {
			named[m.Number] = true
			refs = append(refs, m.ref())
		}
	}
	for m := range p.messages.all() {
		name(m)
	}
	for _, m := range p.messages.findings {
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

// text checks and redacts what somebody wrote. found are the rules that took
// something out.
func (s *Store) text(argument, text string, most int) (clean string, found []string, err error) {
	if text, err = checkedText(argument, text, most); err != nil {
		return "", nil, err
	}
	clean, found = s.redact(text)
	return clean, found, nil
}

// plain refuses a name that holds a secret: it stands for something, so nothing
// can be taken out of it. The error does not repeat it.
func (s *Store) plain(argument, name string) error {
	if _, found := s.redact(name); len(found) > 0 {
		return refusal.Argument(argument, "%s holds what looks like a secret (%s): it would be shown to every agent", argument, strings.Join(found, ", "))
	}
	return nil
}
