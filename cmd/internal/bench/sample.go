package bench

import (
	"context"
	"math"
	"slices"
	"time"
)

// timed does something for the i-th time and says how long it took. What is
// not part of what is measured it leaves out. Numbers below 0 are rehearsals:
// they are not counted.
type timed func(ctx context.Context, i int) (time.Duration, error)

// stretch times all of f.
func stretch(f func(ctx context.Context, i int) error) timed {
	return func(ctx context.Context, i int) (time.Duration, error) {
		start := time.Now()
		err := f(ctx, i)
		return time.Since(start), err
	}
}

// effort bounds a measurement.
type effort struct {
	runs   int           // at most
	least  int           // before the time counts
	budget time.Duration // of all runs together
	once   bool          // no rehearsal
	before int           // rehearsals; 0: one
}

// turns runs what is measured and its floor in turn, so that both see the same
// machine, however busy it is.
func turns(ctx context.Context, e effort, do, floor timed) (Cell, error) {
	var took, bare []time.Duration
	first := -max(e.before, 1)
	if e.once {
		first = 0
	}
	var begun time.Time
	for i := first; i < e.runs; i++ {
		if i == 0 {
			begun = time.Now()
		}
		if i >= max(e.least, 1) && time.Since(begun) > e.budget {
			break
		}
		d, err := do(ctx, i)
		if err != nil {
			return Cell{}, err
		}
		if i >= 0 {
			took = append(took, d)
		}
		if floor == nil {
			continue
		}
		if d, err = floor(ctx, i); err != nil {
			return Cell{}, err
		}
		if i >= 0 {
			bare = append(bare, d)
		}
	}
	return newCell(took, bare), nil
}

// newCell sums durations up, in microseconds.
func newCell(took, bare []time.Duration) Cell {
	c := Cell{Runs: len(took), P50: micros(took, 0.5), P95: micros(took, 0.95)}
	if len(bare) > 0 {
		c.FloorP50, c.FloorP95 = new(micros(bare, 0.5)), new(micros(bare, 0.95))
	}
	return c
}

// micros is a quantile in microseconds.
func micros(ds []time.Duration, q float64) float64 {
	return float64(quantile(ds, q)) / float64(time.Microsecond)
}

// quantile is the smallest duration that a share q of them, 0 < q ≤ 1, does
// not exceed: one that was measured, not one between two of them. None give 0.
func quantile(ds []time.Duration, q float64) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(ds))
	// The last digits of a product like 0.95 · 20 are no reason for a rank more.
	rank := int(math.Ceil(q*float64(len(sorted)) - 1e-9))
	return sorted[min(max(rank, 1), len(sorted))-1]
}
