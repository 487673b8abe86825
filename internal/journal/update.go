package journal

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
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
	ctx    context.Context // of the caller, without the time that it waits for others
	decide func(S, time.Time) ([]E, error)
	done   chan struct{} // closed when the fields below are set
	head   Head
	err    error
	panic  any // what decide panicked with
}

func (c *call[S, E]) fail(err error) { c.head, c.err = Head{}, err }

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
	i := slices.Index(q.list, c)
	if i >= 0 {
		q.list = slices.Delete(q.list, i, i+1)
	}
	return i >= 0
}

func (q *queue[S, E]) takeAll() []*call[S, E] {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.list
	q.list = nil
	return list
}

// token is held by one goroutine at a time.
type token chan struct{}

func newToken() token { return make(token, 1) }

// take waits for the token until ctx ends. It tries once in any case.
func (t token) take(ctx context.Context) error { return t.takeUnless(ctx, nil) }

// takeUnless is take, but it stops waiting when served is closed, and returns errServed.
func (t token) takeUnless(ctx context.Context, served <-chan struct{}) error {
	select {
	case t <- struct{}{}:
		return nil
	default:
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-served:
		return errServed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// errServed means that another goroutine has done what the token is for.
var errServed = errors.New("served")

func (t token) release() { <-t }

// errLockTimeout is the cause when a context ends after Options.LockTimeout.
var errLockTimeout = errors.New("lock timeout")

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
	c := &call[S, E]{ctx: ctx, decide: decide, done: make(chan struct{})}
	ctx, cancel := context.WithTimeoutCause(ctx, l.o.LockTimeout, errLockTimeout)
	defer cancel()
	l.queue.add(c)
	err := l.lead.takeUnless(ctx, c.done)
	switch err {
	case nil:
		err = l.serve(ctx, c)
	case errServed:
		err = nil
	case errLockTimeout:
		err = l.j.errorf(l.j.names.lock, ErrLocked, "another write of this process does not end; try again")
	}
	if err != nil && l.queue.withdraw(c) {
		return Head{}, err
	}
	<-c.done // if another goroutine has it, the outcome is near, and must be known
	if c.panic != nil {
		panic(c.panic) // in the caller's goroutine: another one may have run decide
	}
	if c.err == nil {
		l.background.noteWrite()
	}
	return c.head, c.err
}

// serve takes the file lock and serves all waiting calls. c is among them unless another
// goroutine has served it. The lead is held.
func (l *Log[S, E]) serve(ctx context.Context, c *call[S, E]) error {
	defer l.lead.release()
	select {
	case <-c.done:
		return nil
	default:
	}
	return l.named(l.underLock(ctx, l.o.Fence, func() error {
		l.looked.Store(clock())
		b := batch[S, E]{l: l, pos: l.j.pos, calls: l.queue.takeAll()}
		b.err = fmt.Errorf("%w: the write broke off, the commits may or may not be on disk", ErrInDoubt) // unless run returns
		defer b.end()
		b.err = b.run(ctx)
		return nil
	}))
}

// underLock takes the file lock, repairs the files, catches up, and runs do. The lead is held.
// It does not wait for a closed fence with the lock held.
func (l *Log[S, E]) underLock(ctx context.Context, fence Fence, do func() error) error {
	for {
		at, err := l.open(true)
		if err != nil {
			return err
		}
		closed := false
		err = l.lock.hold(ctx, at, func() error {
			if fence != nil { // before the files are looked at
				leave, err := fence()
				if err != nil {
					closed = errors.Is(err, ErrLocked)
					return err
				}
				defer leave()
			}
			defer l.inflight.Store(false)
			if err := l.prepare(at); err != nil {
				return err
			}
			return do()
		})
		if !closed {
			return err
		}
		if pause(ctx, longestPause) != nil {
			return err
		}
	}
}

// open opens the directory; create says whether to make a missing one. Without one root is nil.
func (l *Log[S, E]) open(create bool) (files, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return files{}, ErrClosed
	}
	err := l.attach(create)
	return l.j.files, err
}

// exclusively runs do as the one writer.
func (l *Log[S, E]) exclusively(ctx context.Context, do func() error) error {
	if err := l.lead.take(ctx); err != nil {
		return err
	}
	defer l.lead.release()
	wait, cancel := context.WithTimeoutCause(ctx, l.o.LockTimeout, errLockTimeout)
	defer cancel()
	return l.underLock(wait, nil, do)
}

