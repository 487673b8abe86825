package replica_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/knowledge"
	"leanctx/knowledge/history"
)

// A former version left absolute paths in sources. They are read as they are kept now: nothing that is
// written from then on has them, and the store and its lines agree.
func TestAbsolutePathsOfAFormerVersionAreNotShared(t *testing.T) {
	for _, synced := range []bool{false, true} {
		dir := t.TempDir()
		root := filepath.Join(dir, "tree")
		// A store that does not know where its project is keeps a source as it is given.
		former, err := knowledge.Open(filepath.Join(dir, "store"), &knowledge.Options{ProjectHash: "0123456789abcdef", Now: func() time.Time { return start }})
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range []string{root + "/src/auth.go:3", "see " + root + "/src/a.go, line 3"} {
			if _, err := former.As(knowledge.Actor{Agent: "cursor-a1"}).Remember(t.Context(), knowledge.Assertion{Category: "arch", Key: "auth", Value: "JWT", Source: source}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := knowledge.Remind(t.Context(), former, knowledge.NewReminder{Value: "look", Path: root + "/src/**"}); err != nil {
			t.Fatal(err)
		}
		m := newMachine(t, dir, 0)
		t.Cleanup(func() { _ = m.store.Close() })
		if synced {
			was := m.store
			m.store = former
			m.sync(t)
			m.store = was
		}
		before := m.logs()[m.id+".jsonl"]
		if strings.Contains(before, root) != synced {
			t.Fatalf("what a former version wrote: %s", before)
		}
		if err := former.Close(); err != nil {
			t.Fatal(err)
		}
		m.remember(t, "db", "PostgreSQL") // so that there is something to sync
		m.sync(t)
		if after := strings.TrimPrefix(m.logs()[m.id+".jsonl"], before); after == "" || strings.Contains(after, root) {
			t.Errorf("synced %v: written from now on: %s", synced, after)
		}
		if text := m.export(t); strings.Contains(text, root) || !strings.Contains(text, `"src/auth.go:3"`) || !strings.Contains(text, `"see src/a.go, line 3"`) || !strings.Contains(text, `"src/**"`) {
			t.Errorf("synced %v: the export is %s", synced, text)
		}
		why, err := history.Why(t.Context(), m.store, history.Subject{Category: "arch", Key: "auth"})
		if err != nil || strings.Contains(why.Text(), root) || !strings.Contains(why.Text(), "from src/auth.go:3") {
			t.Errorf("synced %v: %s, %v", synced, why.Text(), err)
		}
		if r := m.sync(t); r.Written+r.TakenIn != 0 {
			t.Errorf("synced %v: a second sync wrote %+v", synced, r)
		}
		other := newMachine(t, filepath.Join(dir, "other"), 0)
		t.Cleanup(func() { _ = other.store.Close() })
		other.put(m.id+".jsonl", m.logs()[m.id+".jsonl"])
		other.sync(t)
		if got, want := other.export(t), m.export(t); got != want {
			t.Errorf("synced %v: another clone has\n%s", synced, difference(want, got))
		}
	}
}
