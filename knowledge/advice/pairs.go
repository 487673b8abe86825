package advice

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"leanctx/embed/vectors"
	"leanctx/formats"
	"leanctx/knowledge"
	"leanctx/knowledge/conflict"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/meaning"
	"leanctx/knowledge/state"
	"leanctx/knowledge/verdict"
)

// Conflict is two facts under different names that likely cannot both hold.
type Conflict struct {
	Newer      knowledge.Name `json:"newer"`
	NewerValue string         `json:"newer_value"`
	Older      knowledge.Name `json:"older"`
	OlderValue string         `json:"older_value"`
	Replaced   bool           `json:"replaced"` // the newer one names the older one's value as replaced

	newer, older fact.Trust
}

// The bounds of the search for conflicts: how many of the newest facts are compared, and with how many of
// the newest that share a word. A word that more facts have says little.
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
				out = append(out, Conflict{nameOf(v), v.Value, nameOf(w), w.Value, kind == conflict.Replaced, fact.TrustIn(v), fact.TrustIn(w)})
			}
		}
	}
	return out
}

// Pair is two facts that say nearly the same.
type Pair struct {
	First       knowledge.Name `json:"first"`
	FirstValue  string         `json:"first_value"`
	Second      knowledge.Name `json:"second"`
	SecondValue string         `json:"second_value"`
	Cosine      float64        `json:"cosine"` // of their meanings, by the built-in encoder

	first, second fact.Trust
}

// Health looks for facts that say nearly the same. The bound is a number of comparisons and not
// a time, so it finds the same each time. It compares each of 3,100 facts with all others, or
// the newest 250 of 20,000 with all, and says so. That is up to a second of one processor. Where
// there are more than 40,000 versions, so that it would look at few, it does not look.
//
// At .85 there are some 25 pairs among the 240 facts of a conversation of LoCoMo, of which most
// could be left out. There are 4 among 294 general statements. Of the 1,770 pairs of 60
// different facts about one program none is as near. Numbers and names with digits have no
// nearness: ports 8001 and 8002 are two facts. Nor has a not: one that runs and one that does
// not are near in meaning, and no duplicates.
const (
	nearFloor    = 0.85
	nearWork     = 5_000_000
	nearVersions = 40_000
	nearEach     = 16 // pairs of one fact
)

// newestOf says how many of the newest facts were compared with all.
func newestOf(facts int) int {
	if facts*(facts-1)/2 <= nearWork {
		return facts
	}
	return nearWork / facts
}

// nearEncoder makes the vectors that health needs and gives the encoder, nil where
// there are none.
func nearEncoder(ctx context.Context, s *knowledge.Store) (*vectors.Encoding, error) {
	few := false
	if err := s.View(ctx, func(st *state.State, _ time.Time) error {
		few = st.VersionCount() <= nearVersions
		return nil
	}); err != nil || !few {
		return nil, err
	}
	return knowledge.BuiltInVectors(ctx, s)
}

// nearDuplicates lists the pairs of which one is among the newest facts, the nearest
// first, and tells how many were compared with all.
func nearDuplicates(ctx context.Context, s *knowledge.Store, e vectors.Encoding, facts []*fact.Version, judged []formats.JudgedPair) ([]Pair, int, error) {
	slices.SortFunc(facts, func(a, b *fact.Version) int {
		if c := cmp.Or(b.RecordedFrom.Compare(a.RecordedFrom), b.ValidFrom.Compare(a.ValidFrom)); c != 0 {
			return c // what was imported at once has one time
		}
		return fact.ByName(a, b)
	})
	texts, marks := make([]vectors.Text, len(facts)), make([][]string, len(facts))
	for i, v := range facts {
		texts[i], marks[i] = meaning.Of(v), fact.Marks(v.Value)
	}
	first := newestOf(len(facts))
	near, err := s.Vectors().Pairs(ctx, vectors.Pairing{
		Encoder: e.Name, Texts: texts, First: first, MinCosine: nearFloor, Limit: nearEach,
		Allowed: func(i, j int) bool { // the same value is listed apart
			v, w := facts[i], facts[j]
			return nameOf(v) != nameOf(w) && slices.Equal(marks[i], marks[j]) && verdict.Compare("", v.Value, w.Value) != verdict.Equal
		},
	})
	if err != nil {
		return nil, 0, err
	}
	pairs := []Pair{}
	for _, p := range near {
		v, w := facts[p.A], facts[p.B]
		if !knowledge.Judged(judged, fact.IDOf(v.Category, v.Key), fact.IDOf(w.Category, w.Key)) {
			pairs = append(pairs, Pair{nameOf(v), v.Value, nameOf(w), w.Value, p.Cosine, fact.TrustIn(v), fact.TrustIn(w)})
		}
	}
	slices.SortStableFunc(pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(knowledge.Slashed(a.First), knowledge.Slashed(b.First)), cmp.Compare(knowledge.Slashed(a.Second), knowledge.Slashed(b.Second)))
	})
	return pairs, first, nil
}

// nearDuplicatesText says how many pairs there are, and how far they were looked for.
func (r *Report) nearDuplicatesText() string {
	switch {
	case !r.HasVectors && r.Versions > nearVersions:
		return fmt.Sprintf("not compared, more than %d versions", nearVersions)
	case !r.HasVectors:
		return "not compared, there are no vectors"
	case r.Compared < r.Facts:
		return fmt.Sprintf("%d (the newest %d of %d facts compared with all)", len(r.NearDuplicates), r.Compared, r.Facts)
	}
	return strconv.Itoa(len(r.NearDuplicates))
}
