package listing

import (
	"cmp"
	"context"
	"slices"
	"time"

	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Asserted lists the current facts that an agent asserted or confirmed since an instant. It gives category/key, the last one first. It
// needs every fact, so it is for what happens seldom: a handoff.
func Asserted(ctx context.Context, s *knowledge.Store, agent string, since time.Time) ([]string, error) {
	if agent == "" {
		return nil, nil
	}
	var out []string
	err := s.View(ctx, func(st *state.State, now time.Time) error {
		var found []*fact.Version
		for n, v := range st.Each() {
			if v.AssertedBy == agent && v.ArchivedAt == nil && fact.HoldsAt(v, st.Versions(n), now) {
				found = append(found, v)
			}
		}
		found = slices.DeleteFunc(found, func(v *fact.Version) bool { return v.LastConfirmed.Before(since) })
		slices.SortFunc(found, func(a, b *fact.Version) int {
			return cmp.Or(b.LastConfirmed.Compare(a.LastConfirmed), fact.ByName(a, b))
		})
		out = make([]string, len(found))
		for i, v := range found {
			out[i] = v.Category + "/" + v.Key
		}
		return nil
	})
	return out, err
}
