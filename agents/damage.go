package agents

import (
	"context"
	"fmt"
	"path/filepath"

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
		_, err := s.entries(ctx, id)
		if err == nil {
			err = s.withDiary(id, func(log *diaryLog) error {
				t, a := notice.Damage(filepath.Join(s.dir, diaryDir), log.Warnings(), log.Stats())
				for _, text := range t {
					told = append(told, diaryWarning(id, text))
				}
				aside = append(aside, a...)
				return nil
			})
		}
		if err != nil {
			told = append(told, diaryWarning(id, err.Error()))
		}
	}
	return told, aside, nil
}

func diaryWarning(id, text string) string { return fmt.Sprintf("diary of %s: %s", id, text) }
