package history

import (
	"context"
	"time"

	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Happened lists what was recorded after one instant up to another one, each with its author, in no
// order. room may be empty: all.
func Happened(ctx context.Context, s *knowledge.Store, after, to time.Time, room string) (list []Change, err error) {
	err = s.View(ctx, func(st *state.State, _ time.Time) error {
		list = window{after, to}.recorded(nil, st, room)
		return nil
	})
	return list, err
}

// Line is the change in one line. A period that began on the day of the change goes without saying.
func (c Change) Line() string {
	c.dated = c.dated && fact.Day(c.ValidFrom) != fact.Day(c.At)
	return c.text()
}
