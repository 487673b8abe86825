package knowledge

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/notice"
	"leanctx/internal/refusal"
	"leanctx/internal/secret"
	"leanctx/knowledge/ledger"
	"leanctx/knowledge/meaning"
	"leanctx/knowledge/usage"
)

// Actor is who speaks to the store.
type Actor struct {
	Agent   string // agent id, or the client's name; may be empty
	Kind    string // KindAgent unless it is empty; else KindUser, KindTool
	Session string // what the existing program calls source_session
}

func (a Actor) kind() string {
	if a.Kind == "" {
		return KindAgent
	}
	return a.Kind
}

// Options of a store. The zero value works.
type Options struct {
	ProjectRoot string
	ProjectHash string
	LongLived   bool             // a server: snapshots and archiving happen in the background
	Now         func() time.Time // default time.Now
	Redactor    *secret.Redactor // default: the built-in rules
	Findings    Findings         // what diaries, scratchpad and tasks hold; may be nil
	Workplace   Workplace        // who is at work and on what; may be nil
	Elsewhere   Elsewhere        // what is kept of the project beside its facts; may be nil
	// Intent is the title of the task that an agent is working on, or nothing.
	// It breaks near-ties in its recall and briefing; may be nil.
	Intent      func(ctx context.Context, agent string) (string, error)
	Semantic    meaning.Semantic // recall by meaning; may be nil
	Vectors     meaning.Vectors  // what it keeps; nil with it
	Legacy      []string         // data directories of the existing program, to adopt a store from
	KeepPrivacy bool             // an adopted store keeps lean-ctx's project_only
	Logger      *slog.Logger
	Fault       func(op, name string) error // for crash tests: called before each file operation

	keysFrom   int64 // tests only: the smallest snapshot with a key table, in bytes; see [ledger.Options]
	unindexed  int   // tests only: how many versions are not indexed before an answer; else fewUnindexed
	importEach int   // tests only: the most facts of one commit of an import; else importEach
}

// Store is the facts of one project. It is safe for concurrent use, by any
// number of processes.
type Store struct {
	*core
	actor Actor
	task  string // what the caller says it works on; see On
}

// core is what all handles on a store share.
type core struct {
	dir     string
	opts    Options
	log     *ledger.Log
	secrets *secret.Lazy
	use     *usage.Record
	stop    context.CancelFunc
	work    sync.WaitGroup

	board   notice.Pending
	adopted atomic.Bool // somebody here looked, or looks, for a store to take over

	ix    indexed
	marks meaning.Marks[ledger.Reach]

	lacking atomic.Bool // a question would have needed vectors that there are not
	looked  atomic.Bool // it was counted what an encoder lacks

	began time.Time    // when the store was opened, by the machine's clock
	rest  atomic.Int64 // nanoseconds from then until it is looked for facts alike again
}

// Open opens the store kept in dir; nothing is created before the first write.
func Open(dir string, o *Options) (*Store, error) {
	c := &core{dir: dir, began: time.Now()}
	if o != nil {
		c.opts = *o
	}
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	if c.opts.Logger == nil {
		c.opts.Logger = slog.New(slog.DiscardHandler)
	}
	log, err := ledger.Open(dir, &ledger.Options{
		ProjectRoot: c.opts.ProjectRoot, ProjectHash: c.opts.ProjectHash, LongLived: c.opts.LongLived,
		Now: c.opts.Now, Logger: c.opts.Logger, Fault: c.opts.Fault, KeysFrom: c.opts.keysFrom,
	})
	if err != nil {
		return nil, err
	}
	c.log = log
	c.ix.few = cmp.Or(c.opts.unindexed, fewUnindexed)
	c.marks.Path = filepath.Join(dir, "index", "vectors.json")
	c.use = usage.Open(dir, c.opts.Now)
	c.secrets = secret.NewLazy(c.opts.Redactor)
	s := &Store{core: c}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	if c.opts.LongLived {
		c.ix.wanted = make(chan struct{}, 1)
		c.work.Go(func() { s.keep(ctx) })
		c.work.Go(func() { s.keepVectors(ctx) })
	}
	return s, nil
}

// As is the same store for another asserter. A name is stored with what it
// asserts, so secrets are taken out of it too.
func (s *Store) As(a Actor) *Store {
	a.Agent, _ = s.redact(a.Agent)
	a.Session, _ = s.redact(a.Session)
	return &Store{core: s.core, actor: a}
}

// Close ends background work. A store that is not long-lived may spend a
// moment on writing its index down.
func (s *Store) Close() error {
	s.stop()
	s.work.Wait()
	if !s.opts.LongLived {
		s.settle()
	}
	return errors.Join(s.log.Close(), s.ix.close())
}

// Notices returns, once each, what the user should know beside the answer: a
// store taken over, a torn write dropped, damage set aside.
func (s *Store) Notices() []string { return s.board.Take(s.log.Warnings()) }

func (s *Store) clock() time.Time { return s.opts.Now().UTC() }

// redact takes secrets out of a text and names the rules that found them.
func (s *Store) redact(text string) (string, []string) { return s.secrets.Mark(text) }

// moment is when a question is asked and of which state.
type moment struct {
	now  time.Time // max(clock, last recorded time)
	head journal.Head
}

// view runs f on the newest state, without waiting for any writer. An answer is
// about now unless another instant is asked for, and that is never before what
// was last recorded, so that a clock set back hides nothing.
func (s *Store) view(ctx context.Context, f func(*ledger.State, moment) error) error {
	if err := s.adopt(ctx); err != nil {
		return err
	}
	return s.log.View(ctx, func(st *ledger.State, h journal.Head) error {
		now := s.clock()
		if !now.After(h.At) {
			now = h.At
		}
		return f(st, moment{now, h})
	})
}

// update commits what decide says, in a commit of its own.
func (s *Store) update(ctx context.Context, decide func(*ledger.State, time.Time) ([]ledger.Event, error)) error {
	if err := s.adopt(ctx); err != nil {
		return err
	}
	return s.log.Update(ctx, decide)
}

// Compact writes the whole store into its one readable file.
func (s *Store) Compact(ctx context.Context) error { return s.log.Compact(ctx) }

// SyncKeys writes the key table of the facts' file if there is none yet and the
// file is large enough for one. It is for whoever is in no hurry: it reads all of
// the file, though never more than a piece of it at a time.
func (s *Store) SyncKeys(ctx context.Context) error { return s.log.SyncKeys(ctx) }

// The ways in which a call cannot be done as it was made.
type (
	ArgumentError = refusal.ArgumentError // which argument is wrong and why
	NotFoundError = refusal.NotFoundError // a named thing does not exist
)

func required(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			return refusal.Argument(pairs[i], "needs %s", pairs[i])
		}
	}
	return nil
}
