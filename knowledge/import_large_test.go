package knowledge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// After an import that is most of the store there is a snapshot with its key
// table, so that the next command reads parts and not everything.
func TestLargeImportIsCompacted(t *testing.T) {
	s := testStore(t, nil)
	var b strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&b, `{"category":"module-%d","key":"key-%d","value":"the value of fact %d, which is long enough to count for something %s"}`+"\n", i%20, i, i, strings.Repeat("word ", 20))
	}
	file := filepath.Join(t.TempDir(), "facts.jsonl")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Import(t.Context(), Incoming{File: file}); err != nil || r.Added != 6000 {
		t.Fatalf("%+v, %v", r, err)
	}
	if at := s.log.Stats(); at.SnapshotBytes == 0 || at.JournalBytes > 4096 {
		t.Errorf("a snapshot of %d bytes and a journal of %d", at.SnapshotBytes, at.JournalBytes)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "index", "keys")); err != nil {
		t.Error(err)
	}
}
