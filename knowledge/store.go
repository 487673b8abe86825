package knowledge

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"leanctx/embed/vectors"
	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/internal/notice"
	"leanctx/internal/refusal"
	"leanctx/internal/secret"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/sourcefile"
	"leanctx/knowledge/state"
	"leanctx/knowledge/usage"
)

// Actor is who speaks to the store.
type Actor struct {
	Agent   string // agent id, or the client's name; may be empty
	Kind    string // KindAgent unless it is empty; else KindUser, KindTool
	Session string // what the existing program calls source_session
	Remote  bool   // it speaks for a user of another machine, whose name is not known
	Dir     string // where it works, so that it may name files from there; empty: nowhere in particular
}

func (a Actor) kind() string { return cmp.Or(a.Kind, KindAgent) }

// Authority is the kind of source in whose name the actor speaks. A program that runs a command has
// an agent's: it is [ToolCLI], unless a call names a tool as its source.
func (a Actor) Authority() string {
	if a.Kind == KindTool {
		return KindAgent
	}
	return a.kind()
}

// Name is the name that what the actor asserts is stored with; empty for a user.
func (a Actor) Name() string {
	if a.Kind == KindTool {
		return cmp.Or(a.Agent, ToolCLI)
	}
	return a.Agent
}

// Options of a store. The zero value works.
type Options struct {
	ProjectRoot string
	Home        string          // the user's home directory, which a source may call ~; may be empty
	WorkTrees   func() []string // lists the roots of the project's other work trees; may be nil
	ProjectHash string
	LongLived   bool             // a server: snapshots and archiving happen in the background
	Unasked     bool             // a hook: nobody asked it, and it has little time. Of a value that the index lacks it reads the beginning
	Now         func() time.Time // default time.Now
	Redactor    *secret.Redactor // default: the built-in rules
	Findings    Findings         // what diaries, scratchpad and tasks hold; may be nil
	Coworkers   Coworkers        // who is at work and on what; may be nil
	Person      func() string    // the name of the user of this machine; may be nil. It is asked for when it is needed
	OtherStores OtherStores      // what is kept of the project beside its facts; may be nil
	// Intent is the title of the task that an agent is working on, or nothing. Its
	// briefing begins with what is known for it; may be nil.
	Intent func(ctx context.Context, agent string) (string, error)
	// LastSession is when the last session of somebody before this one began, zero
	// where that is not known; may be nil.
	LastSession func(ctx context.Context, a Actor) (time.Time, error)
	Encoders    vectors.Encoders // of recall by meaning; may be nil
	// Adopt is called before the store is first used. It may import what another
	// program kept of the project. An error of it becomes a notice; may be nil.
	Adopt func(context.Context, *Store) error
	// RepositoryBrings says how many facts the project's repository holds; nothing where it holds
	// none. May be nil.
	RepositoryBrings func() string

	// RepositorySettings says what the repository's configuration changes, and what of it does not
	// count. It is for a person alone, too. May be nil.
	RepositorySettings func() []string
	// Erased is called when facts are erased. It takes them out of what is kept beside
	// the facts in the store's directory; may be nil.
	Erased func(dir string, r *formats.Replica, erased []formats.Tombstone) error
	Logger *slog.Logger
	Fault  func(op, name string) error // for crash tests: called before each file operation
	Team   journal.Team                // the machines that share the facts; nil: this one alone
	Fence  journal.Fence               // of the facts while they move to a team or back; may be nil

	Detach func() // starts a process that compacts the store, which makes its index and vectors; may be nil
}

// Store is the facts of one project. It is safe for concurrent use, by any
// number of processes.
type Store struct {
	*core
	actor Actor
	files *sourcefile.Files // of the project, which sources name, as the caller sees them
	task  string            // what the caller says it works on; see On
}

// core is what all handles on a store share.
type core struct {
	dir     string
	opts    Options
	log     *state.Log
	secrets *secret.Redactor
	use     *usage.Record
	vectors vectorSync
	eraser  eraser
	advice  adviser
	work    background
	witness witness

	private privateFact

	person func() string // the user's name, as it is stored

	caches  caches
	notices notice.Pending
	adopted atomic.Bool // somebody here looked, or looks, for a store to take over
	used    atomic.Bool // something was read or written
}

