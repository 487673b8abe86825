package bench

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestQuantile(t *testing.T) {
	to := func(n int) (ds []time.Duration) {
		for i := n; i >= 1; i-- {
			ds = append(ds, time.Duration(i))
		}
		return ds
	}
	for _, c := range []struct {
		n    int
		q    float64
		want time.Duration
	}{
		{n: 0, q: .5, want: 0},
		{n: 1, q: .5, want: 1}, {n: 1, q: .95, want: 1},
		{n: 2, q: .5, want: 1}, {n: 2, q: .95, want: 2},
		{n: 3, q: .5, want: 2}, {n: 4, q: .5, want: 2},
		{n: 20, q: .95, want: 19}, {n: 21, q: .95, want: 20}, {n: 100, q: .95, want: 95}, {n: 101, q: .95, want: 96},
		{n: 10, q: 1, want: 10},
	} {
		if got := quantile(to(c.n), c.q); got != c.want {
			t.Errorf("%v of 1…%d: %d, want %d", c.q, c.n, got, c.want)
		}
	}
	ds := []time.Duration{3, 1, 2}
	quantile(ds, .5)
	if diff := cmp.Diff([]time.Duration{3, 1, 2}, ds); diff != "" {
		t.Errorf("the durations were moved: %s", diff)
	}
}

// The runs alternate, rehearsals do not count, and what takes long is run less
// often but no less than it must.
func TestTurns(t *testing.T) {
	var order []int
	do := func(_ context.Context, i int) (time.Duration, error) {
		order = append(order, i)
		return time.Duration(i+1) * time.Microsecond, nil
	}
	floor := func(_ context.Context, i int) (time.Duration, error) {
		order = append(order, 100+i)
		return time.Microsecond, nil
	}
	c, err := turns(t.Context(), effort{runs: 3, least: 3, before: 2}, do, floor)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{-2, 98, -1, 99, 0, 100, 1, 101, 2, 102}, order); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Cell{Runs: 3, P50: 2, P95: 3, FloorP50: new(1.0), FloorP95: new(1.0)}, c); diff != "" {
		t.Error(diff)
	}
	if ratio, ok := c.Ratio(); !ok || ratio != 2 {
		t.Errorf("%v times the floor, %v", ratio, ok)
	}
	for _, e := range []struct {
		effort
		want int
	}{
		{effort{runs: 10, least: 4}, 4}, // no budget
		{effort{runs: 2, least: 5}, 2},
		{effort{runs: 1, once: true}, 1},
		{effort{runs: 7, budget: time.Hour}, 7},
	} {
		if c, err := turns(t.Context(), e.effort, do, nil); err != nil || c.Runs != e.want || c.FloorP50 != nil {
			t.Errorf("%+v: %+v, %v", e.effort, c, err)
		}
	}
	broken := errors.New("broken")
	if _, err := turns(t.Context(), effort{runs: 1}, do, func(context.Context, int) (time.Duration, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("a floor that failed: %v", err)
	}
	if _, ok := (Cell{Runs: 1, P50: 1}).Ratio(); ok {
		t.Error("a ratio without a floor")
	}
}

func TestPickGoesRound(t *testing.T) {
	list := []int{0, 1, 2}
	var got []int
	for i := -4; i < 4; i++ {
		got = append(got, pick(list, i))
	}
	if diff := cmp.Diff([]int{2, 0, 1, 2, 0, 1, 2, 0}, got); diff != "" {
		t.Error(diff)
	}
}
