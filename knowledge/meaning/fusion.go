package meaning

import (
	"cmp"
	"math"
	"slices"
)

// FusedMost is how many of the facts that words found are compared by meaning.
// Those behind them stay where they are.
const FusedMost = 50

// WeakBelow is the relevance of a best hit by words that is not to be relied on.
const WeakBelow = 0.40

// leastSpan is the least difference in cosine that counts as a whole one: of
// two hits that are equally near neither is to be taken for much nearer.
const leastSpan = 0.2

// weakWordsWeigh is the weight of words beside meaning where their best hit is
// weak.
const weakWordsWeigh = 0.3

// trail is how near, as a share of the floor or of the nearest, what follows
// the nearest has to be.
const trail = 0.7

// Hit is a fact as it was found.
type Hit struct {
	ID     string
	Words  float64 // its score by words, 0 or more
	Named  bool    // the question is its name
	Cosine float64 // of its meaning and the question's; 0: not compared

	sum float64
}

// Fusion joins what words found, in order, with what is near in meaning.
type Fusion struct {
	Words   []Hit              // in their order; the first [FusedMost] are compared
	Cosines map[string]float64 // of those of Words that have one, by id
	Near    []Hit              // by meaning, the nearest first
	Weak    bool               // words are not to be relied on
	Asked   bool               // the caller asked for meaning
	Least   float64            // see [Calibration.Least]
	Weigh   float64            // see [Calibration]
}

// Join gives one list: what is named first, then by the sum
//
//	w·bm25/best + (1−w)·(cosine−lowest)/(highest−lowest)
//
// over the hits by words and, if those are weak or meaning was asked for, over
// what is near as well. It depends on scores alone, so it is the same each time.
func (f *Fusion) Join() []Hit {
	if len(f.Words) == 0 {
		return f.far()
	}
	most := min(len(f.Words), FusedMost)
	all, rest := slices.Clone(f.Words[:most]), f.Words[most:]
	low, high, best := f.span(all)
	w := f.Weigh
	if f.found() && (f.Weak || f.Asked) {
		high = max(high, f.Near[0].Cosine)
		all, rest = f.beside(all, rest)
		if f.Weak {
			w = weakWordsWeigh
		}
	}
	for i := range all {
		x := &all[i]
		x.sum = w * x.Words / best
		if c, ok := f.Cosines[x.ID]; ok {
			x.Cosine = c
		}
		if x.Cosine != 0 {
			x.sum += (1 - w) * (x.Cosine - low) / max(high-low, leastSpan)
		}
	}
	slices.SortStableFunc(all, func(a, b Hit) int {
		if a.Named != b.Named {
			if a.Named {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.sum, a.sum)
	})
	return append(all, rest...)
}

// span is the lowest and highest cosine of some hits, and their best score by
// words.
func (f *Fusion) span(hits []Hit) (low, high, best float64) {
	low, high, best = math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64
	for _, x := range hits {
		if c, ok := f.Cosines[x.ID]; ok {
			low, high = min(low, c), max(high, c)
		}
		best = max(best, x.Words)
	}
	return low, high, best
}

// beside puts what is near beside the hits that are compared, and takes it out
// of those behind them.
func (f *Fusion) beside(head, behind []Hit) (all, rest []Hit) {
	there := make(map[string]bool, len(head)+len(f.Near))
	for _, h := range head {
		there[h.ID] = true
	}
	for _, n := range f.Near {
		if n.Cosine >= trail*f.Least && !there[n.ID] {
			there[n.ID] = true
			head = append(head, n)
		}
	}
	return head, slices.DeleteFunc(slices.Clone(behind), func(h Hit) bool { return there[h.ID] })
}

// found reports whether anything is near enough to speak of.
func (f *Fusion) found() bool { return len(f.Near) > 0 && f.Near[0].Cosine >= f.Least }

// far is what meaning alone found.
func (f *Fusion) far() []Hit {
	if !f.found() {
		return nil
	}
	end := slices.IndexFunc(f.Near, func(x Hit) bool { return x.Cosine < trail*f.Near[0].Cosine })
	if end < 0 {
		end = len(f.Near)
	}
	return f.Near[:end]
}
