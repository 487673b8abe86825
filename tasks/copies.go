package tasks

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Copies names the project's tasks that hold something, in their title,
// description, thread, history or artifacts: task:t-a3f8c1. It is for who erases
// something elsewhere; nothing is changed.
func (s *Store) Copies(ctx context.Context, holds func(text string) bool) (refs []string, err error) {
	err = s.view(ctx, func(b *board, _ time.Time) error {
		refs = nil
		all, err := b.each(s.opts.ProjectHash, true)
		if err != nil {
			return err
		}
		for r := range all {
			t, err := r.open()
			if err != nil {
				return err
			}
			if holds(r.Title) || t.holds(holds) {
				refs = append(refs, "task:"+r.ID)
			}
		}
		return nil
	})
	slices.Sort(refs)
	return refs, err
}

func (t *thread) holds(holds func(text string) bool) bool {
	return holds(t.Description) || holds(strings.Join(t.References, "\n")) ||
		slices.ContainsFunc(t.Messages, func(m Message) bool { return holds(m.Text) }) ||
		slices.ContainsFunc(t.History, func(h Transition) bool { return holds(h.Why) }) ||
		slices.ContainsFunc(t.Artifacts, func(a Artifact) bool { return holds(a.Name) || holds(a.Text) })
}
