package journal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/internal/journal"
)

func TestNothingIsMadeBeforeTheFirstUpdate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	l := open(t, dir, nil)
	if s, h := view(t, l); len(s) != 0 || h != (journal.Head{}) {
		t.Errorf("state of nothing = %v at %v", s, h)
	}
	if err := l.Compact(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was made: %v", err)
	}
	update(t, l, "x")
	for name, mode := range map[string]os.FileMode{"": 0o700, "state.journal": 0o600, "state.lock": 0o600} {
		fi, err := os.Stat(filepath.Join(dir, name))
		if err != nil || fi.Mode().Perm() != mode && runtime.GOOS != "windows" { // which has no such modes
			t.Errorf("%q: %v, %v, want mode %v", name, fi, err, mode)
		}
	}
}

func TestUpdatesAreSeenByOthersAndAfterReopening(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir, nil), open(t, dir, nil)
	want := counters{}
	for i := range 40 {
		key := []string{"x", "y", "z"}[i%3]
		update(t, []*testLog{a, b}[i%2], key)
		want[key]++
		if i%7 == 3 {
			if err := a.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for name, l := range map[string]*testLog{"a": a, "b": b, "new": open(t, dir, nil)} {
			got, h := view(t, l)
			if diff := cmp.Diff(want, got); diff != "" || h.Seq != uint64(i+1) {
				t.Fatalf("after %d updates, log %s at %d: %s", i+1, name, h.Seq, diff)
			}
			if w := l.Warnings(); len(w) > 0 {
				t.Fatalf("log %s warns: %v", name, w)
			}
		}
	}
}

func TestRecordedTimeAlwaysIncreases(t *testing.T) {
	dir := t.TempDir()
	start := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	var last time.Time
	for i, clock := range []time.Duration{0, 0, time.Hour, -time.Hour, -100 * time.Hour, 0, 2 * time.Hour} {
		l := open(t, dir, &journal.Options{Now: func() time.Time { return start.Add(clock) }})
		var given time.Time
		h, err := l.Update(t.Context(), func(_ counters, now time.Time) ([]event, error) {
			given = now
			return []event{{Key: "x", Add: 1}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := start.Add(clock)
		if !want.After(last) {
			want = last.Add(1)
		}
		if !h.At.Equal(want) || !given.Equal(want) {
			t.Errorf("update %d recorded at %v, decided at %v, want %v", i, h.At, given, want)
		}
		last = h.At
		if i%2 == 1 {
			if err := l.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if _, seen := view(t, open(t, dir, nil)); !seen.At.Equal(last) {
			t.Errorf("after update %d the head is at %v, want %v", i, seen.At, last)
		}
	}
}

// One answer that reads several times looks at the files once. What was committed before it began is seen,
// whoever did; so is what this process commits meanwhile.
func TestViewsOfOneAnswerShareALook(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir, nil), open(t, dir, nil)
	seen := func(ctx context.Context) (n int) {
		t.Helper()
		if err := a.View(ctx, func(s counters, _ journal.Head) error { n = s["x"]; return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	update(t, b, "x")
	once := journal.Once(t.Context())
	for range 2 {
		if n := seen(once); n != 1 {
			t.Fatalf("%d commits are seen, 1 was made before the answer began", n)
		}
	}
	update(t, b, "x")
	if n := seen(once); n != 1 {
		t.Errorf("%d commits are seen: the files were looked at again", n)
	}
	if n := seen(journal.Once(once)); n != 1 {
		t.Errorf("%d commits are seen by a part of the answer", n)
	}
	if n := seen(journal.Once(t.Context())); n != 2 {
		t.Errorf("%d commits are seen by the next answer, want 2", n)
	}
	update(t, b, "x")
	if n := seen(t.Context()); n != 3 {
		t.Errorf("%d commits are seen, want 3", n)
	}
	once = journal.Once(t.Context())
	update(t, a, "x")
	if n := seen(once); n != 4 {
		t.Errorf("%d commits are seen, want its own too", n)
	}
}
