package journal

import (
	"context"
	"errors"
	"io/fs"
	"runtime/debug"
	"sync"
	"time"
)

// Compaction
//
//	1  under the lock: catch up, repair, fsync J, clone the state at commit N
//	2  no lock: encode to S.new, fsync it and the directory
//	3  under the lock: J.new := header with base N and the commits after N, fsync
//	4    S.prev := link to S; J.prev := link to J; fsync the directory
//	5    rename S.new to S
//	6    rename J.new to J; fsync the directory
//
// Where there are no hard links, step 4 renames instead. Then the name S or J is missing until
// step 5 or 6, and recovery reads S.new, S.prev and J.prev. A copy instead of the link was
// rejected: it would double what step 4 writes under the lock.

// Compact writes a new snapshot and begins a new journal. The lock is held
// for the switch only, not while the snapshot is written.
func (l *Log[S, E]) Compact(ctx context.Context) error {
	return l.named(l.compaction.alone(ctx, func(at files) error { return l.compaction.run(ctx, at) }))
}

// A small store is one that [Log.Settle] writes anew when its journal has passed smallJournal, since that
// takes a few milliseconds.
const (
	smallJournal  = 64 << 10
	smallSnapshot = 512 << 10
)

// Settle writes a snapshot where this log committed something and there is none yet, where a small store's
// journal has grown, and for a long-lived log, which is about to be closed, whatever is not in it. So a
// person always finds the file, and no answer waits for it: a caller settles after its answer.
func (l *Log[S, E]) Settle(ctx context.Context) error {
	if !l.wrote.Load() {
		return nil
	}
	s := l.Stats()
	l.mu.RLock()
	commits := !l.closed && l.mem.head.Seq > l.j.pos.head.Base
	l.mu.RUnlock()
	grown := s.JournalBytes > smallJournal && s.SnapshotBytes <= smallSnapshot
	closing := l.o.LongLived && s.JournalBytes > s.SnapshotBytes/idleShare
	if !commits || s.SnapshotBytes > 0 && !grown && !closing {
		return nil
	}
	return l.Compact(ctx)
}

// SettleTime is how long [Log.Settle] may take where a program is about to end.
const SettleTime = time.Second

// SettleOrLog is [Log.Settle] within [SettleTime]. What fails is only logged, since everything is in the journal.
func (l *Log[S, E]) SettleOrLog() {
	ctx, cancel := context.WithTimeout(context.Background(), SettleTime)
	defer cancel()
	if err := l.Settle(ctx); err != nil {
		l.o.Logger.Debug("the snapshot was not written", "dir", l.j.path, "error", err)
	}
}

// Purge compacts and then removes everything but the current state: the
// previous snapshot and journal, torn writes and damaged files that were set
// aside. The previous snapshot is replaced by a second copy of the current one.
func (l *Log[S, E]) Purge(ctx context.Context) error {
	return l.named(l.compaction.alone(ctx, func(at files) error {
		if err := l.compaction.run(ctx, at); err != nil {
			return err
		}
		return l.compaction.exclusively(ctx, at, func() error { return l.j.purge(l.j.pos.seq) })
	}))
}

// compaction makes the snapshots of a log.
type compaction[S, E any] struct {
	l    *Log[S, E]
	busy token    // held by the one goroutine that compacts
	lock fileLock // held by the one process that writes S.new
}

// alone runs do as the one process that compacts, if there is a directory.
func (c *compaction[S, E]) alone(ctx context.Context, do func(at files) error) error {
	if err := c.busy.take(ctx); err != nil {
		return err
	}
	defer c.busy.release()
	at, err := c.l.open(false)
	if err != nil || at.root == nil { // no directory: nothing to compact
		return err
	}
	wait, cancel := context.WithTimeoutCause(ctx, c.l.o.LockTimeout, errLockTimeout)
	defer cancel()
	return c.lock.hold(wait, at, func() error { return do(at) })
}

// exclusively runs do as the one writer, if the directory is still the same.
func (c *compaction[S, E]) exclusively(ctx context.Context, at files, do func() error) error {
	return c.l.exclusively(ctx, func() error {
		if c.l.j.root != at.root {
			return errReplaced(c.l.j.directory)
		}
		return do()
	})
}

// run is one compaction. It may have nothing to do.
func (c *compaction[S, E]) run(ctx context.Context, at files) error {
	var state S
	var pos position
	needed := false
	err := c.exclusively(ctx, at, func() (err error) {
		state, pos, needed, err = c.capture()
		return err
	})
	if err != nil {
		return err
	}
	n := c.l.j.names
	if !needed { // S.new is that of a compaction that was killed, if it is there
		if _, err := at.stat(n.snapshotNew); err != nil {
			return nil
		}
		return c.exclusively(ctx, at, func() error { return at.remove(n.snapshotNew) })
	}
	err = writeSnapshot(ctx, at, n.snapshotNew, c.l.mem.m, state, Header{Schema: c.l.o.Schema, Seq: pos.seq, Generation: pos.head.Generation + 1, At: pos.at.UTC()})
	if err == nil {
		err = at.sync() // S.new must be there before S.prev is another one: it replaces S until then
	}
	if err != nil {
		return err
	}
	return c.exclusively(ctx, at, func() error { return c.switchTo(pos) })
}

