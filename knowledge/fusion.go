package knowledge

import (
	"cmp"
	"math"
	"slices"
)

// fusedMost is how many of the facts that words found are compared by meaning.
// Those behind them stay where they are.
const fusedMost = 50

// weakBelow is the relevance of a best hit by words that is not to be relied on.
const weakBelow = 0.40

// leastSpan is the least difference in cosine that counts as a whole one: of
// two hits that are equally near neither is to be taken for much nearer.
const leastSpan = 0.2

// weakWordsWeigh is the weight of words beside meaning where their best hit is
// weak.
const weakWordsWeigh = 0.3

// otherNames is how much nearer, in cosine, a fact has to be that holds none of
// the names in a question.
const otherNames = 0.1

// calibration says what the cosines of an encoder are worth. All of it was
// measured: see the package's document.
type calibration struct {
	words float64 // the weight of words beside meaning
	floor float64 // the cosine in a store of 250 facts at which strangers are turned away
	asked float64 // the same where the caller asked for meaning
	slope float64 // how it rises with the logarithm of the store
}

// calibrated is that of the built-in table, or of sentence transformers.
func calibrated(e Encoding) calibration {
	if e.Instant {
		return calibration{words: .7, floor: .40, asked: .30, slope: .045}
	}
	return calibration{words: .65, floor: .38, asked: .30, slope: .03}
}

// least is the cosine under which nothing is said to be near, in a store of so
// many versions: chance comes nearer where there are more.
func (c calibration) least(asked bool, versions int) float64 {
	low := c.floor
	if asked {
		low = c.asked
	}
	return low + c.slope*math.Log(min(max(float64(versions), 250), 100_000)/250)
}

// trail is how near, as a share of the floor or of the nearest, what follows
// the nearest has to be.
const trail = 0.7

// weak reports whether words found nothing that can be relied on.
func (r *Recalled) weak() bool {
	return len(r.Facts) == 0 || r.best < weakBelow && !r.named
}

// fusion joins what words found, in order, with what is near in meaning.
type fusion struct {
	words   []Found            // in their order; the first ones are compared
	cosines map[string]float64 // of those of words that have one
	weak    bool               // words are not to be relied on
	asked   bool               // the caller asked for meaning
	near    []Found            // by meaning, the nearest first, with their cosines
	least   float64            // see calibration.least
	weigh   float64            // see calibration.words
}

// join gives one list: what is named first, then by the sum
//
//	w·bm25/best + (1−w)·(cosine−lowest)/(highest−lowest)
//
// over the hits by words and, if those are weak or meaning was asked for, over
// what is near as well. It
// depends on scores alone, ties on names, so it is the same each time.
func (f *fusion) join() []Found {
	if len(f.words) == 0 {
		return f.far()
	}
	head, rest := f.words[:min(len(f.words), fusedMost)], f.words[min(len(f.words), fusedMost):]
	low, high, most := math.Inf(1), math.Inf(-1), 0.0
	for _, x := range head {
		if c, ok := f.cosines[x.ID]; ok {
			low, high = min(low, c), max(high, c)
		}
		most = max(most, x.raw)
	}
	w, all := f.weigh, slices.Clone(head)
	if f.found() && (f.weak || f.asked) {
		high = max(high, f.near[0].Semantic)
		all = append(all, f.additions(head)...)
		if f.weak {
			w = weakWordsWeigh
		}
	}
	for i := range all {
		x := &all[i]
		x.fused = w * x.raw / max(most, math.SmallestNonzeroFloat64)
		if c, ok := f.cosines[x.ID]; ok {
			x.Semantic = c
		}
		if x.Semantic != 0 {
			x.fused += (1 - w) * (x.Semantic - low) / max(high-low, leastSpan)
		}
	}
	slices.SortStableFunc(all, func(a, b Found) int {
		return cmp.Or(compareBool(b.named, a.named), cmp.Compare(b.fused, a.fused))
	})
	return append(all, rest...)
}

// found reports whether anything is near enough to speak of.
func (f *fusion) found() bool { return len(f.near) > 0 && f.near[0].Semantic >= f.least }

// far is what meaning alone found.
func (f *fusion) far() []Found {
	if !f.found() {
		return nil
	}
	end := slices.IndexFunc(f.near, func(x Found) bool { return x.Semantic < trail*f.near[0].Semantic })
	if end < 0 {
		end = len(f.near)
	}
	return f.near[:end]
}

// additions are what meaning puts beside weak hits by words.
func (f *fusion) additions(head []Found) []Found {
	var out []Found
	for _, x := range f.near {
		seen := slices.ContainsFunc(head, func(h Found) bool { return h.ID == x.ID })
		if !seen && x.Semantic >= trail*f.least {
			out = append(out, x)
		}
	}
	return out
}

// alike is a cosine as a relevance: the floor is that of words, and a cosine
// of 1 is 1.
func alike(cosine, least float64) float64 {
	return min(1, max(0, .3+.7*(cosine-least)/(1-least)))
}
