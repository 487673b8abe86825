package journal_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Others, as virus scanners do, open a new file for a moment, and nobody can
// rename or replace it meanwhile.
func TestScannedFiles(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, nil)
	for range 2 {
		update(t, l, "x")
		if err := l.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"state.json", "state.json.prev", "state.journal", "state.journal.prev"} {
		update(t, l, "x")
		held, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, "aside")); err == nil {
			t.Fatalf("%s could be renamed while it is open", name)
		}
		time.AfterFunc(20*time.Millisecond, func() { held.Close() })
		if err := l.Compact(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s, _ := view(t, open(t, dir, nil)); s["x"] != 6 {
		t.Errorf("%v, want 6 of x", s)
	}
}
