package eval

import (
	"math"
	"testing"
	"time"
)

// The expected values are worked out by hand.
func TestMeasures(t *testing.T) {
	found := []string{"x", "a", "y", "b", "z", "c"}
	log2 := math.Log2
	tests := []struct {
		name     string
		relevant grades
		k        int
		recall   float64
		hit      float64
		rr       float64
		ndcg     float64
	}{
		{"second and fourth of two", grades{"a": 1, "b": 1}, 5, 1, 1, 0.5, (1/log2(3) + 1/log2(5)) / (1 + 1/log2(3))},
		{"two of three before the cut", grades{"a": 1, "b": 1, "c": 1}, 5, 2.0 / 3, 1, 0.5, (1/log2(3) + 1/log2(5)) / (1 + 1/log2(3) + 0.5)},
		{"nothing before the cut", grades{"b": 1}, 3, 0, 0, 0, 0},
		{"not found at all", grades{"q": 1}, 10, 0, 0, 0, 0},
		{"more relevant than places", grades{"x": 1, "p": 1, "q": 1}, 1, 1.0 / 3, 1, 1, 1},
		{"the better one too late", grades{"x": 1, "a": 3}, 2, 1, 1, 1, (1 + 3/log2(3)) / (3 + 1/log2(3))},
		{"a cut beyond the end", grades{"c": 1}, 10, 1, 1, 1.0 / 6, 1 / log2(7)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, m := range []struct {
				name      string
				got, want float64
			}{
				{"recall", recallAt(tt.k, found, tt.relevant), tt.recall},
				{"hit", hitAt(tt.k, found, tt.relevant), tt.hit},
				{"reciprocal rank", reciprocalRank(tt.k, found, tt.relevant), tt.rr},
				{"nDCG", ndcgAt(tt.k, found, tt.relevant), tt.ndcg},
			} {
				if math.Abs(m.got-m.want) > 1e-12 {
					t.Errorf("%s at %d = %v, want %v", m.name, tt.k, m.got, m.want)
				}
			}
		})
	}
}

func TestMeasuresOfNothingFound(t *testing.T) {
	relevant := grades{"a": 1}
	if sum := recallAt(10, nil, relevant) + hitAt(10, nil, relevant) + reciprocalRank(10, nil, relevant) + ndcgAt(10, nil, relevant); sum != 0 {
		t.Errorf("the measures of an empty answer add up to %v", sum)
	}
}

func TestQuantile(t *testing.T) {
	var times []time.Duration
	for i := range 20 {
		times = append(times, time.Duration(20-i)) // 20 … 1, not in order
	}
	tests := []struct {
		times []time.Duration
		q     float64
		want  time.Duration
	}{
		{times, 0.5, 10}, {times, 0.95, 19}, {times, 0.951, 20}, {times, 1, 20}, {times, 0, 1},
		{[]time.Duration{7}, 0.5, 7}, {nil, 0.95, 0},
	}
	for _, tt := range tests {
		if got := quantile(tt.times, tt.q); got != tt.want {
			t.Errorf("quantile %v of %d times = %d, want %d", tt.q, len(tt.times), got, tt.want)
		}
	}
	if times[0] != 20 {
		t.Error("quantile reordered its argument")
	}
}
