package state

import (
	"context"
	"slices"
	"strings"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/index"
)

// candidateMemory is how many facts in memory are looked through for words. candidateHits is how many of
// them count, and how many the index gives. A word that is in more than candidateCommon facts says
// little and takes long to look up.
const (
	candidateMemory = 2000
	candidateHits   = 48
	candidateCommon = 1000
)

// Candidates runs f with facts that hold one of some stems in key or value, from what is at hand. That
// is the facts in memory, of very many the ones that changed last, and in a command the stored
// index. It indexes nothing and may miss facts.
func (l *Log) Candidates(ctx context.Context, stems []string, f func(Reader, []fact.ID) error) error {
	return l.viewSome(ctx, func(s *State, _ journal.Head) error {
		names := inMemory(s, stems)
		if s.base != nil {
			counts, err := s.base.index.Frequencies(ctx, stems)
			if err != nil {
				return err
			}
			query := index.Query{Limit: candidateHits}
			for i, t := range stems {
				if counts[i] > 0 && counts[i] <= candidateCommon {
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
		return f(s.Reader(), names)
	})
}

// inMemory lists facts in memory whose key or values hold one of some stems, the
// candidateHits that were recorded last, the newest first.
func inMemory(s *State, stems []string) (names []fact.ID) {
	beginnings := make([]string, len(stems))
	for i, t := range stems {
		beginnings[i] = strings.TrimSuffix(t, "i") // telemetri is the stem of telemetry
	}
	var hits []*fact.Version
	add := func(n fact.ID) {
		i := slices.IndexFunc(s.facts[n], func(v *fact.Version) bool {
			return fact.Believed(v) && (holdsAny(n.Key, beginnings) || holdsAny(formats.FoldName(v.Value), beginnings))
		})
		if i >= 0 {
			hits = append(hits, s.facts[n][i])
		}
	}
	if len(s.facts) <= candidateMemory {
		for n := range s.facts {
			add(n)
		}
	} else {
		seen := map[fact.ID]bool{}
		for _, c := range slices.Backward(s.changes.facts[max(0, len(s.changes.facts)-candidateMemory):]) {
			if len(hits) == candidateHits {
				break
			}
			if !seen[c.name] {
				seen[c.name] = true
				add(c.name)
			}
		}
	}
	slices.SortFunc(hits, func(a, b *fact.Version) int {
		if c := b.RecordedFrom.Compare(a.RecordedFrom); c != 0 {
			return c
		}
		return fact.ByName(a, b) // folds four names
	})
	for _, v := range hits[:min(len(hits), candidateHits)] {
		names = append(names, fact.IDOf(v.Category, v.Key))
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
