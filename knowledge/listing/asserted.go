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

// Asserted lists the current facts that an agent asserted or confirmed since an instant, and the
// patterns and gotchas that it recorded since. It gives category/key, the last one first. It
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
		for i := range st.Patterns {
			if st.Patterns[i].AssertedBy == agent {
				found = append(found, state.PatternVersion(&st.Patterns[i]))
			}
		}
		for i := range st.Gotchas {
			if st.Gotchas[i].AssertedBy == agent {
				found = append(found, state.GotchaVersion(&st.Gotchas[i]))
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
