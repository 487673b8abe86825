package journal

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"sync"
	"time"
)

// Group commit
//
// Callers of Update line up in a queue. The one that gets the lead takes the file lock and
// serves all that wait. It decides them one after another, each on the state that the one
// before left. It writes their lines with one write and one fsync, and then answers them.
//
// A view of this process that begins during the write waits for the fsync. Another process may
// see a commit between the write and the fsync, and a later view here that missed it would turn
// time back. That other process sees it gone again if the fsync failed. To make it wait was
// rejected: a stopped writer would stop every reader.

// call is one call of Update.
type call[S, E any] struct {
	decide func(S, time.Time) ([]E, error)
	done   chan struct{} // closed when the rest is set
	head   Head
	err    error
	panic  any // what decide panicked with
}

func (c *call[S, E]) result() (Head, error) {
	if c.panic != nil {
		panic(c.panic) // in the goroutine of the caller, whoever ran decide
	}
	return c.head, c.err
}

// queue is the calls that wait, in the order they came.
type queue[S, E any] struct {
	mu   sync.Mutex
	list []*call[S, E]
}

func (q *queue[S, E]) add(c *call[S, E]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, c)
}

// withdraw takes a call out, unless a leader has it already.
func (q *queue[S, E]) withdraw(c *call[S, E]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, x := range q.list {
		if x == c {
			q.list = append(q.list[:i:i], q.list[i+1:]...)
			return true
		}
	}
	return false
}

func (q *queue[S, E]) takeAll() []*call[S, E] {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.list
	q.list = nil
	return list
}

// putBack returns calls that a leader could not serve.
func (q *queue[S, E]) putBack(list []*call[S, E]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(list[:len(list):len(list)], q.list...)
}

// errLate ends the context of who has waited for Options.LockTimeout.
var errLate = errors.New("late")

// Update commits what decide makes of the newest state, under the lock, and
// returns the new head once it is on disk. now is the recorded time of the
// commit to be: the clock, or 1 ns after the last commit if that is later.
// If decide returns an error, or no events, nothing is written; its error is
// returned as it is. Any other error means that nothing was changed, unless it
// wraps ErrInDoubt. decide may run in another goroutine, and more than once.
func (l *Log[S, E]) Update(ctx context.Context, decide func(s S, now time.Time) ([]E, error)) (Head, error) {
	if err := ctx.Err(); err != nil {
		return Head{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.o.LockTimeout, errLate)
	defer cancel()
	c := &call[S, E]{decide: decide, done: make(chan struct{})}
	l.queue.add(c)
	head, err := l.wait(ctx, c)
	if err == nil {
		l.noteWrite()
	}
	return head, err
}

// wait waits until a leader has served the call, or leads.
func (l *Log[S, E]) wait(ctx context.Context, c *call[S, E]) (Head, error) {
	select {
	case l.lead <- struct{}{}: // one try is due, however late it is
		return l.leadBatch(ctx, c)
	default:
	}
	gone := ctx.Done()
	for {
		select {
		case <-c.done:
			return c.result()
		case l.lead <- struct{}{}:
			return l.leadBatch(ctx, c)
		case <-gone:
			if !l.queue.withdraw(c) {
				gone = nil // a leader has it: the outcome is near, and must be known
			} else if cause := context.Cause(ctx); cause != errLate {
				return Head{}, cause
			} else {
				return Head{}, l.d.errorf(l.d.n.lock, ErrLocked, "another write of this process does not end; try again")
			}
		}
	}
}

// leadBatch takes the file lock and serves everyone who waits, c among them.
// The lead is held.
func (l *Log[S, E]) leadBatch(ctx context.Context, c *call[S, E]) (Head, error) {
	defer func() { <-l.lead }()
	select {
	case <-c.done: // served by the leader before
		return c.result()
	default:
	}
	err := l.inFence(ctx, func() error {
		b := batch[S, E]{l: l, pos: l.d.pos, calls: l.queue.takeAll()}
		defer b.end()
		b.run(ctx)
		return nil
	})
	if err != nil && l.queue.withdraw(c) {
		return Head{}, l.named(err)
	}
	<-c.done
	return c.result()
}

// inFence is underLock for who writes. The lock is not held while the fence is closed.
func (l *Log[S, E]) inFence(ctx context.Context, do func() error) error {
	if l.o.Fence == nil {
		return l.underLock(ctx, do)
	}
	for {
		closed := false
		err := l.locked(ctx, func() (func(), error) {
			leave, err := l.o.Fence()
			closed = errors.Is(err, ErrLocked)
			return leave, err
		}, do)
		if !closed {
			return err
		}
		select {
		case <-time.After(longestPause):
		case <-ctx.Done():
			return err
		}
	}
}

// underLock holds the file lock, has the files in order and the state caught
// up, and then runs do. The lead is held.
func (l *Log[S, E]) underLock(ctx context.Context, do func() error) error {
	return l.locked(ctx, func() (func(), error) { return func() {}, nil }, do)
}

// locked is underLock with something to enter before the files are looked at.
func (l *Log[S, E]) locked(ctx context.Context, enter func() (leave func(), err error), do func() error) error {
	root, fsys, err := l.attach(true)
	if err != nil {
		return err
	}
	return l.d.lock.hold(ctx, fsys, func() error {
		leave, err := enter()
		if err != nil {
			return err
		}
		defer leave()
		defer l.inflight.Store(false)
		if err := l.prepare(root); err != nil {
			return err
		}
		return do()
	})
}

// attach has the directory open, and made if need be.
func (l *Log[S, E]) attach(create bool) (*os.Root, files, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, ErrClosed
	}
	before := l.d.root
	err := l.d.attach(create)
	if l.d.root != before {
		l.loaded = false
	}
	return l.d.root, l.d.fs, err
}

