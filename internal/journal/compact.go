package journal

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
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
	return l.named(l.compacted(ctx, func(root *os.Root, fsys files) error {
		return l.compact(ctx, root, fsys)
	}))
}

// Purge compacts and then removes everything but the current state: the
// previous snapshot and journal, torn writes and damaged files that were set
// aside. The previous snapshot is replaced by a second copy of the current one.
func (l *Log[S, E]) Purge(ctx context.Context) error {
	return l.named(l.compacted(ctx, func(root *os.Root, fsys files) error {
		if err := l.compact(ctx, root, fsys); err != nil {
			return err
		}
		return l.exclusively(ctx, root, func() error { return l.d.purge() })
	}))
}

// compacted runs do as the one process that compacts.
func (l *Log[S, E]) compacted(ctx context.Context, do func(*os.Root, files) error) error {
	select {
	case l.compacting <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-l.compacting }()
	root, fsys, err := l.attach(false)
	if err != nil || fsys == nil { // no directory: nothing to compact
		return err
	}
	wait, cancel := context.WithTimeoutCause(ctx, l.o.LockTimeout, errLate)
	defer cancel()
	return l.d.compact.hold(wait, fsys, func() error { return do(root, fsys) })
}

// exclusively runs do as the one writer, if the directory is still the same.
func (l *Log[S, E]) exclusively(ctx context.Context, root *os.Root, do func() error) error {
	select {
	case l.lead <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-l.lead }()
	wait, cancel := context.WithTimeoutCause(ctx, l.o.LockTimeout, errLate)
	defer cancel()
	return l.underLock(wait, func() error {
		if l.d.root != root {
			return l.d.errorf(l.d.n.compactLock, ErrLocked, "the directory was replaced meanwhile; try again")
		}
		return do()
	})
}

// errOvertaken means that a repair wrote the journal anew, or placed the new
// snapshot, during a compaction.
var errOvertaken = errors.New("the journal was repaired during the compaction; try again")

// compactTries is how often a compaction begins anew if a repair has overtaken it. Each repair
// needs a process that was killed or a disk that failed.
const compactTries = 4

func (l *Log[S, E]) compact(ctx context.Context, root *os.Root, fsys files) (err error) {
	for range compactTries {
		if err = l.compactOnce(ctx, root, fsys); !errors.Is(err, errOvertaken) {
			break
		}
	}
	return err
}

func (l *Log[S, E]) compactOnce(ctx context.Context, root *os.Root, fsys files) error {
	c, err := l.capture(ctx, root)
	if err != nil {
		return err
	}
	if !c.needed {
		return l.dropUnfinished(ctx, root, fsys)
	}
	err = writeSnapshot(fsys, l.d.n.snapshotNew, func(w io.Writer) error {
		return l.m.Encode(&patient{ctx, w}, c.state, c.header(l.o.Schema))
	})
	if err == nil {
		err = fsys.syncDir() // S.new must be there before S.prev is another one: it stands in for S until then
	}
	if err != nil {
		return err
	}
	return l.exclusively(ctx, root, func() error { return l.switchTo(c.pos) })
}

// patient is a writer that gives up when its context ends.
type patient struct {
	ctx context.Context
	w   io.Writer
}

func (p *patient) Write(b []byte) (int, error) {
	if p.ctx.Err() != nil {
		return 0, context.Cause(p.ctx)
	}
	return p.w.Write(b)
}

// captured is the state that a snapshot will hold.
type captured[S any] struct {
	state  S
	pos    position
	needed bool
}

func (c captured[S]) header(schema int) Header {
	return Header{Schema: schema, Seq: c.pos.seq, Generation: c.pos.head.Generation + 1, At: c.pos.at.UTC(), Checksum: noChecksum}
}

func (l *Log[S, E]) capture(ctx context.Context, root *os.Root) (c captured[S], err error) {
	err = l.exclusively(ctx, root, func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.started { // the state may be but a part of that in the snapshot
			if err := errors.Join(l.load(true), l.d.openForWriting()); err != nil {
				return err
			}
		}
		c.pos = l.d.pos
		if l.d.j == nil || c.pos.seq == 0 {
			return nil
		}
		if _, err := l.d.fs.stat(l.d.n.snapshot); err == nil && c.pos.head.Base == c.pos.seq {
			return nil
		}
		// The tail may be a killed writer's that nobody synced. Were it in a
		// snapshot and then, after a power cut, not in the journal,
		// another commit would get its number.
		if err := l.d.j.Sync(); err != nil {
			return err
		}
		c.state, c.needed = l.m.Clone(l.state), true
		return nil
	})
	return c, err
}

// dropUnfinished removes the S.new of a compaction that was killed, when there is nothing left to compact. One that
// compacts again writes over it. Were S damaged, S.prev or J.prev would take its place: J was begun after them.
func (l *Log[S, E]) dropUnfinished(ctx context.Context, root *os.Root, fsys files) error {
	if _, err := fsys.stat(l.d.n.snapshotNew); err != nil {
		return nil // mostly there is none
	}
	return l.exclusively(ctx, root, func() error { return removeIfThere(l.d.fs, l.d.n.snapshotNew) })
}

