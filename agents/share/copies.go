package share

import (
	"context"

	"leanctx/internal/journal"
)

// Copies names the shares that hold something, in their message or in a file as
// it was shared: share:<id> and share:<id>/<path>. It is for who erases
// something elsewhere; nothing is changed. A file whose contents cannot be read
// any more holds nothing.
func (s *Store) Copies(ctx context.Context, holds func(text string) bool) (refs []string, err error) {
	var list []*shared
	err = s.log.View(ctx, func(st *state, _ journal.Head) error {
		list = st.sorted()
		return nil
	})
	for _, x := range list {
		if holds(x.Message) {
			refs = append(refs, "share:"+x.ID)
		}
		for _, f := range x.Files {
			if text, ok := s.contents(x.ID, f); ok && holds(text) {
				refs = append(refs, "share:"+x.ID+"/"+f.Path)
			}
		}
		if ctx.Err() != nil {
			return refs, context.Cause(ctx)
		}
	}
	return refs, err
}
