package knowledge

import (
	"context"
	"strings"

	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/recall"
	"leanctx/knowledge/state"
)

// On is the same store for the same caller, who says what it works on, in a
// sentence. That goes before what its tasks say; nothing is stored.
func (s *Store) On(task string) *Store {
	return &Store{core: s.core, actor: s.actor, files: s.files, task: prose.Clip(task, 2000)}
}

// Task is what the caller is working on, "" where that is not known.
func Task(ctx context.Context, s *Store) string {
	if strings.TrimSpace(s.task) != "" {
		return s.task
	}
	if s.opts.Intent == nil || s.actor.Agent == "" {
		return ""
	}
	task, err := s.opts.Intent(ctx, s.actor.Agent)
	if err != nil {
		s.opts.Logger.Debug("the caller's task is not known", "error", err)
	}
	return prose.Clip(task, 2000)
}

// Related lists the ids of versions that may help with a task, the
// likeliest first. It also lists those too weak for an answer: somebody who begins a task does
// not know what to ask. Nothing counts as read.
func Related(ctx context.Context, s *Store, task string) (related []string, err error) {
	q := Question{Query: task, Prompt: true}
	if err := q.check(); err != nil || q.Query == "" {
		return nil, err
	}
	l := lookup{store: s, question: q, parsed: recall.Parse(q.Query, &recall.Options{NoDates: true})}
	err = l.find(ctx, func(_ query, c *candidates) {
		related = related[:0]
		for _, a := range l.parsed.Related(c.ranked, l.meaning.compared()) {
			related = append(related, c.versions[a.Index].ID)
		}
	})
	return related, err
}

// Naming lists texts that may name files. They are the key, value and sources of facts that bear
// on a task, most facts at most. All such gotchas and patterns are added. Without a task it
// takes what matters most. To look there for names is not to read it: no retrieval is counted,
// and no reminder is met.
func Naming(ctx context.Context, s *Store, task string, most int) ([]string, error) {
	q := Question{Query: task, Limit: most}
	if err := q.check(); err != nil {
		return nil, err
	}
	l := lookup{store: s, question: q}
	r, err := l.answer(ctx)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, f := range r.Facts {
		texts = append(texts, naming(f.Version))
	}
	if q.Query != "" {
		return texts, nil // a search finds gotchas and patterns by itself
	}
	err = s.log.ViewSome(ctx, func(k state.Reader) error {
		for _, room := range []string{fact.RoomPattern, fact.RoomGotcha} {
			for _, v := range k.CurrentIn(room, s.present(k.At)) {
				texts = append(texts, naming(v))
			}
		}
		return nil
	})
	return texts, err
}

// naming is all of a version that may name a file.
func naming(v *fact.Version) string {
	parts := []string{v.Key, fact.Text(v)}
	for _, src := range v.Sources {
		parts = append(parts, src.Ref)
	}
	return strings.Join(parts, "\n")
}