// Open opens the store kept in dir; nothing is created before the first write.
func Open(dir string, o *Options) (*Store, error) {
	c := &core{dir: dir, witness: witness{path: dir + ".known"}}
	if o != nil {
		c.opts = *o
	}
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	if c.opts.Logger == nil {
		c.opts.Logger = slog.New(slog.DiscardHandler)
	}
	most := 0
	if c.opts.Unasked {
		most = maxUnaskedWords
	}
	log, err := state.Open(dir, &state.Options{
		Most:        most,
		ProjectRoot: c.opts.ProjectRoot, ProjectHash: c.opts.ProjectHash, LongLived: c.opts.LongLived,
		Now: c.opts.Now, Logger: c.opts.Logger, Fault: c.opts.Fault, Team: c.opts.Team, Fence: c.opts.Fence,
	})
	if err != nil {
		return nil, err
	}
	c.log = log
	c.vectors.encoders, c.vectors.index, c.vectors.log = c.opts.Encoders, vectors.Open(dir), log
	if c.opts.LongLived {
		c.vectors.index.Keep(maxKeptVectors)
	}
	c.vectors.maxLearn, c.vectors.maxLearnServer = maxLearn, maxLearnServer
	c.vectors.logger, c.vectors.now, c.vectors.longLived = c.opts.Logger, c.opts.Now, c.opts.LongLived
	c.use = usage.Open(dir, c.opts.Now)
	c.secrets = cmp.Or(c.opts.Redactor, secret.BuiltIn())
	c.eraser = eraser{dir: dir, log: log, vectors: &c.vectors, notices: &c.notices, team: c.opts.Team != nil, others: c.opts.Erased}
	c.person = sync.OnceValue(func() string {
		if c.opts.Person == nil {
			return ""
		}
		name, _ := c.secrets.Clean(fact.Person(c.opts.Person()))
		return fact.Person(name)
	})
	c.caches.init()
	c.advice.log, c.advice.logger, c.advice.caches = log, c.opts.Logger, &c.caches
	s := &Store{core: c, files: sourcefile.New(c.opts.ProjectRoot, c.opts.Home, c.opts.WorkTrees)}
	c.work.start(s)
	return s, nil
}

// As is the same store for another asserter. A name is stored with what it
// asserts, so secrets are taken out of it too.
func (s *Store) As(a Actor) *Store {
	a.Agent, _ = s.Redact(a.Agent)
	a.Session, _ = s.Redact(a.Session)
	return &Store{core: s.core, actor: a, files: s.files.At(a.Dir)}
}

// Close ends background work. A store that is not long-lived may spend a
// moment on writing its index down.
func (s *Store) Close() error {
	s.work.end()
	return s.log.Close()
}

// Notices returns, once each, what the user should know beside the answer: a
// store taken over, a torn write dropped, damage set aside.
func (s *Store) Notices() []string { return s.notices.Take(s.log.Warnings()) }

// Away says, once, that the team's server gave no answer, so that what is read may be old. Empty: it did.
func (s *Store) Away() string { return s.notices.Away(s.log.Warnings()) }

// Now is the wall clock, UTC.
func (s *Store) Now() time.Time { return s.opts.Now().UTC() }

// Redact takes secrets out of a text and names the rules that found them.
func (s *Store) Redact(text string) (string, []string) { return s.secrets.Clean(text) }

// RedactValue is [Store.Redact] for the value of a fact, whose name may say that it is a secret.
func (s *Store) RedactValue(category, key, value string) (string, []string) {
	return s.secrets.CleanNamed(category, key, value)
}

// View runs f on the newest state with all facts, without waiting for any writer.
// now is the instant that an answer is about.
func (s *Store) View(ctx context.Context, f func(st *state.State, now time.Time) error) error {
	if err := s.adopt(ctx); err != nil {
		return err
	}
	return s.log.View(ctx, func(st *state.State) error {
		now := s.at(st.At())
		return withNearest(st.Reader(), now, f(st, now))
	})
}

// ViewSome is [Store.View] for callers that need few facts: it may read only those. f may
// run twice.
func (s *Store) ViewSome(ctx context.Context, f func(k state.Reader, now time.Time) error) error {
	if err := s.adopt(ctx); err != nil {
		return err
	}
	return s.log.ViewSome(ctx, func(k state.Reader) error {
		now := s.at(k.At)
		return withNearest(k, now, f(k, now))
	})
}

