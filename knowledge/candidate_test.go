package knowledge

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A briefing takes the same facts from the best that are kept as from all, also
// when it holds more of them than are kept.
func TestBriefingKeepsTheBest(t *testing.T) {
	s := testStore(t, nil)
	for i := range 60 {
		s.remember(t, Assertion{
			Category: []string{"api", "decision", "architecture"}[i%3], Key: fmt.Sprint("key ", i), Value: fmt.Sprint("value ", i*i),
			Confidence: new(float64(i*37%60) / 60), Pinned: new(i%20 == 7),
		})
	}
	err := s.view(t.Context(), func(st *state, m moment) error {
		f, err := Question{}.frame(m, m.now)
		if err != nil {
			return err
		}
		for _, budget := range []int{100, 800, 100_000} {
			want, short := st.briefFrom(&f, surroundings{}, budget, 0)
			if short {
				t.Error("all are too few")
			}
			for _, most := range []int{1, 2, 7, 40, 100} {
				got, short := st.briefFrom(&f, surroundings{}, budget, most)
				if diff := cmp.Diff(want.Text(), got.Text()); diff != "" && !short {
					t.Errorf("budget %d, the best %d (-all +best):\n%s", budget, most, diff)
				}
				if budget == 100_000 && short != (2*most <= 60) {
					t.Errorf("budget %d, the best %d: short %v", budget, most, short)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