// switchTo has S.new and a journal after it take the places of S and J.
func (l *Log[S, E]) switchTo(at position) (err error) {
	d := l.d
	if d.j == nil || d.pos.head.Generation != at.head.Generation {
		return errOvertaken
	}
	// A writer that found no S may have put S.new in its place meanwhile.
	if _, err := d.fs.stat(d.n.snapshotNew); errors.Is(err, fs.ErrNotExist) {
		return errOvertaken
	}
	defer func() {
		if err != nil {
			l.reload() // the files are somewhere between
		}
	}()
	info, err := d.j.Stat()
	if err != nil {
		return err
	}
	data, err := readRange(d.j, at.off, info.Size()) // of the journal, which may be large, what the snapshot has not
	if err != nil {
		return err
	}
	lines := after(scan(data, at.off).lines, at.seq)
	h := at.head
	h.Base, h.Prev, h.At = at.seq, hexSum(at.prev), at.at
	if err := d.writeJournal(h, lines); err != nil {
		return err
	}
	if err := d.switchSnapshot(); err != nil {
		return err
	}
	return l.switchJournal(h, lines)
}

// switchJournal moves the position too, so that no view may look meanwhile.
func (l *Log[S, E]) switchJournal(h header, lines []line) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.d.switchJournal(h, lines, l.d.pos.at); err != nil {
		return err
	}
	l.setState(l.state)
	return nil
}

// reload has the state read anew before it is used again.
func (l *Log[S, E]) reload() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loaded = false
}

// switchSnapshot keeps S and J under their .prev names and then lets S.new be S.
func (d *disk) switchSnapshot() error {
	if err := d.keepPrev(d.n.snapshot, d.n.snapshotPrev); err != nil {
		return err
	}
	if err := d.keepPrev(d.n.journal, d.n.journalPrev); err != nil {
		return err
	}
	if err := d.fs.syncDir(); err != nil { // S.prev must be there before S is another one
		return err
	}
	// No sync before J is switched too: were only that on disk after a power
	// cut, S, J.prev and J would still be complete.
	return d.fs.rename(d.n.snapshotNew, d.n.snapshot)
}

func (d *disk) keepPrev(name, prev string) error {
	if _, err := d.fs.stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := removeIfThere(d.fs, prev); err != nil {
		return err
	}
	return d.linkOrRename(name, prev)
}

// purge removes what is not the current state. S.prev becomes a copy of S, so
// that damage to one snapshot is still no loss.
func (d *disk) purge() error {
	data, err := readName(d.fs, d.n.snapshot)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := d.twin(d.n.snapshotNew, data); err != nil {
		return err
	}
	gone, err := d.asides()
	if err != nil {
		return err
	}
	if doubts, _ := readName(d.fs, d.n.doubt); len(after(scan(doubts, 0).lines, d.pos.seq)) == 0 {
		gone = append(gone, d.n.doubt) // their numbers are taken; what is in the log may have been erased
	}
	for _, name := range append(gone, d.n.fetched, d.n.journalNew) {
		if err := removeIfThere(d.fs, name); err != nil {
			return err
		}
	}
	return d.fs.syncDir() // what is gone must not come back after a power cut
}

// twin writes the current snapshot once more, as S.prev, and removes J.prev, which went with the
// former S.prev. temporary is the name that it is written under.
func (d *disk) twin(temporary string, snapshot []byte) error {
	if err := writeName(d.fs, temporary, snapshot); err != nil {
		return err
	}
	if err := d.fs.rename(temporary, d.n.snapshotPrev); err != nil {
		return err
	}
	if err := d.fs.syncDir(); err != nil { // what was S.prev needs J.prev, which goes next
		return err
	}
	if err := removeIfThere(d.fs, d.n.journalPrev); err != nil {
		return err
	}
	return d.fs.syncDir()
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

// background is the goroutine that compacts.
type background struct {
	cancel  context.CancelFunc
	written chan struct{}
	wg      sync.WaitGroup
}

func (l *Log[S, E]) startBackground() {
	ctx, cancel := context.WithCancel(context.Background())
	l.background.cancel = cancel
	l.background.written = make(chan struct{}, 1)
	l.background.wg.Go(func() { l.compactLoop(ctx) })
	if l.o.Remote != nil {
		l.background.wg.Go(func() { l.follow(ctx) })
	}
	l.noteWrite() // what commands left behind
}

func (l *Log[S, E]) stopBackground() {
	if l.background.cancel != nil {
		l.background.cancel()
		l.background.wg.Wait()
	}
}

// noteWrite says that something was written.
func (l *Log[S, E]) noteWrite() {
	select {
	case l.background.written <- struct{}{}:
	default: // it knows already, or there is no background
	}
}

func (l *Log[S, E]) compactLoop(ctx context.Context) {
	idle := time.NewTimer(idleAfter)
	defer idle.Stop()
	var shared sharing
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.background.written:
			idle.Reset(idleAfter)
			l.compactIf(ctx, idle, func(snapshot, journal int64) bool {
				return journal > Stats{SnapshotBytes: snapshot}.Limit()
			})
			l.shareIf(ctx, &shared)
		case <-idle.C:
			l.compactIf(ctx, idle, func(snapshot, journal int64) bool {
				return journal > snapshot/idleShare
			})
			l.shareIf(ctx, &shared)
		}
	}
}

func (l *Log[S, E]) compactIf(ctx context.Context, idle *time.Timer, worth func(snapshot, journal int64) bool) {
	l.mu.RLock()
	var snapshot, journal int64
	if l.d.fs != nil {
		snapshot, journal = l.d.size(l.d.n.snapshot), l.d.size(l.d.n.journal)
	}
	commits := l.head.Seq > l.d.pos.head.Base
	l.mu.RUnlock()
	if !commits || !worth(snapshot, journal) {
		return
	}
	err := l.Compact(ctx)
	if err == nil || ctx.Err() != nil {
		return
	}
	if !errors.Is(err, ErrLocked) { // another process compacts: as good
		l.o.Logger.Warn("background compaction", "dir", l.d.dir, "error", err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(retryAfter):
		idle.Reset(idleAfter)
	}
}
