package journal

import (
	"context"
	"os"
	"time"
)

// leadBatch takes the file lock and serves everyone who waits, w among them.
// The lead is held.
func (l *Log[S, E]) leadBatch(ctx context.Context, w *waiter[S, E], deadline time.Time) error {
	defer func() { <-l.lead }()
	select {
	case <-w.done: // served by the leader before
		return w.err
	default:
	}
	err := l.underLock(ctx, deadline, func() error {
		b := batch[S, E]{l: l, own: w, waiting: l.queue.takeAll()}
		defer b.end()
		b.run()
		return nil
	})
	if err != nil && l.queue.withdraw(w) {
		return l.named(err)
	}
	<-w.done
	return w.err
}

// underLock holds the file lock, has the files in order and the state caught
// up, and then runs do. The lead is held.
func (l *Log[S, E]) underLock(ctx context.Context, deadline time.Time, do func() error) error {
	root, fsys, err := l.attach(true)
	if err != nil {
		return err
	}
	return l.d.lock.hold(ctx, fsys, deadline, func() error {
		if err := l.prepare(root); err != nil {
			return err
		}
		defer l.inflight.Store(false)
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
	l.mu.RLock()
	ok := l.loaded && !l.d.untidy && l.d.root == root && (l.d.mine || l.d.j == nil) && l.d.current()
	if ok {
		l.inflight.Store(true)
	}
	l.mu.RUnlock()
	if ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.d.root != root {
		return l.d.errorf(l.d.n.lock, ErrLocked, "the directory was replaced meanwhile; try again")
	}
	if err := l.catchUp(true); err != nil {
		return err
	}
	if err := l.d.openForWriting(); err != nil {
		return err
	}
	l.inflight.Store(true)
	return nil
}

// batch is the calls of Update that share a write and an fsync.
type batch[S, E any] struct {
	l       *Log[S, E]
	own     *waiter[S, E]
	waiting []*waiter[S, E] // not decided yet
	decided []outcome[S, E] // decided, and not to be told before the write

	text    []byte // what to write
	first   line
	pos     position   // where the journal will be after it
	pending *Commit[E] // decided last, and not folded yet

	held   holding // how this goroutine holds mu
	folded bool    // the state is ahead of the files
}

type holding int

const (
	free holding = iota
	shared
	exclusive
)

type outcome[S, E any] struct {
	w    *waiter[S, E]
	head Head
	err  error
}

// hold changes how mu is held.
func (b *batch[S, E]) hold(h holding) {
	if b.held == h {
		return
	}
	switch b.held {
	case shared:
		b.l.mu.RUnlock()
	case exclusive:
		b.l.mu.Unlock()
	}
	b.held = free
	switch h {
	case shared:
		b.l.mu.RLock()
	case exclusive:
		b.l.mu.Lock()
	}
	b.held = h
}

// run decides one after another, writes once, and tells everyone.
func (b *batch[S, E]) run() {
	b.hold(shared)
	b.pos = b.l.d.pos
	for len(b.waiting) > 0 {
		b.foldPending()
		w := b.waiting[0]
		b.waiting = b.waiting[1:]
		now := b.recordedTime()
		b.take(w, w.ask(turn[S]{b.l.state, now}, w == b.own), now)
	}
	if len(b.text) > 0 {
		b.tell(b.write())
	}
}

// recordedTime is the clock, or just after the last commit if the clock is behind.
func (b *batch[S, E]) recordedTime() time.Time {
	now := b.l.o.Now().UTC().Round(0)
	if !now.After(b.pos.at) {
		now = b.pos.at.Add(1)
	}
	return now
}

// foldPending lets the next in the batch decide on what the one before did.
// Until the fsync no view may see it, so mu is held exclusively from here on.
func (b *batch[S, E]) foldPending() {
	if b.pending == nil {
		return
	}
	b.hold(exclusive)
	b.folded = true
	b.l.state = b.l.m.Fold(b.l.state, *b.pending)
	b.pending = nil
}

// take adds a decision to the batch.
func (b *batch[S, E]) take(w *waiter[S, E], d decision[E], now time.Time) {
	if d.aborted {
		return
	}
	if d.err == nil && len(d.events) > 0 {
		d.err = b.add(Commit[E]{Seq: b.pos.seq + 1, At: now, Events: d.events})
	}
	o := outcome[S, E]{w: w, err: d.err}
	if d.err == nil {
		o.head = b.pos.reached()
	}
	if len(b.text) == 0 {
		w.finish(o.head, o.err) // depends on nothing that is still to be written
		return
	}
	b.decided = append(b.decided, o)
}

func (b *batch[S, E]) add(c Commit[E]) error {
	ln, err := commitLine(c.Seq, b.pos.prev, c.At, c.Events)
	if err != nil {
		return err
	}
	if len(b.text) == 0 {
		b.first = ln
	}
	b.pos.mark, b.pos.sum, b.pos.prev, b.pos.seq, b.pos.at = b.pos.off+int64(len(b.text)), ln.sum, ln.sum, c.Seq, c.At
	b.text = ln.appendTo(b.text)
	b.pending = &c
	return nil
}

// write makes the batch durable and folds the rest of it.
func (b *batch[S, E]) write() error {
	l := b.l
	if !l.d.ready() {
		b.hold(exclusive)
		shift := l.d.pos.off
		if err := l.d.makeReady(); err != nil {
			l.loaded = false
			return err
		}
		b.pos.head = l.d.pos.head
		b.pos.mark += l.d.pos.off - shift
	}
	// Another process may read the lines as soon as they are written. A view of
	// this one that came after it and missed them would turn time back, so views
	// wait for the fsync.
	b.hold(exclusive)
	if err := l.d.append(b.text, b.first); err != nil {
		l.failed(err, b.folded)
		return err
	}
	b.foldPending()
	b.folded = false
	b.pos.off = l.d.pos.off + int64(len(b.text))
	l.d.pos = b.pos
	l.setState(l.state)
	return nil
}

// tell ends the calls that waited for the write. If it failed, also those
// that wrote nothing: what they were to be told rested on it.
func (b *batch[S, E]) tell(err error) {
	b.hold(free)
	for _, o := range b.decided {
		if err != nil {
			o.w.finish(Head{}, b.l.named(err))
		} else {
			o.w.finish(o.head, o.err)
		}
	}
	b.decided = nil
}

// end leaves things in order, also if a decide of this goroutine panicked:
// the others are decided by the next leader.
func (b *batch[S, E]) end() {
	if b.folded {
		b.hold(exclusive)
		b.l.loaded = false
	}
	b.hold(free)
	var again []*waiter[S, E]
	for _, o := range b.decided {
		again = append(again, o.w)
	}
	b.l.queue.putBack(append(again, b.waiting...))
}

// failed has the state loaded anew if it is not what the files say. mu is held.
func (l *Log[S, E]) failed(err error, ahead bool) {
	doubtful := l.d.doubt != nil
	if ahead || doubtful {
		l.loaded = false
	}
	if doubtful {
		l.d.closeJournal()
	}
	l.o.Logger.Warn("write failed", "dir", l.d.dir, "error", err)
}
