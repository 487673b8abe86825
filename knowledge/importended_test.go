package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/listing"
	"leanctx/knowledge/state"
	"leanctx/knowledge/transfer"
)

// records are n facts as JSONL.
func records(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"category":"room-%d","key":"key %d","value":"value %d"}`+"\n", i%7, i, i)
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
		_, err := transfer.Import(ctx, s.Store, transfer.Incoming{Data: strings.NewReader(records(200)), BatchSize: s.batch})
		want := fmt.Sprintf("interrupted: %d of 200 facts were imported and stay; import again to go on", 30*of)
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

const grownFacts = 100

// grown is a store whose facts are all in a journal of some 6 MB. An import leaves such a journal if it is killed
// after its last commit. The most of it is a note, which nothing has to index.
func grown(t *testing.T) (s *story, text string) {
	t.Helper()
	s, text = testStore(t, nil), records(grownFacts)
	must[NoArgs](t)(NoArgs{}, s.Update(t.Context(), func(st *state.State, now time.Time) (events []state.Event, err error) {
		over := state.NewOverlay(st, nil)
		for i := range grownFacts {
			c := Checked{Category: fmt.Sprintf("room-%d", i%7), Key: fmt.Sprintf("key %d", i), Value: fmt.Sprintf("value %d", i), Confidence: 0.8}
			some, _, err := Assert(over, c, now)
			if err != nil {
				return nil, err
			}
			events = append(events, some...)
		}
		return append(events, state.Note(state.NoteConsolidate, strings.Repeat("long ", 1_200_000), now)), nil
	}))
	if err := os.WriteFile(filepath.Join(s.dir, "knowledge.json.new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !Overgrown(s.Condition().Journal) {
		t.Fatalf("%+v", s.Condition().Journal)
	}
	return s, text
}

// folded fails where the journal is long, or what a compaction leaves is not there.
func (s *story) folded(t *testing.T) {
	t.Helper()
	if at := s.Condition().Journal; at.SnapshotBytes < 1<<20 || at.JournalBytes > 4096 {
		t.Errorf("a snapshot of %d bytes and a journal of %d", at.SnapshotBytes, at.JournalBytes)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "knowledge.json.new")); err == nil {
		t.Error("the unfinished snapshot is still there")
	}
}

// The import that repeats one which was killed adds nothing, and leaves the files as the first would have.
func TestRepeatedImportFolds(t *testing.T) {
	s, text := grown(t)
	if r := s.load(t, "", text); r.Added != 0 || r.Skipped != grownFacts {
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
		h, err := advice.Health(t.Context(), s.Store, NoArgs{})
		if err != nil || strings.Contains(h.Text(), line) != want {
			t.Errorf("health: %s, %v", h.Text(), err)
		}
		st, err := listing.Status(t.Context(), s.Store, NoArgs{})
		if err != nil || strings.Contains(st.Text(), line) != want || st.Overgrown != want {
			t.Errorf("status: %s, %v", st.Text(), err)
		}
	}
	tells(true)
	s.CloseSettled()
	s.folded(t)
	tells(false)
}
