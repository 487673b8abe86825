package knowledge

import (
	"context"
	"time"
)

// How long a command may spend on the index after it has answered. Without a
// generation on disk it is worth more: every later command would index all
// facts again before it answers.
const (
	settleTime  = 200 * time.Millisecond
	settleFirst = 2 * time.Second
)

// tidyEach is how often a long-lived store looks after its index and whether a
// maintenance pass is due.
const tidyEach = 10 * time.Second

// keep is the background work of a long-lived store, until ctx ends.
func (s *Store) keep(ctx context.Context) {
	tick := time.NewTicker(tidyEach)
	defer tick.Stop()
	var maintained time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := s.SyncIndex(ctx); err != nil && ctx.Err() == nil {
			s.opts.Logger.Debug("the index was not written", "error", err)
		}
		if err := s.SyncKeys(ctx); err != nil && ctx.Err() == nil {
			s.opts.Logger.Debug("the key table was not written", "error", err)
		}
		if t := s.clock(); t.Sub(maintained) >= maintainEach {
			maintained = t
			if _, err := s.Maintain(ctx, false); err != nil && ctx.Err() == nil {
				s.opts.Logger.Warn("the maintenance pass did not run", "error", err)
			}
		}
	}
}

// settle is what a command does after its answer: if it had to index many
// facts for it, or to read all of them, the next one should not have to.
func (s *Store) settle() {
	s.settleIndex()
	if !s.parts.refused.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleFirst)
	defer cancel()
	if err := s.writeKeys(ctx); err != nil {
		s.opts.Logger.Debug("the key table was not written", "error", err)
	}
}

func (s *Store) settleIndex() {
	s.ix.mu.Lock()
	index := s.ix.index
	s.ix.mu.Unlock()
	if index == nil || index.Pending() < syncTail {
		return
	}
	limit := settleTime
	if _, _, ok := index.Since(); !ok {
		limit = settleFirst
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := s.SyncIndex(ctx); err != nil {
		s.opts.Logger.Debug("the index was not written", "error", err)
	}
}
