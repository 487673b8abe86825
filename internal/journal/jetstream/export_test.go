package jetstream

import (
	"context"
	"time"
)

// SweepUploads removes what uploads left that had broken off an hour before now.
func (s *Stream) SweepUploads(ctx context.Context, now time.Time) error {
	b, err := s.objects(ctx)
	if err != nil {
		return err
	}
	_, list, err := b.list(ctx)
	if err != nil {
		return err
	}
	return b.sweep(ctx, list, now)
}

// LookOnlyAtNews has followers look when a message says that there is something new, and at no other
// time.
func (s *Stream) LookOnlyAtNews() { s.look = 24 * time.Hour }
