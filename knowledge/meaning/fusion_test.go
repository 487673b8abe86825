package meaning

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func order(hits []Hit) string {
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return strings.Join(ids, " ")
}

func TestJoin(t *testing.T) {
	words := []Hit{{ID: "a", Words: 10}, {ID: "b", Words: 9}, {ID: "c", Words: 2}}
	cosines := map[string]float64{"a": .1, "b": .6, "c": .2}
	near := []Hit{{ID: "x", Cosine: .9}, {ID: "b", Cosine: .6}, {ID: "y", Cosine: .3}, {ID: "z", Cosine: .1}}
	for name, tt := range map[string]struct {
		f    Fusion
		want string
	}{
		"nothing":                         {Fusion{}, ""},
		"nothing is near enough":          {Fusion{Near: near, Least: .95}, ""},
		"only what trails the nearest":    {Fusion{Near: near, Least: .4}, "x"},
		"words alone":                     {Fusion{Words: words, Weigh: .7}, "a b c"},
		"meaning settles what is close":   {Fusion{Words: words, Cosines: cosines, Weigh: .7}, "b a c"},
		"and not what is far apart":       {Fusion{Words: words, Cosines: map[string]float64{"a": .1, "c": .6}, Weigh: .7}, "a b c"},
		"near is left out beside good":    {Fusion{Words: words, Cosines: cosines, Near: near, Least: .4, Weigh: .7}, "b a c"},
		"beside weak ones it is not":      {Fusion{Words: words, Cosines: cosines, Near: near, Least: .4, Weigh: .7, Weak: true}, "b x a y c"},
		"nor where it was asked for":      {Fusion{Words: words, Cosines: cosines, Near: near, Least: .4, Weigh: .7, Asked: true}, "b a x c y"},
		"what is named stands first":      {Fusion{Words: []Hit{{ID: "a", Words: 10}, {ID: "n", Words: 1, Named: true}}, Weigh: .7}, "n a"},
		"a cosine less than a span apart": {Fusion{Words: words[:2], Cosines: map[string]float64{"a": .50, "b": .52}, Weigh: .7}, "a b"},
	} {
		if got := order(tt.f.Join()); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// What words found behind those that are compared, and meaning found near,
// stands once; nothing is lost.
func TestJoinOnce(t *testing.T) {
	f := Fusion{Near: []Hit{{ID: "55", Cosine: .9}, {ID: "3", Cosine: .8}, {ID: "new", Cosine: .7}}, Cosines: map[string]float64{"3": .8}, Least: .4, Weigh: .7, Asked: true}
	for i := range FusedMost + 10 {
		f.Words = append(f.Words, Hit{ID: fmt.Sprint(i), Words: float64(100 - i)})
	}
	seen := map[string]int{}
	for _, h := range f.Join() {
		seen[h.ID]++
	}
	if len(seen) != FusedMost+11 || seen["55"] != 1 || seen["3"] != 1 || seen["new"] != 1 {
		t.Errorf("%d facts: %v", len(seen), seen)
	}
}

func TestLeast(t *testing.T) {
	table := Calibrated(Encoding{Instant: true})
	last := 0.0
	for i, n := range []int{20, 60, 250, 2000, 100_000} {
		least := table.Least(false, n)
		if least <= last || n == 250 && least != .38 || table.Least(true, n) > least {
			t.Errorf("%d: %v after %v, asked %v", i, least, last, table.Least(true, n))
		}
		last = least
	}
	if table.Least(false, 0) != table.Least(false, 20) || table.Least(false, math.MaxInt) != last {
		t.Errorf("none %v, too many %v", table.Least(false, 0), table.Least(false, math.MaxInt))
	}
	if Alike(.40, .40) != .3 || Alike(1, .40) != 1 || Alike(-1, .40) != 0 {
		t.Error("a cosine as a relevance")
	}
}
