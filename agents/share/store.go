package share

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"leanctx/internal/args"
	"leanctx/internal/journal"
	"leanctx/internal/notice"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/internal/secret"
)

// schema is the version of shares.json.
const schema = 1

// Directory knows the project's agents and the caller. The store of agents implements it.
type Directory interface {
	// Self is the caller's id, empty if it has none.
	Self() string
	// Resolve turns a name into an agent's id or a type. note says why nobody may pull the
	// share soon.
	Resolve(ctx context.Context, name string) (id, note string, err error)
}

// Options of a store. Only ProjectRoot is required to share files.
type Options struct {
	ProjectRoot string
	LongLived   bool             // a server: snapshots are written in the background
	Now         func() time.Time // default time.Now
	Redactor    *secret.Redactor // default: the built-in rules
	Ignored     Ignored          // nil: none is
	Logger      *slog.Logger
	Fault       func(op, name string) error // for crash tests: called before each file operation
	Team        journal.Team                // the machines that share the names of the files; nil: this one alone
	Fence       journal.Fence               // of the shares while they move to a team or back; may be nil
	Contents    Contents                    // where the machines of a team keep the files' contents; nil without a team
}

// Ignored finds the files, by their names relative to root, that git's rules ignore.
type Ignored func(ctx context.Context, root string, names []string) ([]string, error)

// Contents keeps texts by their names for all machines of a team.
type Contents interface {
	Put(ctx context.Context, name string, text []byte) error
	Fetch(ctx context.Context, name string) ([]byte, error)
}

// Store is the shares of one project, for one caller. It is safe for concurrent use, by any
// number of processes.
type Store struct {
	*core
	agents Directory
}

// core is what all handles on a store share. Its methods do not depend on who calls.
type core struct {
	dir     string
	opts    Options
	log     *journal.Log[*state, event]
	secrets *secret.Redactor

	notices notice.Pending
}

// Open opens the store kept in dir. Nothing is created before the first push. There is no
// caller until As sets one.
func Open(dir string, o *Options) (*Store, error) {
	c := &core{dir: filepath.Clean(dir)}
	if o != nil {
		c.opts = *o
	}
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	c.opts.Logger = cmp.Or(c.opts.Logger, slog.New(slog.DiscardHandler))
	if c.opts.Fault == nil {
		c.opts.Fault = func(string, string) error { return nil }
	}
	log, err := journal.Open(dir, machine{}, &journal.Options{
		Name: "shares", Schema: schema, Now: c.opts.Now, LongLived: c.opts.LongLived,
		Logger: c.opts.Logger, Fault: c.opts.Fault, Remote: c.opts.Team.Log("shares"), Fence: c.opts.Fence,
	})
	if err != nil {
		return nil, err
	}
	c.log = log
	c.secrets = cmp.Or(c.opts.Redactor, secret.BuiltIn())
	return &Store{core: c}, nil
}

// As is the same store for the caller that d reports.
func (s *Store) As(d Directory) *Store { return &Store{core: s.core, agents: d} }

// Close waits for running calls and closes the files.
func (s *core) Close() error { return s.log.Close() }

// Compact writes the store into its snapshot file.
func (s *core) Compact(ctx context.Context) error { return s.log.Compact(ctx) }

// Notices returns warnings for the user, each once: torn writes that were dropped, damaged
// files that were set aside.
func (s *core) Notices() []string { return s.notices.Take(s.log.Warnings()) }

// Away says, once, that the team's server gave no answer, so that what is read may be old. Empty: it did.
func (s *core) Away() string { return s.notices.Away(s.log.Warnings()) }

// self is the caller's id; it must be registered.
func (s *Store) self(ctx context.Context) (string, error) {
	id := ""
	if s.agents != nil {
		id = s.agents.Self()
	}
	if id == "" {
		return "", refusal.Missing("agent", "the id that register gave; register first")
	}
	if found, _, err := s.agents.Resolve(ctx, id); err != nil || found != id || args.AgentType(id) == "" {
		return "", refusal.NotFound("No agent found: %s (register gives an id)", prose.Line(prose.Clip(id, 80)))
	}
	return id, nil
}

// NoArgs is the argument of an operation without arguments.
type NoArgs struct{}

// Damage reports what is or was wrong with the shares' file since it was opened. aside
// lists the paths of damaged files and torn writes that were set aside.
func (s *core) Damage(ctx context.Context) (found, aside []string, err error) {
	if err := s.log.View(ctx, func(*state, journal.Head) error { return nil }); err != nil {
		return nil, nil, err
	}
	found, aside = notice.Damage(s.dir, s.log.Warnings(), s.log.Stats())
	return found, aside, nil
}

// Copies lists the shares whose message or stored file matches: share:<id> and
// share:<id>/<path>. It serves callers that erase the text elsewhere; it changes nothing.
// It skips files whose contents cannot be read.
func (s *core) Copies(ctx context.Context, holds func(text string) bool) (refs []string, err error) {
	var list []*shared
	err = s.log.View(ctx, func(st *state, _ journal.Head) error {
		list = st.sorted()
		return nil
	})
	for _, x := range list {
		if holds(x.Message) {
			refs = append(refs, "share:"+x.ID)
		}
		for _, f := range x.Files {
			if text, ok := s.contents(ctx, x.ID, f); ok && holds(text) {
				refs = append(refs, "share:"+x.ID+"/"+f.Path)
			}
		}
		if ctx.Err() != nil {
			return refs, context.Cause(ctx)
		}
	}
	return refs, err
}
