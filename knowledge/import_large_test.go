package knowledge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leanctx/knowledge/transfer"
)

// After an import that is most of the store there is a snapshot, so that the next
// command does not read a long journal.
func TestLargeImportIsCompacted(t *testing.T) {
	s := testStore(t, nil)
	var b strings.Builder
	for i := range 25 {
		fmt.Fprintf(&b, `{"category":"module-%d","key":"key-%d","value":"the value of fact %d %s"}`+"\n", i%20, i, i, strings.Repeat("-", 60_000))
	}
	file := filepath.Join(t.TempDir(), "facts.jsonl")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := transfer.Import(t.Context(), s.Store, transfer.Incoming{File: file}); err != nil || r.Added != 25 {
		t.Fatalf("%+v, %v", r, err)
	}
	if at := s.Condition().Journal; at.SnapshotBytes == 0 || at.JournalBytes > 4096 {
		t.Errorf("a snapshot of %d bytes and a journal of %d", at.SnapshotBytes, at.JournalBytes)
	}
}
