package refusal

import "testing"

func TestLimit(t *testing.T) {
	for given, want := range map[int]int{0: 50, 1: 1, MaxLimit: MaxLimit, 1 << 40: MaxLimit} {
		if got, err := Limit(given, 50); got != want || err != nil {
			t.Errorf("%d: %d, %v", given, got, err)
		}
	}
	if _, err := Limit(-1, 50); err == nil {
		t.Error("-1 is a limit")
	}
}
