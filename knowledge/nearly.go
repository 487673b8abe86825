package knowledge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/meaning"
)

// Pair is two facts that say nearly the same.
type Pair struct {
	First       Name    `json:"first"`
	FirstValue  string  `json:"first_value"`
	Second      Name    `json:"second"`
	SecondValue string  `json:"second_value"`
	Cosine      float64 `json:"cosine"` // of their meanings, by the built-in encoder
}

// Health looks for facts that say nearly the same with the vectors that are
// kept, within a bound of comparisons and not of time, so that it finds the same
// each time: each of 800 facts with all others, or the newest 32 of 20,000. That
// is up to a tenth of a second; where there are more than 40,000 versions, so
// that it would look at fewer than 16, it does not look.
//
// At .85 there are some 25 pairs among the 240 facts of a conversation of LoCoMo,
// most of which one could do without, 4 among 294 general statements, and none of
// the 1,770 pairs of 60 different facts about one program is as near. Numbers and names with digits have no nearness: ports 8001 and 8002 are
// two facts.
const (
	nearlyFloor = 0.85
	nearlyWork  = 640_000
	nearlyMost  = 800
	nearlyLeast = 16
)

// recent keeps the facts that were recorded last.
type recent []fresh

type fresh struct {
	name  Name
	value string
	meant meaning.Meant
	at    time.Time
}

func (r *recent) add(v *fact.Version) {
	*r = append(*r, fresh{nameOf(v), v.Value, meaning.Of(v), v.RecordedFrom})
	if len(*r) >= 2*nearlyMost {
		r.trim(nearlyMost)
	}
}

func (r *recent) trim(most int) {
	slices.SortFunc(*r, func(a, b fresh) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.meant.ID, b.meant.ID))
	})
	*r = slices.Clone((*r)[:min(most, len(*r))])
}

// nearly lists the pairs of which one is among the newest of so many facts, the
// nearest first. ok: it was looked for.
func (s *Store) nearly(ctx context.Context, st *state, m moment, newest recent, facts int) (pairs []Pair, ok bool, err error) {
	most := min(nearlyMost, nearlyWork/max(facts, 1))
	all := s.opts.Vectors.Encoders(false)
	if len(all) == 0 || !all[len(all)-1].Instant {
		return nil, false, nil
	}
	e := all[len(all)-1]
	tail, err := s.unlearned(st, m, e)
	if errors.Is(err, errUnmarked) || len(tail) > spotMost {
		return nil, false, nil
	}
	newest.trim(most)
	seen := map[[2]string]bool{}
	for _, f := range newest {
		vector, err := s.opts.Semantic.Encode(ctx, e.Name, f.meant.Text)
		if err != nil {
			return nil, false, err
		}
		if len(vector) == 0 {
			continue
		}
		near, err := s.opts.Semantic.Near(ctx, e.Name, meaning.Nearby{Vector: vector, Limit: nearlyLeast, Tail: tail})
		if err != nil {
			return nil, false, err
		}
		for _, n := range near {
			v := st.byID(n.ID)
			if n.Cosine < nearlyFloor || v == nil || v.ArchivedAt != nil || seen[[2]string{n.ID, f.meant.ID}] {
				continue
			}
			seen[[2]string{f.meant.ID, n.ID}] = true
			if st.nearlySame(f, v, m.now) {
				pairs = append(pairs, Pair{f.name, f.value, nameOf(v), v.Value, n.Cosine})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(slashed(a.First), slashed(b.First)), cmp.Compare(slashed(a.Second), slashed(b.Second)))
	})
	return pairs, true, nil
}

// nearlySame reports whether v is another fact, current and not settled with the
// first, of the same numbers. The same value is listed apart.
func (s *state) nearlySame(f fresh, v *fact.Version, now time.Time) bool {
	this, other := newID(f.name.Category, f.name.Key), newID(v.Category, v.Key)
	current := fact.CurrentAt(s.versions(other), now)
	return this != other && current != nil && current.ID == v.ID && !s.settled(this, other) &&
		slices.Equal(numbered(f.value), numbered(v.Value)) &&
		!slices.Equal(fact.Words(formats.FoldName(f.value)), fact.Words(formats.FoldName(v.Value)))
}

// numbered are the words of a text that hold a digit, in order of the alphabet.
func numbered(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if strings.IndexFunc(w, unicode.IsDigit) >= 0 {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return out
}