// capture returns the state that the snapshot will hold, and its position.
func (c *compaction[S, E]) capture() (state S, pos position, needed bool, err error) {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	mem, j := &c.l.mem, &c.l.j
	if mem.started { // the state may be but a part of that in the snapshot
		if err := errors.Join(mem.load(true), j.openForWriting()); err != nil {
			return state, pos, false, err
		}
	}
	if j.f == nil || j.pos.seq == 0 {
		return state, pos, false, nil
	}
	if _, err := j.stat(j.names.snapshot); err == nil && j.pos.head.Base == j.pos.seq {
		return state, pos, false, nil
	}
	// A killed writer may have left the tail unsynced. If a snapshot had it,
	// and a power cut took it from the journal, another commit would get its
	// number.
	if err := j.f.Sync(); err != nil {
		return state, pos, false, err
	}
	return mem.m.Clone(mem.state), j.pos, true, nil
}

// switchTo replaces S by S.new, and J by a journal that begins after it. A repair may have rebuilt
// J meanwhile, or renamed S.new to an S that was missing.
func (c *compaction[S, E]) switchTo(at position) (err error) {
	j := &c.l.j
	if _, err := j.stat(j.names.snapshotNew); j.f == nil || j.pos.head.Generation != at.head.Generation || errors.Is(err, fs.ErrNotExist) {
		return j.errorf(j.names.journal, ErrLocked, "it was repaired during the compaction; try again")
	}
	defer func() {
		if err != nil { // the files are somewhere between: the state is read again before it is used again
			c.l.mu.Lock()
			c.l.mem.loaded = false
			c.l.mu.Unlock()
		}
	}()
	info, err := j.f.Stat()
	if err != nil {
		return err
	}
	data, err := j.f.readRange(at.off, info.Size()) // of the journal, which may be large, what the snapshot has not
	if err != nil {
		return err
	}
	h := at.head
	h.Base, h.Prev, h.At = at.seq, hexSum(at.prev), at.at
	p, err := j.writeNew(h, after(scan(data, at.off).lines, at.seq), j.pos)
	if err != nil {
		return err
	}
	if err := j.switchSnapshot(); err != nil {
		return err
	}
	c.l.mu.Lock() // the position moves, so no view may look meanwhile
	defer c.l.mu.Unlock()
	if err := j.switchToNew(p); err != nil {
		return err
	}
	c.l.mem.set(c.l.mem.state)
	return nil
}

// A long-lived log compacts when the journal is larger than both growth and a quarter of the
// snapshot (growthShare). It also does so when nothing was written for idleAfter and the
// journal is larger than a part of the snapshot (idleShare).
const (
	growth      = 1 << 20
	growthShare = 4
	idleAfter   = 5 * time.Second
	idleShare   = 64
	retryAfter  = time.Minute
)

// background runs the goroutines of a long-lived log: one compacts, one follows the remote log.
type background[S, E any] struct {
	l       *Log[S, E]
	cancel  context.CancelFunc
	written chan struct{}
	wg      sync.WaitGroup
}

func (b *background[S, E]) start(l *Log[S, E]) {
	var ctx context.Context
	ctx, b.cancel = context.WithCancel(context.Background())
	b.l, b.written = l, make(chan struct{}, 1)
	b.keepGoing(ctx, b.compact)
	if l.replica != nil {
		b.keepGoing(ctx, l.replica.follow)
	}
	b.noteWrite() // what commands left behind
}

func (b *background[S, E]) stop() {
	if b.cancel != nil {
		b.cancel()
		b.wg.Wait()
	}
}

// keepGoing runs f until ctx ends. What others wrote must not end the program, if f panics over it:
// then it begins again a little later.
func (b *background[S, E]) keepGoing(ctx context.Context, f func(context.Context)) {
	once := func() (panicked bool) {
		defer func() {
			if p := recover(); p != nil {
				b.l.o.Logger.Error("the background panicked", "dir", b.l.j.path, "panic", p, "stack", string(debug.Stack()))
				panicked = pause(ctx, retryAfter) == nil
			}
		}()
		f(ctx)
		return false
	}
	b.wg.Go(func() {
		for once() {
		}
	})
}

// noteWrite says that something was written.
func (b *background[S, E]) noteWrite() {
	select {
	case b.written <- struct{}{}:
	default: // it knows already, or there is no background
	}
}

func (b *background[S, E]) compact(ctx context.Context) {
	idle := time.NewTimer(idleAfter)
	defer idle.Stop()
	var shared sharing
	for {
		worth := func(s Stats) bool { return s.JournalBytes > s.Limit() }
		select {
		case <-ctx.Done():
			return
		case <-b.written:
			idle.Reset(idleAfter)
		case <-idle.C:
			worth = func(s Stats) bool { return s.JournalBytes > s.SnapshotBytes/idleShare }
		}
		b.compactIf(ctx, idle, worth)
		if b.l.replica != nil {
			b.l.replica.shareIf(ctx, &shared)
		}
	}
}

func (b *background[S, E]) compactIf(ctx context.Context, idle *time.Timer, worth func(Stats) bool) {
	b.l.mu.RLock()
	var s Stats
	if j := &b.l.j; j.root != nil {
		s.SnapshotBytes, s.JournalBytes = j.size(j.names.snapshot), j.size(j.names.journal)
	}
	commits := b.l.mem.head.Seq > b.l.j.pos.head.Base
	b.l.mu.RUnlock()
	if !commits || !worth(s) {
		return
	}
	err := b.l.Compact(ctx)
	if err == nil || ctx.Err() != nil {
		return
	}
	if !errors.Is(err, ErrLocked) { // another process compacts: as good
		b.l.o.Logger.Warn("background compaction", "dir", b.l.j.path, "error", err)
	}
	if pause(ctx, retryAfter) == nil {
		idle.Reset(idleAfter)
	}
}
