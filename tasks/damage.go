package tasks

import (
	"context"
	"time"

	"leanctx/internal/notice"
)

// Damage tells what is wrong with the tasks' file or was since it was opened,
// and gives the paths of what was set aside: damaged files and torn writes.
func (s *Store) Damage(ctx context.Context) (told, aside []string, err error) {
	if err := s.view(ctx, func(*board, time.Time) error { return nil }); err != nil {
		return nil, nil, err
	}
	told, aside = notice.Damage(s.dir, s.log.Warnings(), s.log.Stats())
	return told, aside, nil
}
