package proctest

import "time"

// Rounds is how many of n equal rounds a test does: each [Stride]-th, and one at least.
func Rounds(n int) int { return max(1, n/Stride) }

// Best is the shortest of several runs of do. It ends when a run was short enough. A run may take
// long because other processes had the processor, and hardly ever do all.
func Best(enough time.Duration, do func()) time.Duration {
	best := time.Duration(1<<63 - 1)
	for range 10 {
		start := time.Now()
		do()
		if best = min(best, time.Since(start)); best <= enough {
			break
		}
	}
	return best
}
