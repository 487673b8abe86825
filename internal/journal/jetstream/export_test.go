package jetstream

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// SweepUploads removes what uploads left that had broken off an hour before now.
func (s *Stream) SweepUploads(ctx context.Context, now time.Time) error {
	d, err := s.connected(ctx)
	if err != nil {
		return err
	}
	b, err := s.objects(ctx, d)
	if err != nil {
		return err
	}
	list, err := b.List(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return err
	}
	return b.sweep(ctx, list, now)
}
