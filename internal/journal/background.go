package journal

import (
	"context"
	"errors"
	"sync"
	"time"
)

// When a long-lived log compacts: when the journal is larger than both
// growth and a quarter of the snapshot, or when nothing was written for a while and it is
// worth the writing of a snapshot.
const (
	growth      = 1 << 20
	growthShare = 4
	idleAfter   = 5 * time.Second
	idleShare   = 64
	retryAfter  = time.Minute
)

// background is the goroutine that compacts.
type background struct {
	cancel context.CancelFunc
	nudged chan struct{}
	wg     sync.WaitGroup
}

func (l *Log[S, E]) startBackground() {
	ctx, cancel := context.WithCancel(context.Background())
	l.background.cancel = cancel
	l.background.nudged = make(chan struct{}, 1)
	l.background.wg.Go(func() { l.tend(ctx) })
	l.nudge() // what commands left behind
}

func (l *Log[S, E]) stopBackground() {
	if l.background.cancel != nil {
		l.background.cancel()
		l.background.wg.Wait()
	}
}

// nudge says that something was written.
func (l *Log[S, E]) nudge() {
	select {
	case l.background.nudged <- struct{}{}:
	default: // it knows already, or there is no background
	}
}

func (l *Log[S, E]) tend(ctx context.Context) {
	idle := time.NewTimer(idleAfter)
	defer idle.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.background.nudged:
			idle.Reset(idleAfter)
			l.compactIf(ctx, idle, func(snapshot, journal int64) bool {
				return journal > Stats{SnapshotBytes: snapshot}.Limit()
			})
		case <-idle.C:
			l.compactIf(ctx, idle, func(snapshot, journal int64) bool {
				return journal > snapshot/idleShare
			})
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
