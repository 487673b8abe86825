package share

import (
	"context"

	"leanctx/internal/journal"
	"leanctx/internal/notice"
)

// Damage tells what is wrong with the shares' file or was since it was opened,
// and gives the paths of what was set aside: damaged files and torn writes.
func (s *Store) Damage(ctx context.Context) (told, aside []string, err error) {
	if err := s.log.View(ctx, func(*state, journal.Head) error { return nil }); err != nil {
		return nil, nil, err
	}
	told, aside = notice.Damage(s.dir, s.log.Warnings(), s.log.Stats())
	return told, aside, nil
}
