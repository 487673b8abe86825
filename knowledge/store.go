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

	keysFrom   int64 // tests only: the smallest snapshot with a key table, in bytes; else tableFrom
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
	log     *journal.Log[*state, event]
	parts   *partials
	secrets *secret.Lazy
	use     *usage.Record
	stop    context.CancelFunc
	work    sync.WaitGroup

	board   notice.Board
	adopted atomic.Bool // somebody here looked, or looks, for a store to take over

	ix    indexed
	marks meaning.Marks[fedTo]

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
	c.parts = &partials{dir: dir, from: cmp.Or(c.opts.keysFrom, tableFrom)}
	log, err := journal.Open(dir, machine{c.parts}, &journal.Options{
		Name: "knowledge", Schema: schema, Now: c.opts.Now, LongLived: c.opts.LongLived,
		Logger: c.opts.Logger, Fault: c.opts.Fault,
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

// view runs f on the newest state, without waiting for any writer.
func (s *Store) view(ctx context.Context, f func(*state, moment) error) error {
	if err := s.adopt(ctx); err != nil {
		return err
	}
	return s.wholly(ctx, func() error {
		return s.log.View(ctx, func(st *state, h journal.Head) error {
			err := partly(st, nil)
			if err == nil {
				err = partly(st, f(st, moment{now(s.clock(), h), h}))
			}
			return err
		})
	})
}

// wholly does what do does, and if a partial state was not enough for it, does
// it again on a whole one: until it is through, [Store.refit] in the background
// makes no partial one either.
func (s *Store) wholly(ctx context.Context, do func() error) error {
	err := do()
	if _, partial := errors.AsType[*partialError](err); !partial {
		return err
	}
	s.parts.refused.Store(true) // the next one shall find a good table
	s.parts.whole.Store(true)
	s.parts.again.Add(1)
	defer s.parts.again.Add(-1)
	if err := s.log.Forget(ctx); err != nil {
		return err
	}
	return do()
}

// update commits what decide says, in a commit of its own. The first commit of
// a store also names its project.
func (s *Store) update(ctx context.Context, decide func(*state, time.Time) ([]event, error)) error {
	if err := s.adopt(ctx); err != nil {
		return err
	}
	return s.commit(ctx, decide)
}

func (s *Store) commit(ctx context.Context, decide func(*state, time.Time) ([]event, error)) error {
	return s.wholly(ctx, func() error { return s.commitOn(ctx, decide) })
}

func (s *Store) commitOn(ctx context.Context, decide func(*state, time.Time) ([]event, error)) error {
	_, err := s.log.Update(ctx, func(st *state, now time.Time) ([]event, error) {
		events, err := decide(st, now.UTC())
		if err = partly(st, err); err != nil || len(events) == 0 {
			return nil, err
		}
		if st.hash == "" && s.opts.ProjectHash != "" {
			events = append([]event{{Open: &opened{s.opts.ProjectRoot, s.opts.ProjectHash}}}, events...)
		}
		return events, nil
	})
	return err
}

// Compact writes the whole store into its one readable file.
func (s *Store) Compact(ctx context.Context) error {
	if err := s.log.Compact(ctx); err != nil {
		return err
	}
	if err := s.SyncKeys(ctx); err != nil { // the facts are safe; the table is only a cache
		s.opts.Logger.Debug("the key table was not written", "error", err)
	}
	return nil
}

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