// at is the instant that an answer is about unless the question names another one. It is now,
// and not before the newest commit, so that a clock set back hides nothing. A newest commit far
// in the future is a clock that was wrong, and is not followed.
func (s *Store) at(newest time.Time) time.Time { return fact.Now(s.Now(), newest) }

// present is the instant that a decision is about: see [fact.Present].
func (s *Store) present(recorded time.Time) time.Time { return fact.Present(s.Now(), recorded) }

// Update commits what decide returns for the newest state, in a commit of its own.
func (s *Store) Update(ctx context.Context, decide func(*state.State, time.Time) ([]state.Event, error)) error {
	if err := s.adopt(ctx); err != nil {
		return err
	}
	var before uint64
	var events []state.Event
	err := s.log.Update(ctx, func(st *state.State, now time.Time) (_ []state.Event, err error) {
		before = st.Seq()
		events, err = decide(st, now)
		return s.authored(events), withNearest(st.Reader(), now, err)
	})
	if err == nil {
		s.committed(before, events)
	}
	return err
}

// UpdateSome is [Store.Update] for decisions that need few facts. decide may read the
// source files of a fact while other writers wait.
func (s *Store) UpdateSome(ctx context.Context, decide func(state.Reader, time.Time) ([]state.Event, error)) error {
	if err := s.adopt(ctx); err != nil {
		return err
	}
	var before uint64
	var events []state.Event
	err := s.log.UpdateSome(ctx, func(k state.Reader, now time.Time) (_ []state.Event, err error) {
		before, k.Files = k.Seq, s.files.Now
		events, err = decide(k, now)
		return s.authored(events), withNearest(k, now, err)
	})
	if err == nil {
		s.work.committed()
		s.committed(before, events)
	}
	return err
}

// authored are the events of a commit with its author first. Nobody signs what is done
// in the background.
func (s *Store) authored(events []state.Event) []state.Event {
	if len(events) == 0 || events[0].Author != nil || s.actor == (Actor{Dir: s.actor.Dir}) {
		return events
	}
	return append([]state.Event{{Author: s.author()}}, events...)
}

func (s *Store) author() *state.Author {
	return &state.Author{By: s.actor.Agent, Kind: s.actor.kind(), Clock: s.Now()}
}

// adopt calls Options.Adopt once. A failure is reported and retried later; it does not stop
// the operation.
func (s *Store) adopt(ctx context.Context) error {
	s.used.Store(true)
	if s.opts.Adopt == nil || s.adopted.Swap(true) {
		return nil
	}
	err := s.opts.Adopt(ctx, s)
	if err != nil {
		s.adopted.Store(false)
		if ctx.Err() == nil {
			s.Warn("%v", err)
			return nil
		}
	}
	return err
}

// Actor is who speaks through this handle.
func (s *Store) Actor() Actor { return s.actor }

// Options are those the store was opened with.
func (s *Store) Options() Options { return s.opts }

// Warn has a notice stand beside the next answer; see [Store.Notices].
func (s *Store) Warn(format string, args ...any) { s.notices.Add(format, args...) }

// Condition is how the files of a store are.
type Condition struct {
	Journal  journal.Stats     // sizes
	Index    state.IndexStatus // the text index
	Blocked  error             // why no index can be kept on disk; nil: one can
	Warnings []journal.Warning // what was found damaged
	Witness  string            // the file that says that something was remembered here; empty if there is none
}

// Condition tells how the files are.
func (s *Store) Condition() Condition {
	return Condition{s.log.Stats(), s.log.IndexStatus(), s.log.IndexBlocked(), s.log.Warnings(), s.witness.found()}
}

// OpenIndex opens the text index and searches it, so that [Store.Condition] tells how it is: an index
// is opened at the first search, which sets a damaged one aside. Where there is none, none is made.
func (s *Store) OpenIndex(ctx context.Context) error {
	if !s.log.HasIndex() {
		return nil
	}
	return s.log.Search(ctx, func(_ state.Reader, x *state.Index) error {
		_, err := x.Frequencies(ctx, []string{"lean-ctx-looks-for-nothing"})
		return err
	})
}

// Retrievals returns what tells how often and when a version was read.
func (s *Store) Retrievals() func(v *fact.Version) fact.Retrievals {
	s.use.Refresh()
	return s.use.Of
}

// Vectors are those that are kept of the facts.
func (s *Store) Vectors() *vectors.Index { return s.vectors.index }

