package knowledge

import (
	"context"
	"errors"
	"fmt"
	"leanctx/knowledge/ledger"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// records are n facts as JSONL, each of a few hundred bytes.
func records(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"category":"room-%d","key":"key %d","value":"value %d %s"}`+"\n", i%7, i, i, strings.Repeat("word ", 60))
	}
	return b.String()
}

// An import that is told to end says how much is in, stops before its next commit, and is gone on with by another.
func TestImportInterrupted(t *testing.T) {
	for _, of := range []int{0, 1, 3} { // commits that are on disk by then
		ctx, cancel := context.WithCancel(t.Context())
		if of == 0 {
			cancel()
		}
		syncs := 0
		s := batched(t, 30, func(op, name string) error {
			if op == "sync" && strings.HasSuffix(name, ".journal") {
				if syncs++; syncs == of {
					cancel()
				}
			}
			return nil
		})
		_, err := s.Import(ctx, Incoming{Data: strings.NewReader(records(200))})
		want := fmt.Sprintf("interrupted: %d of 200 facts are in and stay; import again to go on", 30*of)
		if of == 0 {
			want = "interrupted: nothing was imported"
		}
		if !errors.Is(err, context.Canceled) || err.Error() != want {
			t.Errorf("after %d: %v, want %s", of, err, want)
		}
		if r := s.load(t, "", records(200)); r.Skipped != 30*of || r.Added != 200-30*of {
			t.Errorf("again: %+v", r)
		}
		cancel()
	}
}

// The decision itself, which takes seconds in a large import, gives up too.
func TestImportInterruptedWhileItDecides(t *testing.T) {
	s := testStore(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	parsed, err := Incoming{Data: strings.NewReader(records(3))}.parse()
	if err != nil {
		t.Fatal(err)
	}
	m := &merger{store: s.Store}
	if _, err := m.decide(ctx, ledger.New(), parsed, s.clock()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// grown is a store whose facts are all in a journal of some 6 MB, as an import leaves it that was killed after its
// last commit.
func grown(t *testing.T) (s *story, text string) {
	t.Helper()
	s, text = testStore(t, nil), records(12_000)
	parsed, err := Incoming{Data: strings.NewReader(text)}.parse()
	if err != nil {
		t.Fatal(err)
	}
	m := &merger{store: s.Store, in: Incoming{Merge: mergeSkip}}
	m.clean(&parsed)
	if err := m.commitAll(t.Context(), parsed); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "knowledge.json.new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !overgrown(s.log.Stats()) {
		t.Fatalf("%+v", s.log.Stats())
	}
	return s, text
}

// folded fails where the journal is long, or what a compaction leaves is not there.
func (s *story) folded(t *testing.T) {
	t.Helper()
	if at := s.log.Stats(); at.SnapshotBytes < 1<<20 || at.JournalBytes > 4096 {
		t.Errorf("a snapshot of %d bytes and a journal of %d", at.SnapshotBytes, at.JournalBytes)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "index", "keys")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "knowledge.json.new")); err == nil {
		t.Error("the unfinished snapshot is still there")
	}
}

// The import that repeats one which was killed adds nothing, and leaves the files as the first would have.
func TestRepeatedImportFolds(t *testing.T) {
	s, text := grown(t)
	if r := s.load(t, "", text); r.Added != 0 || r.Skipped != 12_000 {
		t.Errorf("%+v", r)
	}
	s.folded(t)
}

// Status and health say that a journal is long; a command folds it after its answer. The time that it gives itself for
// that does not pass here.
func TestOvergrownJournal(t *testing.T) { synctest.Test(t, overgrownJournal) }

func overgrownJournal(t *testing.T) {
	s, _ := grown(t)
	const line = "MB that every command reads: lean-ctx compact puts it into the snapshot"
	tells := func(want bool) {
		t.Helper()
		h, err := s.Health(t.Context(), Nothing{})
		if err != nil || strings.Contains(h.Text(), line) != want {
			t.Errorf("health: %s, %v", h.Text(), err)
		}
		st, err := s.Status(t.Context(), Nothing{})
		if err != nil || strings.Contains(st.Text(), line) != want || st.Overgrown != want {
			t.Errorf("status: %s, %v", st.Text(), err)
		}
	}
	tells(true)
	s.settle()
	s.folded(t)
	tells(false)
}
