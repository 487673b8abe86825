package knowledge

import (
	"context"
	"strings"

	"leanctx/internal/prose"
	"leanctx/knowledge/intent"
)

// On is the same store for the same caller, who says what it works on, in a
// sentence. That goes before what its tasks say; nothing is stored.
func (s *Store) On(task string) *Store {
	return &Store{core: s.core, actor: s.actor, task: prose.Clip(task, 2000)}
}

// Intent asks what the caller is working on. What is not known breaks no tie.
func (s *Store) Intent(ctx context.Context) intent.Words {
	if strings.TrimSpace(s.task) != "" {
		return intent.Of(s.task)
	}
	if s.opts.Intent == nil || s.actor.Agent == "" {
		return nil
	}
	task, err := s.opts.Intent(ctx, s.actor.Agent)
	if err != nil {
		s.opts.Logger.Debug("the caller's task is not known", "error", err)
		return nil
	}
	return intent.Of(task)
}
