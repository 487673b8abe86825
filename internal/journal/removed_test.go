package journal_test

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"leanctx/internal/journal"
)

func TestDirectoryRemovedUnderARunningLog(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a directory that a process has open stays")
	}
	dir := t.TempDir() + "/d"
	l := open(t, dir, nil)
	update(t, l, "old")
	for range 2 {
		removeAll(t, dir)
		if s, h := view(t, l); len(s) != 0 || h.Seq != 0 {
			t.Errorf("nothing is there, and seen is %v at %d", s, h.Seq)
		}
		other := open(t, dir, nil)
		update(t, other, "new")
		update(t, l, "new")
		for _, l := range []*testLog{l, other} {
			if s, h := view(t, l); s["new"] != 2 || s["old"] != 0 || h.Seq != 2 {
				t.Errorf("%v at %d", s, h.Seq)
			}
		}
	}
}

func TestLockFileRemovedUnderARunningLog(t *testing.T) {
	dir := t.TempDir()
	quick := open(t, dir, &journal.Options{LockTimeout: time.Nanosecond})
	update(t, quick, "x")
	removeAll(t, dir+"/state.lock")
	hold := make(chan struct{})
	held := make(chan struct{})
	var wg sync.WaitGroup
	other := open(t, dir, nil)
	wg.Go(func() {
		_, _ = other.Update(t.Context(), func(counters, time.Time) ([]event, error) {
			close(held)
			<-hold
			return nil, nil
		})
	})
	<-held
	if _, err := quick.Update(t.Context(), add("x")); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("with the removed file open: %v, want locked", err)
	}
	close(hold)
	wg.Wait()
	update(t, quick, "x")
}

func removeAll(t testing.TB, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}
