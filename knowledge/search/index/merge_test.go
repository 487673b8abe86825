package index

import (
	"math"
	"slices"
	"testing"
)

// Which segments are merged.
func TestWorth(t *testing.T) {
	whole := func(docs ...int) (sizes []size) {
		for _, n := range docs {
			sizes = append(sizes, size{n, n})
		}
		return sizes
	}
	for name, c := range map[string]struct {
		sizes []size
		most  int
		want  []run
	}{
		"none":                                  {nil, math.MaxInt, nil},
		"one":                                   {whole(10), math.MaxInt, nil},
		"each twice the rest":                   {whole(1000, 300, 100, 30), math.MaxInt, nil},
		"the last two alike":                    {whole(1000, 300, 64, 64), math.MaxInt, []run{{2, 4}}},
		"one that is too small for all":         {whole(800, 150, 64, 64), math.MaxInt, []run{{1, 4}}},
		"full ones stay":                        {whole(full, full, 9000, 64), math.MaxInt, nil},
		"no more than a full one":               {whole(90_000, 90_000, 90_000, 90_000), math.MaxInt, []run{{2, 4}, {0, 2}}},
		"what has grown, all of it":             {whole(slices.Repeat([]int{8000}, 60)...), math.MaxInt, []run{{35, 60}, {10, 35}, {0, 10}}},
		"as many as there is time for":          {whole(slices.Repeat([]int{8000}, 60)...), 20_000, []run{{58, 60}}},
		"and for none of these":                 {whole(8000, 8000), 10_000, nil},
		"and no time":                           {whole(8000, 8000), 0, nil},
		"a large one is passed by":              {whole(8000, 64, 64), 1000, []run{{1, 3}}},
		"nor do they join it later":             {whole(8000, 7000, 900), 1000, nil},
		"smaller ones before it":                {whole(64, 64, 8000), 1000, []run{{0, 2}}},
		"most of it deleted":                    {[]size{{900, 800}, {100, 40}, {10, 10}}, math.MaxInt, []run{{1, 3}}},
		"most of a single one":                  {[]size{{900, 400}}, math.MaxInt, []run{{0, 1}}},
		"most of a full one":                    {[]size{{2 * full, full / 2}, {full, full}}, math.MaxInt, []run{{0, 1}}},
		"most of one that there is no time for": {[]size{{900, 400}}, 300, nil},
	} {
		if got := worth(c.sizes, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
