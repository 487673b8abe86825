package agents

import (
	"context"

	"leanctx/internal/notice"
)

// Damage tells what is wrong with the registry's file or was since it was
// opened, and with the diaries of the project's agents, and gives the paths of
// what was set aside: damaged files and torn writes. A diary that cannot be read
// is among what is told; err is the registry's.
func (s *Store) Damage(ctx context.Context) (told, aside []string, err error) {
	ids, _, err := s.writers(ctx)
	if err != nil {
		return nil, nil, err
	}
	told, aside = notice.Damage(s.dir, s.log.Warnings(), s.log.Stats())
	for _, id := range ids {
		t, a := s.diaries.Damage(ctx, id)
		told, aside = append(told, t...), append(aside, a...)
	}
	return told, aside, nil
}
