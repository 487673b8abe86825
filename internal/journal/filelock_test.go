package journal_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"leanctx/internal/journal"
)

func lockRoot(t testing.TB) *os.Root {
	t.Helper()
	root, err := journal.OpenDir(filepath.Join(t.TempDir(), "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func TestFileLock(t *testing.T) {
	root := lockRoot(t)
	l, ok, err := journal.TryLock(root, "x.lock")
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, ok, err := journal.TryLock(root, "x.lock"); ok || err != nil {
		t.Errorf("locked twice: %v, %v", ok, err)
	}
	other, ok, err := journal.TryLock(root, "y.lock")
	if !ok || err != nil {
		t.Errorf("another name: %v, %v", ok, err)
	}
	for range 2 {
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
	}
	again, ok, err := journal.TryLock(root, "x.lock")
	if !ok || err != nil {
		t.Fatalf("after it was let go: %v, %v", ok, err)
	}
	for _, l := range []*journal.FileLock{again, other} {
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
	}
}

// A shared lock keeps everybody from having the file alone, and the other way.
func TestFileLockShared(t *testing.T) {
	root := lockRoot(t)
	share := func(want bool) *journal.FileLock {
		t.Helper()
		l, ok, err := journal.TryShared(root, "x.lock")
		if ok != want || err != nil {
			t.Fatal(ok, err)
		}
		return l
	}
	one, two := share(true), share(true)
	for _, l := range []*journal.FileLock{one, two} {
		if _, ok, err := journal.TryLock(root, "x.lock"); ok || err != nil {
			t.Errorf("had alone while it is shared: %v, %v", ok, err)
		}
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
	}
	alone, ok, err := journal.TryLock(root, "x.lock")
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	share(false)
	if err := alone.Unlock(); err != nil {
		t.Error(err)
	}
	if err := share(true).Unlock(); err != nil {
		t.Error(err)
	}
}

func TestFileLockBadNames(t *testing.T) {
	root := lockRoot(t)
	for _, name := range []string{"../x.lock", "no such directory/x.lock", strings.Repeat("x", 300)} {
		if l, ok, err := journal.TryLock(root, name); l != nil || ok || err == nil || !strings.Contains(err.Error(), filepath.Dir(root.Name())) {
			t.Errorf("%.20s: %v, %v", name, ok, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(root.Name())); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v: it led out of the directory", entries, err)
	}
}

// The holder may remove the file when it is done: two never hold one name.
func TestFileLockRemoved(t *testing.T) {
	root := lockRoot(t)
	var holders, had atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for had.Load() < 200 {
				l, ok, err := journal.TryLock(root, "x.lock")
				if err != nil {
					t.Error(err)
					return
				}
				if !ok {
					continue
				}
				if holders.Add(1) > 1 {
					t.Error("two hold it")
				}
				had.Add(1)
				holders.Add(-1)
				_ = root.Remove("x.lock") // Windows may refuse
				if err := l.Unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
