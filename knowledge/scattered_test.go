package knowledge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leanctx/internal/proctest"
)

// What an index that was written in too little time has too many of is merged the next time, though there is nothing to
// be written.
func TestScatteredIndexIsMerged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "facts.jsonl")
	add := func(s *Store, from, to int) {
		t.Helper()
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, `{"category":"service","key":"key-%d","value":"the value of fact %d"}`+"\n", i, i)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Import(t.Context(), Incoming{File: file}); err != nil {
			t.Fatal(err)
		}
	}
	segments := func(s *Store) int {
		found, err := filepath.Glob(filepath.Join(s.dir, "index", "*", "*.zap"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	s := testStore(t, nil)
	add(s.Store, 0, 100)
	for i := range syncTail {
		must[Remembered](t)(s.Remember(t.Context(), Assertion{Category: "service", Key: fmt.Sprint("more-", i), Value: "said since"}))
	}
	for looks := 0; segments(s.Store) < 2; looks++ {
		_, tail, _, _, err := s.pending(t.Context(), 1)
		if err != nil || tail == nil {
			t.Fatal("no Sync ended in the middle of a merge", err)
		}
		_ = tail.Sync(proctest.Countdown(t.Context(), looks), s.everything(t.Context(), func(error) {})) // too early, at first
	}
	must[Nothing](t)(Nothing{}, s.SyncIndex(t.Context()))
	if n := segments(s.Store); n != 1 {
		t.Errorf("%d segments", n)
	}
	if r := must[Recalled](t)(s.Recall(t.Context(), Question{Query: "key-77"})); len(r.Facts) == 0 || r.Facts[0].Key != "key-77" {
		t.Errorf("%+v", r)
	}
}
