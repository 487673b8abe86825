package knowledge

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
)

// intent is the words of what the caller is working on. It decides only where
// nothing else does: between facts that are as relevant, or as salient, as
// each other.
type intent []string

// intentWord is how many characters a word of a task must have: shorter ones
// are mostly and, the, to.
const intentWord = 4

// On is the same store for the same caller, who says what it works on, in a
// sentence. That goes before what its tasks say; nothing is stored.
func (s *Store) On(task string) *Store {
	return &Store{core: s.core, actor: s.actor, task: prose.Clip(task, 2000)}
}

// intent asks what the caller is working on. What is not known breaks no tie.
func (s *Store) intent(ctx context.Context) intent {
	if strings.TrimSpace(s.task) != "" {
		return intentOf(s.task)
	}
	if s.opts.Intent == nil || s.actor.Agent == "" {
		return nil
	}
	task, err := s.opts.Intent(ctx, s.actor.Agent)
	if err != nil {
		s.opts.Logger.Debug("the caller's task is not known", "error", err)
		return nil
	}
	return intentOf(task)
}

func intentOf(task string) (out intent) {
	for _, w := range fact.Terms(task) {
		if utf8.RuneCountInString(w) >= intentWord && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// meets counts the words that a text shares with what is worked on. A word
// counts also for one that begins with it: login, logins.
func (i intent) meets(texts ...string) (n int) {
	if len(i) == 0 {
		return 0
	}
	var words []string
	for _, text := range texts {
		words = append(words, fact.Terms(prose.Clip(text, 1000))...)
	}
	for _, w := range i {
		if slices.ContainsFunc(words, func(x string) bool { return strings.HasPrefix(x, w) }) {
			n++
		}
	}
	return n
}
