package knowledge_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	. "leanctx/knowledge"
	"leanctx/knowledge/state"
)

// Whether some facts are for the project alone is known without reading all facts each time, and it is
// what reading all of them says, whoever writes.
func TestHasProjectOnlyFollowsEachChange(t *testing.T) {
	s := testStore(t, nil)
	other := &story{dir: s.dir, now: s.now}
	other.open(t, nil)
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[bool]int{}
	for step := range 150 {
		writer := []*story{s, other}[random.IntN(2)]
		s.now = s.now.Add(time.Minute)
		other.now = s.now
		key := fmt.Sprintf("k%d", random.IntN(2))
		var err error
		switch random.IntN(5) {
		case 0:
			_, err = writer.Remember(t.Context(), Assertion{Category: "c", Key: key, Value: fmt.Sprint("for us ", step), Privacy: PrivacyProjectOnly})
		case 1, 2:
			_, err = writer.Remember(t.Context(), Assertion{Category: "c", Key: key, Value: fmt.Sprint("for all ", step), Privacy: PrivacyShared})
		default:
			_, _ = writer.Remove(t.Context(), Withdrawal{Category: "c", Key: key, Erase: true}) // of one that there may not be
		}
		if err != nil {
			t.Fatal(err)
		}
		want := false
		if err := s.View(t.Context(), func(st *state.State, _ time.Time) error {
			for _, v := range st.Each() {
				want = want || v.Privacy == PrivacyProjectOnly
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if got, err := HasProjectOnly(t.Context(), s.Store); err != nil || got != want {
			t.Fatalf("step %d: %v, %v; reading all facts says %v", step, got, err, want)
		}
		seen[want]++
	}
	if seen[true] < 20 || seen[false] < 20 {
		t.Errorf("the test did not see both: %v", seen)
	}
}