// Dir is the directory that the store is kept in.
func (s *Store) Dir() string { return s.dir }

// Fetch brings the copy of a team's facts up to date. Without a team it does nothing.
func (s *Store) Fetch(ctx context.Context) error { return s.log.Fetch(ctx) }

// Settle does at once what a server does in the background after much was written. It compacts a
// journal that is over its limit, so that no later command reads it all. It brings index and
// vectors up to date. progress is told how many facts of a new index are done; it may be nil.
func (s *Store) Settle(ctx context.Context, progress func(done int)) {
	if at := s.log.Stats(); at.JournalBytes > at.Limit() {
		if err := s.log.Compact(ctx); err != nil {
			s.Warn("the journal was not compacted: %v", err)
		}
	}
	if err := derive(ctx, s, progress); err != nil {
		s.Warn("the index was not written: %v", err)
	}
}

// SettleBehind does it where the index lacks more than so many facts of those that the store has.
func (s *Store) SettleBehind(ctx context.Context, facts, most int) {
	behind := facts > most
	if s.log.HasIndex() {
		behind = s.OpenIndex(ctx) == nil && s.log.IndexStatus().Pending > most
	}
	if behind && !s.log.IndexStatus().Newer {
		s.Settle(ctx, nil)
	}
}

// derive brings index and vectors up to date. What a newer version of the program wrote stays as it is.
func derive(ctx context.Context, s *Store, progress func(done int)) error {
	err := s.log.Sync(ctx, syncTail, progress)
	if e := s.vectors.instant(); e != nil {
		if _, failed := s.vectors.fill(ctx, *e, false, nil); !errors.Is(failed, vectors.ErrNewer) {
			err = cmp.Or(err, failed)
		}
	}
	return err
}

// deriveLock is the file that a process has locked while it makes index and vectors of all facts.
// It keeps commands from starting more of them, and from nothing else. Who is done removes it. If
// it is there, one was started at its time and is at work, or failed.
const deriveLock = "derive.lock"

// derives has that lock, if nobody else has. done is told how the work ended.
func (c *core) derives() (done func(error), ok bool) {
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return nil, false
	}
	l, ok, err := journal.TryLock(root, deriveLock)
	if err != nil || !ok {
		_ = root.Close() // nothing was written
		return nil, false
	}
	now := time.Now()
	_ = root.Chtimes(deriveLock, now, now) // else it has the time of the one before
	return func(err error) {
		if err == nil {
			_ = root.Remove(deriveLock) // else no other is started for a while
		}
		_ = errors.Join(l.Unlock(), root.Close())
	}, true
}

// Compact writes the whole store into its one readable file, and its index and
// vectors.
func (s *Store) Compact(ctx context.Context) (err error) {
	if done, ok := s.derives(); ok {
		defer func() { done(err) }()
	}
	if err := s.log.Compact(ctx); err != nil {
		return err
	}
	if err := s.log.IndexBlocked(); err != nil {
		s.Warn("the text index is in memory alone: %v; move that away", err)
	}
	return derive(ctx, s, nil)
}

// witness is an empty file beside a store's directory, DIR.known, which says that something was
// remembered there. A directory that is deleted takes its journal's witness with it. The file is
// made after a process's first commit and is not synced.
type witness struct {
	path string
	made atomic.Bool
}

// found is the path of the witness, empty if there is none.
func (w *witness) found() string {
	if _, err := os.Stat(w.path); err != nil {
		return ""
	}
	return w.path
}

// committed makes the witness after a commit. before is the last commit before it.
func (c *core) committed(before uint64, events []state.Event) {
	first := before == 0
	if len(events) == 0 || c.witness.made.Swap(true) && !first {
		return
	}
	switch _, err := os.Stat(c.witness.path); {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.WriteFile(c.witness.path, nil, 0o600); err != nil {
			c.opts.Logger.Debug("there is no witness beside the store", "error", err)
		}
	case err == nil && first:
		c.notices.Add("what was remembered of this project before is gone: %s was deleted or emptied", c.dir)
	}
}

// NoArgs is the argument of an operation that takes none.
type NoArgs struct{}

// The ways in which a call cannot be done as it was made.
type (
	ArgumentError = refusal.ArgumentError // which argument is wrong and why
	NotFoundError = refusal.NotFoundError // a named thing does not exist
)
