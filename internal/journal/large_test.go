package journal_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A snapshot of several parts is written as one of a single part is.
func TestALargeSnapshotIsWrittenInParts(t *testing.T) {
	for _, n := range []int{1, 1000, 3000, 40_000} {
		dir := t.TempDir()
		l := open(t, dir, nil)
		want := counters{}
		for i := range n / 1000 * 10 {
			key := fmt.Sprint(i, strings.Repeat("x", 10_000))
			update(t, l, key)
			want[key]++
		}
		update(t, l, "last")
		want["last"]++
		if err := l.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, _ := view(t, open(t, dir, nil))
		if d := cmp.Diff(maps.Clone(want), got); d != "" {
			t.Errorf("%d keys: the snapshot read again differs: %.200s", len(want), d)
		}
	}
}
