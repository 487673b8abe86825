package knowledge

import (
	"context"
	"fmt"
	"time"

	"leanctx/internal/journal"
)

// How long a command may spend on the index after it has answered. Without a
// generation on disk it is worth more: every later command would index all
// facts again before it answers.
const (
	settleTime  = 200 * time.Millisecond
	settleFirst = 500 * time.Millisecond
)

// How many times its limit a journal may be long before a command spends time
// on it after its answer, how long at most, and from which length in bytes on
// that time would be too short.
const (
	overgrowth = 4
	settleLong = 3 * time.Second
	settleMost = 128 << 20
)

// tidyEach is how often a long-lived store looks after its index and whether a
// maintenance pass is due.
const tidyEach = 10 * time.Second

// bindAfter is how often in a row an index that is missing cannot be written before it is made in memory: damage that
// was met on the way is mended by then.
const bindAfter = 3

// keep is the background work of a long-lived store, until ctx ends.
func (s *Store) keep(ctx context.Context) {
	tick := time.NewTicker(tidyEach)
	defer tick.Stop()
	var maintained time.Time
	failed := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.ix.wanted:
		}
		if err := s.SyncIndex(ctx); err != nil && ctx.Err() == nil {
			s.opts.Logger.Debug("the index was not written", "error", err)
			if failed++; failed == bindAfter {
				s.bind(ctx)
			}
		} else {
			failed = 0
		}
		if t := s.Now(); t.Sub(maintained) >= maintainEach {
			maintained = t
			if _, err := s.Maintain(ctx, false); err != nil && ctx.Err() == nil {
				s.opts.Logger.Warn("the maintenance pass did not run", "error", err)
			}
		}
	}
}

// bind has an index that is missing and cannot be written made in memory.
func (s *Store) bind(ctx context.Context) {
	s.ix.mu.Lock()
	s.ix.bound = s.ix.lacking
	s.ix.mu.Unlock()
	if _, _, err := s.catchUp(ctx); err != nil && ctx.Err() == nil {
		s.opts.Logger.Debug("no index", "error", err)
	}
}

// settle is what a command does after its answer: if it had to index many
// facts for it, or to read all of them, the next one should not have to.
func (s *Store) settle() {
	defer s.settleVectors()
	defer s.settleIndex()
	s.settleJournal()
}

// settleJournal compacts what somebody left behind who was killed, and tells
// whether it did: every command reads all of a journal. One within [Overgrown]
// is left to servers and imports, and one so long that the time would not do is
// left to the command that health names.
func (s *Store) settleJournal() bool {
	at := s.log.Stats()
	if !Overgrown(at) || at.JournalBytes > settleMost {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleLong)
	defer cancel()
	err := s.Compact(ctx)
	if err != nil {
		s.opts.Logger.Debug("the journal was not compacted", "error", err)
	}
	return err == nil
}

// Overgrown tells whether a journal is several times as long as it should get.
func Overgrown(at journal.Stats) bool { return at.JournalBytes > overgrowth*at.Limit() }

func (s *Store) settleIndex() {
	s.ix.mu.Lock()
	index, lacking := s.ix.index, s.ix.lacking
	s.ix.mu.Unlock()
	if index == nil {
		return
	}
	limit := settleTime
	if _, _, ok := index.Since(); !ok {
		limit = settleFirst
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if index.Pending() < syncTail && !lacking && !index.Scattered(ctx) {
		return
	}
	if err := s.SyncIndex(ctx); err != nil {
		s.opts.Logger.Debug("the index was not written", "error", err)
	}
}

// OvergrownLine says what a journal costs that is several times its limit.
func OvergrownLine(size int64) string {
	return fmt.Sprintf("Journal: %d MB that every command reads: lean-ctx compact puts it into the snapshot", size>>20)
}
