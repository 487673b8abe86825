package state

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/formats"
	"leanctx/internal/proctest"
	"leanctx/knowledge/fact"
)

func openLog(t *testing.T, dir string) *Log {
	t.Helper()
	l, err := Open(dir, &Options{ProjectRoot: "/home/u/my-app", ProjectHash: "14958352f5925e3e"})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// random is a commit of some events on few facts.
func random(r *rand.Rand, k Reader, now time.Time) (events []Event) {
	for range 1 + r.IntN(4) {
		category, key := fmt.Sprint("Room ", r.IntN(3)), fmt.Sprint("key/", r.IntN(8))
		n := fact.IDOf(category, key)
		vs := k.Versions(n)
		switch x := r.IntN(10); {
		case x < 5 || len(vs) == 0:
			events = append(events, Event{Put: &fact.Version{
				ID: formats.VersionID(category, key, "", now, len(events)), Category: category, Key: key, Value: fmt.Sprint("value ", r.IntN(5)),
				Confidence: .8, ConfirmationCount: 1, CreatedAt: now, LastConfirmed: now, ValidFrom: now, RecordedFrom: now, Aliases: []string{fmt.Sprint("other ", r.IntN(4))},
			}})
		case x < 8:
			v := vs[r.IntN(len(vs))]
			events = append(events, Event{Confirm: &Confirmation{Category: category, Key: key, ID: v.ID, Confidence: .9, Source: formats.Source{At: now}}})
		case x < 9:
			events = append(events, Event{Gotcha: &formats.Gotcha{ID: fmt.Sprint("g-", r.IntN(3)), Trigger: fmt.Sprint("trigger ", r.IntN(9)), Resolution: "mind it", FirstSeen: now, LastSeen: now}})
		default:
			events = append(events, Event{Erase: &formats.Tombstone{Category: category, Key: key, ErasedAt: now}})
		}
	}
	return events
}

// told is what Reader says of every fact, with the names and values that lead to it.
func told(k Reader) (lines []string) {
	for i := range 3 {
		for j := range 8 {
			n := fact.IDOf(fmt.Sprint("Room ", i), fmt.Sprint("key/", j))
			for _, v := range k.Versions(n) {
				lines = append(lines, fmt.Sprint(k.Room(n.Category), n.Key, " ", v.ID, v.Value, v.ConfirmationCount, len(v.Sources), v.Aliases,
					slices.Contains(k.Named(n.Key), n), slices.Contains(k.Named(v.Aliases[0]), n), slices.Contains(k.Valued(v.Value), n)))
			}
			if _, erased := k.Erased(n); erased {
				lines = append(lines, fmt.Sprint(n, " erased"))
			}
		}
	}
	for _, v := range k.CurrentIn(fact.RoomGotcha, k.At) {
		lines = append(lines, v.Key+v.ID+v.Value)
	}
	slices.Sort(lines)
	return append(lines, fmt.Sprint(k.Seq, k.Count))
}

// A state that begins at the index answers like one with all facts in memory. That holds
// whatever was committed, compacted and indexed before, by however many handles.
func TestStateFromIndexIsTheWholeState(t *testing.T) {
	begun := 0
	seeds := max(2, proctest.Rounds(12))
	for seed := range uint64(seeds) {
		r, dir := rand.New(rand.NewPCG(seed, 1)), t.TempDir()
		logs := []*Log{openLog(t, dir)}
		for step := range 40 {
			l := logs[r.IntN(len(logs))]
			switch x := r.IntN(10); {
			case x < 6:
				must(t, l.UpdateSome(t.Context(), func(k Reader, now time.Time) ([]Event, error) { return random(r, k, now), nil }))
			case x < 7:
				must(t, l.Compact(t.Context()))
			case x < 9:
				must(t, l.Sync(t.Context(), 1, nil))
			default:
				logs = append(logs, openLog(t, dir))
			}
			var want []string
			cold := openLog(t, dir)
			must(t, cold.View(t.Context(), func(st *State) error { want = told(st.Reader()); return nil }))
			for i, l := range append([]*Log{cold}, logs...) {
				must(t, l.ViewSome(t.Context(), func(k Reader) error {
					if k.state.base != nil {
						begun++
					}
					if diff := cmp.Diff(want, told(k)); diff != "" {
						t.Fatalf("seed %d, step %d, log %d of %d (-whole +looked):\n%s", seed, step, i, len(logs), diff)
					}
					return nil
				}))
				must(t, l.Search(t.Context(), func(k Reader, x *Index) error {
					for _, v := range x.state.Reader().CurrentIn(fact.RoomGotcha, k.At) {
						if got, err := x.Version(t.Context(), v.ID); err != nil || got == nil {
							t.Errorf("%s: %v, %v", v.ID, got, err)
						}
					}
					docs, err := x.Named(t.Context(), "key/3")
					for _, d := range docs {
						if vs := x.Versions(d); len(vs) == 0 {
							t.Errorf("the index has %q, the state has not", d)
						}
					}
					return err
				}))
			}
			must(t, cold.Close())
		}
		for _, l := range logs {
			must(t, l.Close())
		}
	}
	if begun < 8*seeds {
		t.Errorf("only %d states began at the index", begun)
	}
}

// An index that is damaged under a state, or is of another journal, changes no
// answer.
func TestDamagedBaseIsLeftForTheFacts(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, dir)
	r := rand.New(rand.NewPCG(1, 1))
	for range 30 {
		must(t, l.UpdateSome(t.Context(), func(k Reader, now time.Time) ([]Event, error) { return random(r, k, now), nil }))
	}
	must(t, l.Sync(t.Context(), 1, nil))
	must(t, l.Close())
	l = openLog(t, dir)
	defer l.Close()
	var want, got []string
	calls := 0
	must(t, l.View(t.Context(), func(st *State) error { want = told(st.Reader()); return nil }))
	must(t, l.ViewSome(t.Context(), func(k Reader) error {
		if calls++; calls == 1 {
			k.state.base.fail(fmt.Errorf("a file is gone"))
		}
		got = told(k)
		return nil
	}))
	if diff := cmp.Diff(want, got); diff != "" || calls != 2 {
		t.Errorf("%d calls: %s", calls, diff)
	}
	must(t, l.ViewSome(t.Context(), func(k Reader) error { got = told(k); return nil }))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A command whose index is damaged after it was opened finds all facts, not only those that changed since.
func TestIndexDamagedUnderASearch(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file is not cut")
	}
	dir := t.TempDir()
	l := openLog(t, dir)
	for i := range 3 {
		must(t, l.UpdateSome(t.Context(), func(_ Reader, now time.Time) ([]Event, error) {
			key := fmt.Sprint("key", i)
			return []Event{{Put: &fact.Version{ID: formats.VersionID("room", key, key, now, 0), Category: "room", Key: key, Value: key, CreatedAt: now, ValidFrom: now, RecordedFrom: now}}}, nil
		}))
	}
	must(t, l.Sync(t.Context(), 1, nil))
	must(t, l.Close())
	l = openLog(t, dir)
	defer l.Close()
	files, err := filepath.Glob(filepath.Join(dir, "index", "*", "store", "*.zap"))
	must(t, err)
	for _, f := range files {
		must(t, os.Truncate(f, 0))
	}
	must(t, l.Search(t.Context(), func(k Reader, x *Index) error {
		docs, err := x.Named(t.Context(), "key1")
		if err == nil && len(docs) != 1 {
			t.Errorf("%d facts of %d are found", len(docs), x.Count())
		}
		return err
	}))
}

