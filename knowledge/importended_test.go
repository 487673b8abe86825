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

// An import that is ended while it reads, or while it decides, has added nothing. A write that fails adds
// nothing either. Made again it is whole.
func TestImportIsWholeOrNothing(t *testing.T) {
	full := false
	s := testStore(t, &Options{Fault: func(op, name string) error {
		if full && op == "sync" && strings.HasSuffix(name, ".journal") {
			return os.ErrPermission
		}
		return nil
	}})
	s.remember(t, Assertion{Category: "mine", Key: "mine", Value: "mine"})
	for _, at := range []int{1, 99, 101, 198} { // of 100 that are read, then merged
		ctx, cancel := context.WithCancel(t.Context())
		_, err := transfer.Import(ctx, s.Store, transfer.Incoming{Data: strings.NewReader(records(100)), Progress: func(done, _ int) {
			if done == at {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) || s.seq(t) != 1 {
			t.Errorf("ended at %d: %v, %d commits", at, err, s.seq(t))
		}
	}
	full = true
	if _, err := transfer.Import(t.Context(), s.Store, transfer.Incoming{Data: strings.NewReader(records(100))}); !errors.Is(err, os.ErrPermission) || s.seq(t) != 1 {
		t.Errorf("%v, %d commits", err, s.seq(t))
	}
	full = false
	if r := s.load(t, "", records(100)); r.Added != 100 || s.seq(t) != 2 {
		t.Errorf("again: %+v, %d commits", r, s.seq(t))
	}
}

// Other writers wait while an import is decided. One with very many values of few facts, in whatever form, is refused
// before it is; one with fewer ends with its caller.
func TestImportHoldsTheStoreForAShortTime(t *testing.T) {
	lines := func(n int, form string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, form+"\n", i)
		}
		return b.String()
	}
	forms := map[string]string{
		"several": `{"category":"flow","key":"push","value":"always push to dev %d","also":true}`,
		"one":     `{"category":"flow","key":"push","value":"always push to dev %d"}`,
		"same":    `{"category":"flow","key":"push","value":"always push","source":"t%d"}`,
	}
	for name, form := range forms {
		for _, merge := range []string{"skip-existing", "replace", "append"} {
			s := testStore(t, nil)
			s.remember(t, Assertion{Category: "flow", Key: "push", Value: "never push", Source: "user"})
			begun := time.Now()
			_, err := transfer.Import(t.Context(), s.Store, transfer.Incoming{Data: strings.NewReader(lines(20_000, form)), Merge: merge})
			if err == nil || !strings.Contains(err.Error(), "too many values of a few facts, the most of flow/push (20,000)") || time.Since(begun) > 20*time.Second || s.seq(t) != 1 {
				t.Errorf("%s, %s: after %v: %v", name, merge, time.Since(begun), err)
			}
			if _, err := transfer.Import(t.Context(), s.Store, transfer.Incoming{Data: strings.NewReader(lines(60, form)), Merge: merge}); err != nil {
				t.Errorf("%s, %s: %v", name, merge, err)
			}
			ended := &endedLater{Context: t.Context(), after: 450}
			if _, err := transfer.Import(ended, s.Store, transfer.Incoming{Data: strings.NewReader(lines(300, form)), Merge: merge}); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %s: it went on: %v", name, merge, err)
			}
		}
	}
}

// endedLater is a context that has ended when it has been asked some times.
type endedLater struct {
	context.Context
	after int
}

func (c *endedLater) Err() error {
	if c.after--; c.after < 0 {
		return context.Canceled
	}
	return nil
}

// An import tells how far it is, up to its end, and never goes back.
func TestImportTellsHowFarItIs(t *testing.T) {
	s, told, calls := testStore(t, nil), 0, 0
	_, err := transfer.Import(t.Context(), s.Store, transfer.Incoming{Data: strings.NewReader(records(100)), Progress: func(done, total int) {
		if done < told || total != 300 {
			t.Errorf("told %d of %d after %d", done, total, told)
		}
		told, calls = done, calls+1
	}})
	if err != nil || told != 300 || calls < 100 {
		t.Errorf("told %d in %d calls: %v", told, calls, err)
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
		h, err := advice.Health(t.Context(), s.Store, Examining{})
		if err != nil || strings.Contains(h.Text(), line) != want {
			t.Errorf("health: %s, %v", h.Text(), err)
		}
		st, err := listing.Status(t.Context(), s.Store, Examining{})
		if err != nil || strings.Contains(st.Text(), line) != want || st.Overgrown != want {
			t.Errorf("status: %s, %v", st.Text(), err)
		}
	}
	tells(true)
	s.CloseSettled()
	s.folded(t)
	tells(false)
}
