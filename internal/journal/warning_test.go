package journal

import "testing"

// What was lost stands in the name of the file that was set aside.
func TestLostIn(t *testing.T) {
	many := make([]uint64, 13)
	for i := range many {
		many[i] = uint64(i + 2)
	}
	for want, lost := range map[string][]uint64{"": nil, "2": {2}, "2, 7": {2, 7}, "2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more": many} {
		if got := LostIn("agents/registry.journal.corrupt-20260101T000000.000000000Z-1" + lostSuffix(lost)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
