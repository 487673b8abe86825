package eval

import (
	"math"
	"slices"
	"time"
)

// The measures below take what was found, best first, each document once, and
// what is relevant, which is never empty. All are in 0..1.

// recallAt is the share of the relevant documents among the first k.
func recallAt(k int, found []string, relevant grades) float64 {
	n := 0
	for _, id := range found[:min(k, len(found))] {
		if relevant[id] > 0 {
			n++
		}
	}
	return float64(n) / float64(len(relevant))
}

// hitAt is 1 if one of the first k is relevant, else 0.
func hitAt(k int, found []string, relevant grades) float64 {
	if reciprocalRank(k, found, relevant) > 0 {
		return 1
	}
	return 0
}

// reciprocalRank is 1/rank of the first relevant document, 0 if it is not
// among the first k.
func reciprocalRank(k int, found []string, relevant grades) float64 {
	for i, id := range found[:min(k, len(found))] {
		if relevant[id] > 0 {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// ndcgAt is the discounted cumulative gain of the first k, Σ grade/log₂(rank+1),
// as a share of the best that k documents could have.
// Järvelin and Kekäläinen, ACM TOIS 20(4), 2002; the gain is the grade itself,
// as trec_eval has it.
func ndcgAt(k int, found []string, relevant grades) float64 {
	discount := func(i int) float64 { return math.Log2(float64(i + 2)) }
	var gain, ideal float64
	for i, id := range found[:min(k, len(found))] {
		gain += float64(relevant[id]) / discount(i)
	}
	best := make([]int, 0, len(relevant))
	for _, g := range relevant {
		best = append(best, g)
	}
	slices.SortFunc(best, func(a, b int) int { return b - a })
	for i, g := range best[:min(k, len(best))] {
		ideal += float64(g) / discount(i)
	}
	return gain / ideal
}

// quantile is the smallest of the times that at least the share q of them do
// not exceed; 0 of none.
func quantile(times []time.Duration, q float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}
