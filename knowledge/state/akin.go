package state

import (
	"context"
	"strings"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/index"
)

// akinMemory is how many facts in memory are looked through for words, akinHits how
// many the index gives, akinCommon in how many facts a word may be: one that more
// have says little, and takes long to look up.
const (
	akinMemory = 2000
	akinHits   = 48
	akinCommon = 1000
)

// Akin runs f with facts that hold one of some stems in key or value, from what is
// at hand: the facts in memory, of very many the ones that changed last, and in a
// command the stored index. It indexes nothing and may miss facts.
func (l *Log) Akin(ctx context.Context, stems []string, f func(Known, []fact.ID) error) error {
	return l.look(ctx, func(s *State, _ journal.Head) error {
		names := s.holding(stems)
		if s.base != nil {
			counts, err := s.base.index.Frequencies(ctx, stems)
			if err != nil {
				return err
			}
			query := index.Query{Limit: akinHits}
			for i, t := range stems {
				if counts[i] > 0 && counts[i] <= akinCommon {
					query.Terms = append(query.Terms, index.Term{Text: t})
				}
			}
			hits, err := s.base.index.Search(ctx, query)
			if err != nil {
				return err
			}
			for _, h := range hits {
				if n, ok := factOf(h.ID); ok {
					names = append(names, n)
				}
			}
		}
		return f(s.Known(), names)
	})
}

// holding lists facts in memory whose key or values hold one of some stems.
func (s *State) holding(stems []string) (names []fact.ID) {
	beginnings := make([]string, len(stems))
	for i, t := range stems {
		beginnings[i] = strings.TrimSuffix(t, "i") // telemetri is the stem of telemetry
	}
	add := func(n fact.ID) {
		for _, v := range s.facts[n] {
			if fact.Believed(v) && holdsAny(n.Key+" "+formats.FoldName(v.Value), beginnings) {
				names = append(names, n)
				return
			}
		}
	}
	if len(s.facts) <= akinMemory {
		for n := range s.facts {
			add(n)
		}
		return names
	}
	for _, c := range s.changed[max(0, len(s.changed)-akinMemory):] {
		add(c.name)
	}
	return names
}

func holdsAny(text string, stems []string) bool {
	for _, t := range stems {
		if strings.Contains(text, t) {
			return true
		}
	}
	return false
}
