package overview

import (
	"math"
	"slices"

	"leanctx/overview/graph"
	"leanctx/overview/source"
)

// said is how well what commits say that touched a file answers the task, scaled
// to 1: people say there what a change is for, in words that may not stand in
// the file. Of all commits that touched a file the best one counts, and one of many
// files says less of each.
func (r *ranking) said() []float64 {
	out := make([]float64, len(r.entries))
	query := source.Query(r.task)
	if len(query) == 0 || len(r.commits) == 0 {
		return out
	}
	commits, in := make([][]uint32, len(r.commits)), map[uint32]float64{}
	for i, c := range r.commits {
		commits[i] = source.Query(c.Subject)
		for _, t := range commits[i] {
			in[t]++
		}
	}
	best := map[string]float64{}
	for i, c := range r.commits {
		score := 0.0
		for _, t := range query {
			if slices.Contains(commits[i], t) {
				score += math.Log1p(float64(len(commits)) / in[t])
			}
		}
		if score == 0 {
			continue
		}
		for _, f := range c.Files {
			best[f] = max(best[f], score/math.Sqrt(float64(len(c.Files))))
		}
	}
	for i, e := range r.entries {
		if e.class == ordinary {
			out[i] = best[e.Path]
		}
	}
	return graph.Scaled(out)
}
