package knowledge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"leanctx/internal/journal"
)

// How long a command may work after it has answered: on the index, on a missing index, and on a
// journal that slows every command.
const (
	settleTime  = 200 * time.Millisecond
	settleFirst = 2 * time.Second
	settleLong  = 3 * time.Second
)

const (
	syncTail   = 64        // facts that may be only in memory before the index is written
	wakeEach   = 500       // commits after which a server writes the index
	maxBuild   = 2000      // facts that a command builds an index of after its answer
	overgrowth = 4         // times its limit that a journal may be long
	maxSettled = 128 << 20 // bytes of a journal that a command compacts
)

// tidyEach is how often a long-lived store looks after its index, its vectors
// and whether a maintenance pass is due.
const tidyEach = 10 * time.Second

// After this work a store waits pauseTimes as long as it took. That leaves the processor to
// writers, and the next index takes in more facts at once.
const (
	pauseTimes = 4
	maxPause   = 2 * time.Second
)

// background is a store's work beside its calls: in a server between them, in a command after
// its answer.
type background struct {
	store   *Store // in nobody's name
	stop    context.CancelFunc
	running sync.WaitGroup
	behind  chan struct{} // signals that many facts are only in memory
	commits atomic.Int64  // of single facts
}

func (b *background) start(s *Store) {
	var ctx context.Context
	ctx, b.stop = context.WithCancel(context.Background())
	b.store, b.behind = s, make(chan struct{}, 1)
	if s.opts.LongLived {
		b.running.Go(func() { b.run(ctx) })
	}
}

// end stops a server's work, or does a command's.
func (b *background) end() {
	b.stop()
	b.running.Wait()
	if b.store.opts.LongLived {
		b.within(settleLong, "what agents wrote did not become facts", b.consolidate)
	} else {
		b.settle()
	}
	b.store.log.Settle()
}

// consolidate makes facts of what agents wrote down, for the next session.
func (b *background) consolidate(ctx context.Context) error {
	if b.store.opts.Findings == nil || !b.store.used.Load() {
		return nil
	}
	_, err := Consolidate(ctx, b.store, Promotion{Unasked: true})
	return err
}

// run is the work of a long-lived store, until ctx ends.
func (b *background) run(ctx context.Context) {
	s := b.store
	tick := time.NewTicker(tidyEach)
	defer tick.Stop()
	var maintained time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-b.behind:
		}
		begun := time.Now()
		if err := s.log.Sync(ctx, syncTail, nil); err != nil && ctx.Err() == nil {
			s.opts.Logger.Debug("the index was not written", "error", err)
		}
		s.vectors.keep(ctx)
		if err := s.eraser.follow(ctx); err != nil && ctx.Err() == nil {
			s.opts.Logger.Debug("what others erased is still on the disk", "error", err)
		}
		if t := s.Now(); t.Sub(maintained) >= maintainEach {
			maintained = t
			if err := b.consolidate(ctx); err != nil && ctx.Err() == nil {
				s.opts.Logger.Warn("what agents wrote did not become facts", "error", err)
			}
			if _, err := (maintenance{s, false}).run(ctx); err != nil && ctx.Err() == nil {
				s.opts.Logger.Warn("the maintenance pass did not run", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(pauseTimes*time.Since(begun), maxPause)):
		}
	}
}

// committed counts a commit of single facts. After many a server writes the index, so that the
// next question does not have to index all of a burst.
func (b *background) committed() {
	if b.store.opts.LongLived && b.commits.Add(1)%wakeEach == 0 {
		b.wake()
	}
}

// wake has a server write the index now.
func (b *background) wake() {
	select {
	case b.behind <- struct{}{}:
	default: // it knows
	}
}

// settle is what a command does after its answer, so that the next one is fast.
func (b *background) settle() {
	b.settleErased()
	b.settleJournal()
	synced, much := b.settleIndex()
	if many := b.store.vectors.settle(synced); much || many {
		b.detach()
	}
}

// detachAgain is how long after one process was started that makes index and vectors no other is. It
// has taken the lock by then; if it failed, so may the next.
const detachAgain = 5 * time.Minute

// detach starts another process that makes index and vectors, unless one is at it or has just failed.
func (b *background) detach() {
	s := b.store
	if s.opts.Detach == nil {
		return
	}
	if at, err := os.Stat(filepath.Join(s.dir, deriveLock)); err == nil {
		if age := time.Since(at.ModTime()); age >= 0 && age < detachAgain {
			return
		}
	}
	if done, ok := s.derives(); ok {
		done(errStarted)
		s.opts.Detach()
	}
}

// errStarted says that index and vectors are still to be made.
var errStarted = errors.New("another process makes them")

// within does what is left to do after an answer, for so long at most. What fails is only logged.
func (b *background) within(limit time.Duration, failure string, do func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := do(ctx); err != nil {
		b.store.opts.Logger.Debug(failure, "error", err)
	}
}

// settleErased takes off the disk what another machine of the team erased.
func (b *background) settleErased() {
	if s := b.store; s.used.Load() {
		b.within(settleLong, "what others erased is still on the disk", s.eraser.follow)
	}
}

// settleJournal compacts what somebody left behind who was killed: every command
// reads all of a journal. One within [Overgrown] is left to servers and imports,
// and one so long that the time would not do to the command that health names.
func (b *background) settleJournal() {
	if at := b.store.log.Stats(); Overgrown(at) && at.JournalBytes <= maxSettled {
		b.within(settleLong, "the journal was not compacted", b.store.log.Compact)
	}
}

// settleIndex writes the index if the answer had to bring it up to many facts, and
// reports whether it did. A large store without an index takes too long: much is true.
func (b *background) settleIndex() (synced, much bool) {
	s := b.store
	at := s.log.IndexStatus()
	switch {
	case at.Pending < syncTail || at.Newer:
		return false, false
	case !at.Stored && at.Pending > maxBuild:
		return false, true
	}
	limit := settleTime
	if !at.Stored {
		limit = settleFirst
	}
	b.within(limit, "the index was not written", func(ctx context.Context) error { return s.log.Sync(ctx, syncTail, nil) })
	return true, false
}

// Overgrown reports whether a journal is several times as long as it should get.
func Overgrown(at journal.Stats) bool { return at.JournalBytes > overgrowth*at.Limit() }

// OvergrownLine says what a journal costs that is several times its limit.
func OvergrownLine(size int64) string {
	return fmt.Sprintf("Journal: %d MB that every command reads: lean-ctx compact puts it into the snapshot", size>>20)
}
