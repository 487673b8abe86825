package knowledge_test

import (
	"fmt"
	"strings"
	"testing"

	"leanctx/internal/prose"
	. "leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/listing"
	"leanctx/knowledge/transfer"
)

// Very many facts that fade on one day leave the active set in several commits,
// and the pass is noted once.
func TestMaintainInBatches(t *testing.T) {
	s := testStore(t, nil)
	const n = 2*ArchivedAtOnce + 7
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"category":"status","key":"key %d","value":"value %d","confidence":0.8,"timestamp":"2025-01-01T00:00:00Z"}`+"\n", i, i)
	}
	if _, err := transfer.Import(t.Context(), s.Store, transfer.Incoming{Data: strings.NewReader(lines.String())}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Maintain(t.Context(), true); err != nil || got.Archived != 0 {
		t.Fatalf("%+v, %v: nobody can know yet what was read", got, err)
	}
	s.days(100)
	before := must[listing.StoreStatus](t)(listing.Status(t.Context(), s.Store, Examining{}))
	if got, err := s.Maintain(t.Context(), false); err != nil || got.Archived != n {
		t.Fatalf("%+v, %v, want %d", got, err, n)
	}
	after := must[listing.StoreStatus](t)(listing.Status(t.Context(), s.Store, Examining{}))
	if after.Archived != n || after.Commits != before.Commits+3 {
		t.Errorf("%d archived in %d commits", after.Archived, after.Commits-before.Commits)
	}
	h := must[advice.Report](t)(advice.Health(t.Context(), s.Store, Examining{}))
	if h.Maintenance == nil || h.Maintenance.Summary != "Archived "+prose.Count(n, "fact") {
		t.Errorf("%+v", h.Maintenance)
	}
	if got, err := s.Maintain(t.Context(), true); err != nil || got.Archived != 0 {
		t.Errorf("again: %+v, %v", got, err)
	}
}
