package cost

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/notice"
	"leanctx/internal/refusal"
)

// schema is the version of costs.json.
const schema = 1

// Actor is whose calls a handle notes when a receipt does not say.
type Actor struct {
	Agent   string // agent id; may be empty
	Client  string // the client's name, which stands in for it
	Session string // one connection, or one shell
}

// Options of a ledger. The zero value works.
type Options struct {
	ProjectRoot string
	ProjectHash string           // the project whose costs are seen, and that of receipts that name none
	LongLived   bool             // a server: tokens are counted, and written down, in the background
	Now         func() time.Time // default time.Now
	Logger      *slog.Logger
	Fault       func(op, name string) error // for crash tests: called before each file operation
}

// Ledger is the costs of one project. It is safe for concurrent use, by any
// number of processes.
type Ledger struct {
	*core
	actor Actor
}

// core is what all handles on a ledger share.
type core struct {
	dir   string
	opts  Options
	files files
	queue queue
	count Tokenizer
	stop  context.CancelFunc
	work  sync.WaitGroup

	flushing sync.Mutex // one block after another

	mu     sync.Mutex
	log    *journal.Log[*state, event] // nil until it is needed
	closed bool

	notices notice.Pending
}

// Open returns the ledger kept in dir, the data directory. It opens no file.
func Open(dir string, o *Options) (*Ledger, error) {
	c := &core{dir: dir}
	if o != nil {
		c.opts = *o
	}
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	if c.opts.Logger == nil {
		c.opts.Logger = slog.New(slog.DiscardHandler)
	}
	if c.opts.Fault == nil {
		c.opts.Fault = func(string, string) error { return nil }
	}
	c.files = files{dir: dir, create: c.opts.LongLived, fault: c.opts.Fault}
	c.queue = queue{wake: make(chan struct{}, 1), keep: c.opts.LongLived}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	if c.opts.LongLived {
		c.work.Go(func() { c.run(ctx) })
	}
	return &Ledger{core: c}, nil
}

// As is the same ledger for another caller.
func (l *Ledger) As(a Actor) *Ledger {
	return &Ledger{core: l.core, actor: Actor{clean(a.Agent), clean(a.Client), clean(a.Session)}}
}

// openLog opens the totals when they are first asked for: a command that only
// leaves a receipt needs none.
func (c *core) openLog() (*journal.Log[*state, event], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, journal.ErrClosed
	}
	if c.log != nil {
		return c.log, nil
	}
	// The existing program keeps a costs.json of its own in the same directory.
	log, err := journal.OpenOwn(c.dir, machine{}, &journal.Options{
		Name: "costs", Schema: schema, Now: c.opts.Now, LongLived: c.opts.LongLived,
		Logger: c.opts.Logger, Fault: c.opts.Fault,
	})
	if err != nil {
		return nil, err
	}
	c.log = log
	return log, nil
}

// Close writes down what was noted. A server also folds it into the totals, for
// a second at most.
func (l *Ledger) Close() error {
	l.stop()
	l.work.Wait()
	folds := l.flush(time.Now().Add(closeCounting))
	if l.opts.LongLived || folds {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		l.tryFold(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.queue.close()
	if l.log == nil {
		return nil
	}
	return l.log.Close()
}

// Compact writes the totals into their one readable file.
func (l *Ledger) Compact(ctx context.Context) error {
	l.flush(noDeadline)
	if err := l.fold(ctx); err != nil {
		return err
	}
	log, err := l.openLog()
	if err != nil {
		return err
	}
	return log.Compact(ctx)
}

// Notices returns, once each, what the user should know beside the answer: a
// torn write dropped, damage set aside.
func (l *Ledger) Notices() []string {
	l.mu.Lock()
	log := l.log
	l.mu.Unlock()
	if log == nil {
		return nil
	}
	return l.notices.Take(log.Warnings())
}

// tryFold folds where nobody waits for the outcome: what fails stays in the
// receipts.
func (c *core) tryFold(ctx context.Context) {
	if err := c.fold(ctx); err != nil && !errors.Is(err, journal.ErrClosed) {
		c.opts.Logger.Warn("receipts were not folded into costs.json", "error", err)
	}
}

// The errors of calls that cannot be done as they were made.
type (
	ArgumentError = refusal.ArgumentError // which argument is wrong and why
	NotFoundError = refusal.NotFoundError // a named thing does not exist
)
