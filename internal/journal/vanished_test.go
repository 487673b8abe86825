package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"leanctx/internal/journal"
)

// TestJournalThatEndsEarlierIsNoticed changes the files of a store from outside,
// closed and under a running log.
func TestJournalThatEndsEarlierIsNoticed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that a process has open is not replaced")
	}
	journalOf := func(dir string) string { return filepath.Join(dir, "state.journal") }
	for name, change := range map[string]func(t *testing.T, dir, older string){
		"emptied": func(t *testing.T, dir, _ string) { write(t, nil, journalOf(dir)) },
		"deleted": func(t *testing.T, dir, _ string) { removeAll(t, journalOf(dir)) },
		"cut at a line end": func(t *testing.T, dir, _ string) {
			j := strings.SplitAfter(string(read(t, journalOf(dir))), "\n")
			write(t, []byte(strings.Join(j[:len(j)-4], "")), journalOf(dir))
		},
		"an older copy": func(t *testing.T, dir, older string) { write(t, read(t, older, "state.journal"), journalOf(dir)) },
		"an older copy, gone on with": func(t *testing.T, dir, older string) {
			l := open(t, older, nil)
			for range 9 {
				update(t, l, "other")
			}
			write(t, read(t, older, "state.journal"), journalOf(dir))
		},
		"the snapshot and the journal": func(t *testing.T, dir, older string) {
			for _, file := range []string{"state.json", "state.journal"} {
				write(t, read(t, older, file), dir, file)
			}
		},
	} {
		for _, running := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, running %v", name, running), func(t *testing.T) {
				dir, older := t.TempDir(), t.TempDir()
				l := open(t, dir, nil)
				update(t, l, "a")
				if err := l.Compact(t.Context()); err != nil {
					t.Fatal(err)
				}
				update(t, l, "b")
				if err := os.CopyFS(filepath.Join(older, "copy"), os.DirFS(dir)); err != nil {
					t.Fatal(err)
				}
				for range 4 {
					update(t, l, "c")
				}
				if !running {
					l.Close()
				}
				change(t, dir, filepath.Join(older, "copy"))
				if !running {
					l = open(t, dir, nil)
				}
				if _, h := view(t, l); len(l.Warnings()) == 0 {
					t.Errorf("a view at %d says nothing", h.Seq)
				}
				h := update(t, l, "d")
				if !slices.ContainsFunc(l.Warnings(), func(w journal.Warning) bool { return w.Kind == journal.Lost }) {
					t.Errorf("after an update: %v", l.Warnings())
				}
				s, seen := view(t, l)
				if s["a"] != 1 || s["d"] != 1 || h.Seq < 7 || seen != h {
					t.Errorf("%v at %v", s, seen)
				}
				if got, _ := view(t, open(t, dir, nil)); fmt.Sprint(got) != fmt.Sprint(s) {
					t.Errorf("another sees %v, want %v", got, s)
				}
				reported := slices.ContainsFunc(open(t, dir, nil).Stats().SetAside, func(n string) bool { return journal.LostIn(n) != "" })
				if !reported {
					t.Errorf("it is not reported later: %v", l.Stats().SetAside)
				}
				if running {
					rescued(t, l, dir, "c", 4)
				}
			})
		}
	}
}

// rescued checks that the former state was kept, and that it is a snapshot.
func rescued(t *testing.T, l *testLog, dir, key string, want int) {
	t.Helper()
	i := slices.IndexFunc(l.Stats().SetAside, func(n string) bool { return strings.HasPrefix(n, "state.json.rescued-") })
	if i < 0 {
		t.Fatalf("nothing was rescued: %v", l.Warnings())
	}
	other := t.TempDir()
	write(t, read(t, dir, l.Stats().SetAside[i]), other, "state.json")
	if s, _ := view(t, open(t, other, nil)); s[key] != want {
		t.Errorf("rescued: %v, want %d of %s", s, want, key)
	}
}

func TestDataDirectoryDeletedUnderARunningLog(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a directory that a process has open stays")
	}
	dir := filepath.Join(t.TempDir(), "d")
	l := open(t, dir, nil)
	update(t, l, "a")
	update(t, l, "a")
	removeAll(t, dir)
	if s, _ := view(t, l); len(s) != 0 {
		t.Errorf("%v", s)
	}
	if k := kindsOf(l); !slices.Equal(k, []journal.Kind{journal.Vanished}) {
		t.Errorf("a view of what is gone: %v", l.Warnings())
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a view made the directory")
	}
	update(t, l, "b")
	if s, h := view(t, l); h.Seq != 1 || fmt.Sprint(s) != "map[b:1]" {
		t.Errorf("%v at %v", s, h)
	}
	rescued(t, l, dir, "a", 2)
	if err := l.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if aside := l.Stats().SetAside; len(aside) != 0 {
		t.Errorf("left after a purge: %v", aside)
	}
}

func kindsOf(l *testLog) (ks []journal.Kind) {
	for _, w := range l.Warnings() {
		ks = append(ks, w.Kind)
	}
	return ks
}

// TestWitnessThatIsNone has a head file that cannot be parsed, is of an older
// commit, or is missing: none of these is a loss.
func TestWitnessThatIsNone(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, nil)
	update(t, l, "a")
	older := read(t, dir, "state.head")
	update(t, l, "a")
	l.Close()
	newest := read(t, dir, "state.head")
	for name, text := range map[string][]byte{
		"empty": nil, "older": older, "newest": newest, "zeros": make([]byte, len(newest)), "half": newest[:len(newest)/2],
		"flipped": flipped(newest, len(newest)/2, 1), "huge": []byte(`00000000 {"seq":18446744073709551615,"prev":"00000000"}` + "\n"),
		"longer before": append(slices.Clone(newest), `rest of a longer line"}`...),
	} {
		write(t, text, dir, "state.head")
		l := open(t, dir, nil)
		if s, h := view(t, l); s["a"] != 2 || h.Seq != 2 || len(l.Warnings()) > 0 {
			t.Errorf("%s: %v at %v, %v", name, s, h, l.Warnings())
		}
		l.Close()
	}
	removeAll(t, filepath.Join(dir, "state.head"))
	l = open(t, dir, nil)
	update(t, l, "a")
	if w := l.Warnings(); len(w) > 0 {
		t.Errorf("missing: %v", w)
	}
}

// TestClockAheadIsReported has a commit made by a machine whose clock was wrong.
func TestClockAheadIsReported(t *testing.T) {
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		by    time.Duration
		warns bool
	}{
		"an hour": {time.Hour - time.Second, false}, "more than an hour": {time.Hour + time.Minute, true}, "400 days": {400 * 24 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			update(t, open(t, dir, &journal.Options{Now: func() time.Time { return now.Add(tt.by) }}), "x")
			l := open(t, dir, &journal.Options{Now: func() time.Time { return now }})
			update(t, l, "x")
			_, h := view(t, l)
			var want []journal.Kind
			if tt.warns {
				want = []journal.Kind{journal.Ahead}
			}
			if k := kindsOf(l); !slices.Equal(k, want) || !h.At.After(now) {
				t.Errorf("at %v: %v", h.At, l.Warnings())
			}
		})
	}
}
