package journal_test

import (
	"os"
	"path/filepath"
	"testing"

	"leanctx/internal/journal"
)

// Another program's file under our name is never written, and keeps nobody
// from working.
func TestOpenOwnBesideAnother(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "state.json")
	const theirs = `{"agents": []}`
	if err := os.WriteFile(foreign, []byte(theirs), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 2 { // made, then found again
		l, err := journal.OpenOwn(dir, machine{}, &journal.Options{Name: "state"})
		if err != nil {
			t.Fatal(err)
		}
		update(t, l, "x")
		if got, _ := view(t, l); got["x"] != i+1 {
			t.Errorf("opened %d times: %v", i+1, got)
		}
		if err := l.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(foreign); err != nil || string(got) != theirs {
		t.Errorf("the other program's file: %q, %v", got, err)
	}
}