// A search has an index of its own, also when another call has it opened again meanwhile.
func TestSearchWhileTheIndexIsOpenedAgain(t *testing.T) {
	l := openLog(t, t.TempDir())
	defer l.Close()
	r := rand.New(rand.NewPCG(1, 1))
	must(t, l.UpdateSome(t.Context(), func(k Reader, now time.Time) ([]Event, error) { return random(r, k, now), nil }))
	must(t, l.Sync(t.Context(), 1, nil))
	summaries := func(x *Index) (n int) {
		if err := x.Summaries(func(string, []byte) bool { n++; return true }); err != nil {
			t.Error(err)
		}
		return n
	}
	var want int
	must(t, l.Search(t.Context(), func(_ Reader, x *Index) error { want = summaries(x); return nil }))
	var searches sync.WaitGroup
	for range 2 {
		searches.Go(func() {
			for range 100 {
				err := l.Search(t.Context(), func(_ Reader, x *Index) error {
					for range 10 {
						if n := summaries(x); n != want {
							t.Errorf("%d facts of %d", n, want)
						}
						runtime.Gosched()
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	ended := make(chan bool)
	go func() { searches.Wait(); close(ended) }()
	for {
		select {
		case <-ended:
			return
		default:
			l.index.reopen()
		}
	}
}

// What was erased is not on the disk, so no file of the index that held it stays open.
func TestPurgeClosesTheIndex(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the open files of a process are listed on Linux alone")
	}
	dir := t.TempDir()
	l, err := Open(dir, &Options{LongLived: true})
	must(t, err)
	defer func() { must(t, l.Close()) }()
	r := rand.New(rand.NewPCG(1, 1))
	for range 2 {
		must(t, l.UpdateSome(t.Context(), func(k Reader, now time.Time) ([]Event, error) { return random(r, k, now), nil }))
		must(t, l.Sync(t.Context(), 1, nil))
		must(t, l.Close())
		l, err = Open(dir, &Options{LongLived: true}) // it begins at the index
		must(t, err)
		l.loading.Wait()
		must(t, l.Search(t.Context(), func(Reader, *Index) error { return nil }))
		must(t, l.Purge(t.Context()))
		open, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		for _, e := range open {
			if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, filepath.Join(dir, "index")) {
				t.Errorf("%s is open", to)
			}
		}
	}
}

// Each of the two logs of a directory counts its own losses. The index is made anew after a loss,
// whichever log it followed before.
func TestIndexOfALogThatLostCommits(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that a process has open is not replaced")
	}
	dir, older := t.TempDir(), t.TempDir()
	put := func(l *Log, key string) {
		t.Helper()
		must(t, l.UpdateSome(t.Context(), func(_ Reader, now time.Time) ([]Event, error) {
			return []Event{{Put: &fact.Version{ID: formats.VersionID("room", key, key, now, 0), Category: "room", Key: key, Value: key, CreatedAt: now, ValidFrom: now, RecordedFrom: now}}}, nil
		}))
	}
	count := func(l *Log) (n int) {
		t.Helper()
		must(t, l.Search(t.Context(), func(_ Reader, x *Index) error { n = x.Count(); return nil }))
		return n
	}
	setBack := func() {
		t.Helper()
		must(t, os.RemoveAll(filepath.Join(dir, "knowledge.journal")))
		must(t, os.CopyFS(dir, os.DirFS(older)))
	}
	l := openLog(t, dir)
	put(l, "first")
	must(t, l.Sync(t.Context(), 1, nil))
	must(t, l.Close())
	text, err := os.ReadFile(filepath.Join(dir, "knowledge.journal"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(older, "knowledge.journal"), text, 0o600))

	l = openLog(t, dir)
	defer l.Close()
	for i, all := range []bool{false, true} {
		if all { // as a server does once it has all facts in memory
			must(t, l.View(t.Context(), func(*State) error { return nil }))
			l.mu.Lock()
			l.some = nil
			l.mu.Unlock()
		}
		put(l, fmt.Sprint("gone ", i))
		if n := count(l); n != 2 {
			t.Fatalf("before loss %d: %d facts in the index", i, n)
		}
		setBack()
		put(l, fmt.Sprint("after ", i))
		if n := count(l); n != 2 {
			t.Fatalf("after loss %d: %d facts in the index", i, n)
		}
		must(t, l.Search(t.Context(), func(_ Reader, x *Index) error {
			if docs, err := x.Named(t.Context(), fmt.Sprint("after ", i)); err != nil || len(docs) != 1 {
				t.Errorf("after loss %d the new fact is not found: %v, %v", i, docs, err)
			}
			return nil
		}))
		setBack()
	}
}
