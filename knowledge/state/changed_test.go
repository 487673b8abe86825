package state

import (
	"fmt"
	"testing"
	"time"

	"leanctx/formats"
)

// A state knows what changed after each instant since it was read, and says so where it
// does not know: of an earlier time, and of a commit that is not there.
func TestChangedSince(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	s := New()
	s.began = day(1)
	for n := 2; n <= 4; n++ {
		s.Commit(day(n), Event{Put: &formats.Fact{ID: fmt.Sprint("f-", n), Category: "c", Key: fmt.Sprint("k", n)}})
	}
	s.Commit(day(5)) // of nothing that is asked for
	for _, tt := range []struct {
		at   time.Time
		want int
		ok   bool
	}{
		{day(1).Add(-1), 0, false}, {day(1), 3, true}, {day(2), 2, true}, {day(2).Add(-1), 0, false},
		{day(3).Add(1), 0, false}, {day(4), 0, true}, {day(5), 0, true}, {day(5).Add(1), 0, false},
	} {
		if vs, ok := s.Reader().ChangedSince(tt.at); ok != tt.ok || len(vs) != tt.want {
			t.Errorf("since %v: %d versions, %v; want %d, %v", tt.at, len(vs), ok, tt.want, tt.ok)
		}
	}
}
