package agents

import (
	"context"
	"errors"
	"io"

	"leanctx/agents/scratchpad"
	"leanctx/internal/journal"
)

// partialFrom is how many bytes a file has that is read in parts.
const partialFrom = 256 << 10

// OpenSnapshot reads a file but for its scratchpads. Whatever is wrong with it
// is left to those who read it whole.
func (m machine) OpenSnapshot(f io.ReaderAt, size int64, h journal.Header) (*state, bool) {
	if size < m.from || m.whole == nil || m.whole.Load() {
		return nil, false
	}
	src, rest, err := scratchpad.Open(f, size, h.Checksum)
	if err != nil {
		return nil, false
	}
	s, err := decoded(src, rest)
	if err != nil {
		return nil, false
	}
	s.source = src
	return s, true
}

// check is err, or that a message could not be read on the way to it.
func (s *state) check(err error) error {
	if e := s.source.Err(); e != nil {
		return e
	}
	return err
}

// wholly does what do does, and if a message could not be read for it, again on
// a file that was read whole, checksum, repair and all.
func (s *Store) wholly(ctx context.Context, do func() error) error {
	err := do()
	if _, unread := errors.AsType[*scratchpad.ReadError](err); !unread {
		return err
	}
	s.whole.Store(true)
	if err := s.log.Forget(ctx); err != nil {
		return err
	}
	return do()
}

var _ journal.Partial[*state] = machine{}
