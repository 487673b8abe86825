package cost

import "testing"

func TestPercentages(t *testing.T) {
	for _, c := range []struct {
		parts []int64
		want  []int
	}{
		{nil, []int{}},
		{[]int64{0, 0}, []int{0, 0}},
		{[]int64{7}, []int{1000}},
		{[]int64{1, 1, 1}, []int{334, 333, 333}},
		{[]int64{2, 1, 0}, []int{667, 333, 0}},
		{[]int64{89420, 55810}, []int{616, 384}},
		{[]int64{1 << 60, 1, 1}, []int{1000, 0, 0}},
	} {
		same(t, percentages(c.parts), c.want)
	}
	for n := range 200 {
		var parts []int64
		for i := range n + 1 {
			parts = append(parts, int64((i*7919+n*104729)%1013))
		}
		sum := 0
		for _, p := range percentages(parts) {
			sum += p
		}
		if whole := slicesSum(parts); sum != 1000 && whole > 0 {
			t.Errorf("%v adds up to %d", parts, sum)
		}
	}
}

func slicesSum(list []int64) (sum int64) {
	for _, x := range list {
		sum += x
	}
	return sum
}