// prepare catches up under the file lock and sets inflight.
func (l *Log[S, E]) prepare(at files) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.j.root != at.root {
		return errReplaced(l.j.directory)
	}
	if !l.mem.loaded || l.j.needsRepair || !l.j.current() {
		if err := l.mem.catchUp(true); err != nil {
			return err
		}
	}
	if err := l.j.openForWriting(); err != nil {
		return err
	}
	l.inflight.Store(true)
	return l.j.checkRemote()
}

func errReplaced(d *directory) error {
	return d.errorf(d.names.lock, ErrLocked, "the directory was replaced meanwhile; try again")
}

// batch is the calls of Update that share a write and an fsync. While inflight
// is set nobody else changes the state or the position, so the leader reads
// both without mu.
type batch[S, E any] struct {
	l       *Log[S, E]
	calls   []*call[S, E] // not answered yet
	lines   []line        // what to write
	pos     position      // where the journal will be after it
	pending *Commit[E]    // decided last, and not folded yet
	locked  bool          // mu is held: no view may see what is not on disk
	err     error         // of everyone who is not answered
}

// run decides one call after another and writes once. With a remote log each is written, and
// answered, as soon as it is published.
func (b *batch[S, E]) run(ctx context.Context) error {
	if r := b.l.replica; r != nil {
		for len(b.calls) > 0 {
			if err := b.publish(b.calls[0]); err != nil {
				return err
			}
			b.answer()
			r.yield(ctx)
		}
		return nil
	}
	for _, c := range b.calls {
		b.foldPending() // the next one decides on what this one did
		if err := b.decide(c); err != nil {
			return err
		}
	}
	if len(b.lines) == 0 {
		return nil
	}
	return b.write()
}

// answer answers the first call.
func (b *batch[S, E]) answer() {
	close(b.calls[0].done)
	b.calls = b.calls[1:]
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
		events, c.err = c.decide(b.l.mem.state, now)
	}()
	if c.err == nil && c.panic == nil && len(events) > 0 {
		if err := b.add(c, now, events); err != nil {
			return err
		}
	}
	if c.err == nil {
		c.head = b.l.mem.reached(b.pos)
	}
	return nil
}

func (b *batch[S, E]) add(c *call[S, E], now time.Time, events []E) error {
	if len(b.lines) == 0 && !b.l.j.ready() {
		b.lock()
		if err := b.l.j.makeReady(); err != nil {
			b.l.mem.loaded = false
			return err
		}
		b.pos = b.l.j.pos
	}
	ln, err := commitLine(b.pos.seq+1, b.pos.prev, now, events)
	if err != nil {
		c.err = err
		return nil
	}
	b.pos.pass(ln)
	b.pos.at = now
	b.lines = append(b.lines, ln)
	b.pending = &Commit[E]{Seq: ln.seq, At: now, Events: events}
	return nil
}

// write makes the batch durable and folds the last commit of it.
func (b *batch[S, E]) write() error {
	b.lock()
	if err := b.l.j.append(b.lines); err != nil {
		return err
	}
	b.foldPending()
	b.l.wrote.Store(true)
	b.l.j.pos = b.pos
	b.l.mem.set(b.l.mem.state)
	b.l.j.answered()
	b.lines = nil
	return nil
}

// end answers all calls, also if a decision ended its goroutine or the machine panicked. All
// get the error, also those that wrote nothing: they decided on a state that was not written.
func (b *batch[S, E]) end() {
	if b.err != nil {
		b.l.o.Logger.Warn("write failed", "dir", b.l.j.path, "error", b.err)
		for _, c := range b.calls {
			c.fail(b.l.named(b.err))
		}
	}
	b.unlock()
	for _, c := range b.calls {
		close(c.done)
	}
}

func (b *batch[S, E]) foldPending() {
	if b.pending != nil {
		b.lock()
		b.l.mem.state, b.l.mem.ahead = b.l.mem.m.Fold(b.l.mem.state, *b.pending), true
		b.pending = nil
	}
}

func (b *batch[S, E]) lock() {
	if !b.locked {
		b.l.mu.Lock()
		b.locked = true
	}
}

// unlock drops the state if it is not that of the files.
func (b *batch[S, E]) unlock() {
	if !b.locked {
		return
	}
	if b.l.j.doubt != nil {
		b.l.j.close()
	}
	if b.l.mem.ahead || b.l.j.doubt != nil {
		b.l.mem.loaded = false
	}
	b.locked = false
	b.l.mu.Unlock()
}
