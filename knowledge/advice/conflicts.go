package advice

import (
	"cmp"
	"slices"

	"leanctx/knowledge"
	"leanctx/knowledge/conflict"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Conflict is two facts under different names that likely cannot both hold.
type Conflict struct {
	Newer      knowledge.Name `json:"newer"`
	NewerValue string         `json:"newer_value"`
	Older      knowledge.Name `json:"older"`
	OlderValue string         `json:"older_value"`
	Replaced   bool           `json:"replaced"` // the newer one names the older one's value as replaced
}

// The bounds of the search for conflicts: so many of the newest facts, and of those
// that share a word so many of the newest. A word that more facts have says little.
const (
	conflictFacts  = 1000
	conflictShared = 16
)

// conflicts lists likely conflicts under different names that nobody judged, the
// newest first.
func conflicts(st *state.State, facts []*fact.Version) []Conflict {
	facts = slices.Clone(facts)
	slices.SortFunc(facts, func(a, b *fact.Version) int {
		return cmp.Or(b.RecordedFrom.Compare(a.RecordedFrom), b.ValidFrom.Compare(a.ValidFrom), fact.ByName(a, b))
	})
	facts = facts[:min(len(facts), conflictFacts)]
	forms, with := make([]conflict.Form, len(facts)), map[string][]int{}
	for i, v := range facts {
		forms[i] = conflict.Of(conflict.Statement{Name: v.Category + "/" + v.Key, Value: v.Value})
		for _, t := range forms[i].Mentions() {
			with[t] = append(with[t], i)
		}
	}
	out := []Conflict{}
	for i, v := range facts {
		seen := map[int]bool{}
		for _, t := range forms[i].Words() {
			older := with[t]
			if at, _ := slices.BinarySearch(older, i+1); at < len(older) {
				older = older[at:]
			} else {
				continue
			}
			for _, j := range older[:min(len(older), conflictShared)] {
				w := facts[j]
				if seen[j] || nameOf(v) == nameOf(w) {
					continue
				}
				seen[j] = true
				kind := forms[j].Before(forms[i])
				if kind == conflict.None || knowledge.Judged(st.Judged, fact.IDOf(v.Category, v.Key), fact.IDOf(w.Category, w.Key)) {
					continue
				}
				out = append(out, Conflict{nameOf(v), v.Value, nameOf(w), w.Value, kind == conflict.Replaced})
			}
		}
	}
	return out
}
