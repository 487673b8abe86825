package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
)

// opened is a ledger of a hundred facts that is read in parts, whatever its
// size, and its snapshot has no key table yet.
func opened(t *testing.T) (l *Log, dir string) {
	t.Helper()
	dir = t.TempDir()
	l = open(t, dir)
	put(t, l, 100, "as it was")
	if err := l.log.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l, dir
}

func open(t *testing.T, dir string) *Log {
	t.Helper()
	l, err := Open(dir, &Options{ProjectRoot: "/home/u/my-app", ProjectHash: "14958352f5925e3e", KeysFrom: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func put(t *testing.T, l *Log, most int, value string) {
	t.Helper()
	err := l.Update(t.Context(), func(_ *State, now time.Time) (events []Event, err error) {
		for i := range most {
			events = append(events, Event{Put: &fact.Version{
				ID: fmt.Sprint("f-", i), Category: fmt.Sprint("Room ", i%3), Key: fmt.Sprint("key ", i), Value: value,
				Confidence: .8, ConfirmationCount: 1, CreatedAt: now, LastConfirmed: now, ValidFrom: now, RecordedFrom: now, Aliases: []string{fmt.Sprint("other ", i)},
			}})
		}
		return events, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// told is all that a state says, in the order of names.
func told(t *testing.T, l *Log) (lines []string) {
	t.Helper()
	err := l.View(t.Context(), func(st *State, _ journal.Head) error {
		lines = nil
		for n, vs := range st.Sorted() {
			for _, v := range vs {
				lines = append(lines, fmt.Sprint(n, v.ID, v.Value, st.Room(n.Category), v.Aliases))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func partial(t *testing.T, l *Log) (is bool) {
	t.Helper()
	if err := l.View(t.Context(), func(st *State, _ journal.Head) error { is = st.Partial(); return nil }); err != nil {
		t.Fatal(err)
	}
	return is
}

// Whoever refits goes over to the newest snapshot, once.
func TestRefit(t *testing.T) {
	l, _ := opened(t)
	for i := range 3 {
		put(t, l, 10, fmt.Sprint("anew ", i))
		want := told(t, l)
		if err := l.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := l.Refit(t.Context()); err != nil {
			t.Fatal(err)
		}
		h, size, ok := l.log.SnapshotHeader()
		if on := l.parts.on.Load(); !ok || on == nil || *on != snapshotOf(h, size) {
			t.Errorf("it reads from %v, want %v", on, snapshotOf(h, size))
		}
		if !partial(t, l) {
			t.Error("all facts were read")
		}
		if diff := cmp.Diff(want, told(t, l)); diff != "" {
			t.Errorf("after compaction %d (-before +after):\n%s", i, diff)
		}
	}
}

// A server that refits in the background while an answer is found anew makes no
// partial state of it again, whatever became of the key table in the meantime.
func TestRefitWhileAgain(t *testing.T) {
	_, dir := opened(t)
	l := open(t, dir)
	var was []bool
	err := l.wholly(t.Context(), func() error {
		was = append(was, partial(t, l))
		if len(was) == 1 {
			return &partialError{damagedFact(0)}
		}
		if err := l.Refit(t.Context()); err != nil {
			t.Error(err)
		}
		was = append(was, partial(t, l))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]bool{true, false, false}, was); diff != "" {
		t.Errorf("at first, anew, after a refit (-want +got):\n%s", diff)
	}
	l.parts.tried.Store(nil)
	if err := l.Refit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !partial(t, l) {
		t.Error("it stays whole for good")
	}
}

// A table that is missing is made to read from, and written when it is asked
// for; the next ledger makes none.
func TestTableMade(t *testing.T) {
	l, dir := opened(t)
	want := told(t, l)
	for _, made := range []bool{true, false} {
		l := open(t, dir)
		if !partial(t, l) || (l.parts.made.Load() != nil) != made {
			t.Fatalf("made %v, want %v", l.parts.made.Load() != nil, made)
		}
		if diff := cmp.Diff(want, told(t, l)); diff != "" {
			t.Errorf("(-whole +partial):\n%s", diff)
		}
		if err := l.SettleKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "index", "keys")); err != nil {
			t.Error(err)
		}
	}
}

// A fact found damaged by one who reads in parts is answered for by the
// snapshot before. Peek does not go that far.
func TestReadAgainWhole(t *testing.T) {
	l, dir := opened(t)
	put(t, l, 10, "the newest")
	if err := l.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := told(t, l)
	name := filepath.Join(dir, "knowledge.json")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(data), "the newest", "the newer ", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if l = open(t, dir); !partial(t, l) {
		t.Fatal("the state is whole, and this test has no point")
	}
	runs := 0
	ask := func(st *State, _ journal.Head) error {
		runs++
		for range st.Each() {
		}
		return nil
	}
	if err := l.Peek(t.Context(), ask); err != nil || runs != 1 {
		t.Errorf("%v, after %d runs", err, runs)
	}
	if partial(t, l) {
		t.Error("what was damaged is still read from")
	}
	if diff := cmp.Diff(want, told(t, l)); diff != "" {
		t.Errorf("(-before +after the damage):\n%s", diff)
	}
}

// What is laid over facts is seen above them and not in them.
func TestOverlay(t *testing.T) {
	n := fact.IDOf("ROOM", "Key")
	st := New()
	st.fold(Event{Put: &fact.Version{ID: "f-1", Category: "Room", Key: "key", Value: "below", ConfirmationCount: 1}})
	o := Over(st, nil)
	o.Fold(Event{Confirm: &Confirmation{Category: "room", Key: "KEY", ID: "f-1", Confidence: 1}},
		Event{Put: &fact.Version{ID: "f-2", Category: "Other", Key: "key", Value: "above"}}, Note(NoteImport, "is no fact", time.Time{}))
	if vs := o.Versions(n); len(vs) != 1 || vs[0].ConfirmationCount != 2 || st.Versions(n)[0].ConfirmationCount != 1 {
		t.Errorf("%v above %v", vs, st.Versions(n))
	}
	if o.Room("room") != "Room" || o.Room("OTHER") != "Other" || st.Room("other") != "" {
		t.Errorf("rooms %q, %q above %q", o.Room("room"), o.Room("OTHER"), st.Room("other"))
	}
}

// What changed since a reach is told once, and a state of another epoch is not
// the one that was followed.
func TestReach(t *testing.T) {
	st := New()
	v := &fact.Version{ID: "f-1", Category: "Room", Key: "key", Value: "one"}
	st.fold(Event{Put: v})
	at := st.Reach()
	st.fold(Event{Put: v})
	st.fold(Event{Put: v})
	if names, lessons := st.ChangedSince(at); !at.Of(st) || !cmp.Equal(names, []fact.ID{fact.IDOf("room", "KEY")}) || lessons {
		t.Errorf("%v, lessons %v", names, lessons)
	}
	if names, _ := st.ChangedSince(st.Reach()); len(names) > 0 || at == st.Reach() {
		t.Errorf("%v since now", names)
	}
	before := st.Epoch()
	st.fold(Note(NoteImport, "Imported", time.Unix(1, 0)))
	if at.Of(st) || (Reach{}).Of(st) || st.Epoch() == before {
		t.Error("an import begins no epoch")
	}
}
