package knowledge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"leanctx/internal/prose"
)

// Very many facts that fade on one day leave the active set in several commits,
// and the pass is noted once.
func TestMaintainInBatches(t *testing.T) {
	s := testStore(t, nil)
	const n = 2*archivedAtOnce + 7
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"category":"fact","key":"key %d","value":"value %d","confidence":0.1,"timestamp":"2025-01-01T00:00:00Z"}`+"\n", i, i)
	}
	if _, err := s.Import(t.Context(), Incoming{Data: strings.NewReader(lines.String())}); err != nil {
		t.Fatal(err)
	}
	before := must[Status](t)(s.Status(t.Context(), Nothing{}))
	if got, err := s.Maintain(t.Context(), false); err != nil || got != n {
		t.Fatalf("%d, %v, want %d", got, err, n)
	}
	after := must[Status](t)(s.Status(t.Context(), Nothing{}))
	if after.Archived != n || after.Commits != before.Commits+3 {
		t.Errorf("%d archived in %d commits", after.Archived, after.Commits-before.Commits)
	}
	h := must[Health](t)(s.Health(t.Context(), Nothing{}))
	if h.Maintenance == nil || h.Maintenance.Summary != "Archived "+prose.Count(n, "fact") {
		t.Errorf("%+v", h.Maintenance)
	}
	if got, err := s.Maintain(t.Context(), true); err != nil || got != 0 {
		t.Errorf("again: %d, %v", got, err)
	}
}

// A server reads in parts as a command does, writes snapshots without reading
// everything, and goes over to each new one.
func TestServerInParts(t *testing.T) {
	dir, now := tabled(t)
	s, err := Open(dir, &Options{
		ProjectRoot: "/home/u/my-app", ProjectHash: "14958352f5925e3e", Now: func() time.Time { return now }, keysFrom: inParts, LongLived: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 3 {
		if !parted(t, s) {
			t.Fatal("all facts were read")
		}
		if _, err := s.Remember(t.Context(), Assertion{Category: "testing", Key: "key-07", Value: fmt.Sprint("value ", i, " anew")}); err != nil {
			t.Fatal(err)
		}
		want := exported(t, s)
		if err := s.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.log.Refit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := exported(t, s); got != want {
			t.Errorf("after compaction %d another store:\n%s", i, got)
		}
	}
}