// prepare catches up under the file lock and sets inflight.
func (l *Log[S, E]) prepare(root *os.Root) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.d.root != root {
		return l.d.errorf(l.d.n.lock, ErrLocked, "the directory was replaced meanwhile; try again")
	}
	if !l.loaded || l.d.untidy || !l.d.current() {
		if err := l.catchUp(true); err != nil {
			return err
		}
	}
	if err := l.d.openForWriting(); err != nil {
		return err
	}
	l.inflight.Store(true)
	return l.d.checkRemote()
}

// batch is the calls of Update that share a write and an fsync. While inflight
// is set nobody else changes the state or the position, so the leader reads
// both without mu.
type batch[S, E any] struct {
	l        *Log[S, E]
	calls    []*call[S, E] // not decided yet
	deciding *call[S, E]
	decided  []*call[S, E] // to be answered after the write
	text     []byte        // what to write
	line     line          // its last line
	first    witness       // its first commit
	pos      position      // where the journal will be after it
	pending  *Commit[E]    // decided last, and not folded yet
	locked   bool          // mu is held: no view may see what is not on disk
}

// run decides one call after another, writes once, and answers everyone. With a
// remote log each is written as soon as it is published.
func (b *batch[S, E]) run(ctx context.Context) {
	var err error
	for len(b.calls) > 0 && err == nil {
		b.foldPending() // the next one decides on what this one did
		b.deciding, b.calls = b.calls[0], b.calls[1:]
		if b.l.o.Remote == nil {
			err = b.decide(b.deciding)
		} else {
			err = b.publish(ctx, b.deciding)
		}
		b.decided, b.deciding = append(b.decided, b.deciding), nil
		if b.l.o.Remote != nil && err == nil {
			b.answer()
			b.yield(ctx)
		}
	}
	if len(b.text) > 0 && err == nil {
		err = b.write()
	}
	if err != nil {
		b.fail(err)
	}
	b.unlock()
	b.answer()
}

func (b *batch[S, E]) answer() {
	for _, c := range b.decided {
		close(c.done)
	}
	b.decided = nil
}

// decide adds what one call decides to the batch. An error is that of the
// files, and ends the batch.
func (b *batch[S, E]) decide(c *call[S, E]) error {
	now := b.l.o.Now().UTC().Round(0)
	if !now.After(b.pos.at) {
		now = b.pos.at.Add(1)
	}
	var events []E
	func() {
		defer func() {
			if c.panic = recover(); c.panic != nil {
				b.l.o.Logger.Error("a decision panicked", "panic", c.panic, "stack", string(debug.Stack()))
			}
		}()
		events, c.err = c.decide(b.l.state, now)
	}()
	if c.err == nil && c.panic == nil && len(events) > 0 {
		if err := b.add(c, now, events); err != nil {
			return err
		}
	}
	if c.err == nil {
		c.head = b.l.reached(b.pos)
	}
	return nil
}

func (b *batch[S, E]) add(c *call[S, E], now time.Time, events []E) error {
	if len(b.text) == 0 && !b.l.d.ready() {
		b.lock()
		if err := b.l.d.makeReady(); err != nil {
			b.l.loaded = false
			return err
		}
		b.pos = b.l.d.pos
	}
	ln, err := commitLine(b.pos.seq+1, b.pos.prev, now, events)
	if err != nil {
		c.err = err
		return nil
	}
	if len(b.text) == 0 {
		b.first = witness{seq: ln.seq, sum: ln.sum}
	}
	b.pos.mark, b.pos.sum, b.pos.prev, b.pos.seq, b.pos.place, b.pos.at = b.pos.off, ln.sum, ln.sum, ln.seq, 0, now
	b.pos.off += ln.size()
	b.text, b.line = ln.appendTo(b.text), ln
	b.pending = &Commit[E]{Seq: ln.seq, At: now, Events: events}
	return nil
}

// write makes the batch durable and folds the rest of it.
func (b *batch[S, E]) write() error {
	b.lock()
	if err := b.l.d.append(b.text, b.first); err != nil {
		return err
	}
	b.foldPending()
	b.l.d.pos = b.pos
	b.l.setState(b.l.state)
	b.l.d.writeWitness()
	b.text = nil
	return nil
}

// fail gives everyone the error, also those that wrote nothing: what they were
// to be told rested on what was not written.
func (b *batch[S, E]) fail(err error) {
	b.l.o.Logger.Warn("write failed", "dir", b.l.d.dir, "error", err)
	b.decided, b.calls = append(b.decided, b.calls...), nil
	for _, c := range b.decided {
		c.head, c.err = Head{}, b.l.named(err)
	}
}

// end leaves things in order, also if a decision ended its goroutine: then the
// next leader serves the others.
func (b *batch[S, E]) end() {
	b.unlock()
	if b.deciding != nil {
		b.deciding.err = errors.New("the decision ended its goroutine")
		close(b.deciding.done)
	}
	b.l.queue.putBack(append(b.decided, b.calls...))
}

func (b *batch[S, E]) foldPending() {
	if b.pending != nil {
		b.lock()
		b.l.state, b.l.ahead = b.l.m.Fold(b.l.state, *b.pending), true
		b.pending = nil
	}
}

func (b *batch[S, E]) lock() {
	if !b.locked {
		b.l.mu.Lock()
		b.locked = true
	}
}

// unlock has the state loaded anew if it is not what the files say.
func (b *batch[S, E]) unlock() {
	if !b.locked {
		return
	}
	if b.l.d.doubt != nil {
		b.l.d.closeJournal()
	}
	if b.l.ahead || b.l.d.doubt != nil {
		b.l.loaded = false
	}
	b.locked = false
	b.l.mu.Unlock()
}
