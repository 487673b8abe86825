package state

import (
	"context"
	"slices"
	"strings"
	"sync"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/index"
	"leanctx/knowledge/words"
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
		names := s.holding(stems)
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
				names = append(names, factOf(h.ID))
			}
		}
		return f(s.Reader(), names)
	})
}

// holding lists facts in memory whose key or values hold one of some stems, the candidateHits that
// were recorded last, the newest first.
func (s *State) holding(stems []string) (names []fact.ID) {
	hits, ok := s.stems.holding(s, stems)
	if !ok {
		hits = s.scan(stems)
	}
	type hit struct {
		name fact.ID
		*fact.Version
	}
	var found []hit
	for _, n := range hits {
		vs := s.facts[n] // what is recorded last is among the last
		if v := newest(vs[max(0, len(vs)-candidateHits):]); v != nil {
			found = append(found, hit{n, v})
		}
	}
	slices.SortFunc(found, func(a, b hit) int {
		if c := b.RecordedFrom.Compare(a.RecordedFrom); c != 0 {
			return c
		}
		return a.name.Compare(b.name)
	})
	for _, h := range found[:min(len(found), candidateHits)] {
		names = append(names, h.name)
	}
	return names
}

// newest is the believed version that was recorded last; nil if there is none.
func newest(vs []*fact.Version) (last *fact.Version) {
	for _, v := range vs {
		if fact.Believed(v) && (last == nil || v.RecordedFrom.After(last.RecordedFrom)) {
			last = v
		}
	}
	return last
}

// scan looks for the stems as parts of the texts.
func (s *State) scan(stems []string) (hits []fact.ID) {
	beginnings := make([]string, len(stems))
	for i, t := range stems {
		beginnings[i] = strings.TrimSuffix(t, "i") // telemetri is the stem of telemetry
	}
	for n := range s.recent() {
		if slices.ContainsFunc(s.facts[n], func(v *fact.Version) bool {
			return fact.Believed(v) && (holdsAny(n.Key, beginnings) || holdsAny(formats.FoldName(v.Value), beginnings))
		}) {
			hits = append(hits, n)
		}
	}
	return hits
}

func holdsAny(text string, stems []string) bool {
	for _, t := range stems {
		if strings.Contains(text, t) {
			return true
		}
	}
	return false
}

// recent yields the facts in memory, of very many the ones that changed last, each once.
func (s *State) recent() func(yield func(fact.ID) bool) {
	return func(yield func(fact.ID) bool) {
		if len(s.facts) <= candidateMemory {
			for n := range s.facts {
				if !yield(n) {
					return
				}
			}
			return
		}
		seen := map[fact.ID]bool{}
		for _, c := range slices.Backward(s.changes.facts[max(0, len(s.changes.facts)-candidateMemory):]) {
			if !seen[c.name] {
				seen[c.name] = true
				if !yield(c.name) {
					return
				}
			}
		}
	}
}

// stems finds the facts that changed last by the stems of their texts. A command asks once, and to
// look through the texts costs it less than to read their words. So the words are read for the
// second question, and from then on those of each fact that changes.
type stems struct {
	mu     sync.Mutex // views run side by side
	asked  bool
	recent map[string][]fact.ID // nil: not made yet
	older  map[string][]fact.ID
	facts  int // that are in recent
	known  *words.Lexicon
	drops  int
}

// holding lists facts that may hold one of some stems. ok is false for the first question.
func (x *stems) holding(s *State, of []string) (names []fact.ID, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.asked {
		x.asked = true
		return nil, false
	}
	if x.recent == nil {
		x.recent, x.known = map[string][]fact.ID{}, words.NewLexicon()
		for n := range s.recent() {
			x.add(n, s.facts[n])
		}
	}
	seen := map[fact.ID]bool{}
	for _, t := range of {
		for _, list := range [][]fact.ID{x.recent[t], x.older[t]} {
			for _, n := range list[max(0, len(list)-candidateHits):] {
				if !seen[n] {
					seen[n] = true
					names = append(names, n)
				}
			}
		}
	}
	return names, true
}

// note adds the words of versions that a commit changed, if they are read at all.
func (x *stems) note(n fact.ID, fresh []*fact.Version) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.recent != nil {
		x.add(n, fresh)
	}
}

func (x *stems) add(n fact.ID, vs []*fact.Version) {
	if x.facts++; x.facts > candidateMemory {
		x.recent, x.older, x.facts = map[string][]fact.ID{}, x.recent, 1
		x.known = words.NewLexicon()
	}
	add := func(t words.Token) {
		if list := x.recent[t.Term]; len(list) == 0 || list[len(list)-1] != n {
			x.recent[t.Term] = append(list, n)
		}
	}
	x.known.Scan(n.Key, add)
	for _, v := range vs {
		if fact.Believed(v) && v.ValidUntil == nil {
			x.known.Scan(v.Value, add)
		}
	}
}

// forget drops all words. They may be those of a text that was erased.
func (x *stems) forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.recent, x.older, x.known, x.facts = nil, nil, nil, 0
	x.drops++
}

// Drops tells apart states that lack a fact which an earlier one had. Whoever keeps something of a
// text that may have been erased compares it.
type Drops struct {
	of    *stems // a state that was read anew may lack a fact too
	count int
}

// Drops are those of the state that is read.
func (k Reader) Drops() Drops {
	x := k.state.stems
	x.mu.Lock()
	defer x.mu.Unlock()
	return Drops{x, x.drops}
}
