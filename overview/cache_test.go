package overview

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// looked is an overview and the number of files that were opened for it.
func (l *land) looked(o *MapOptions) (string, int64) {
	l.Helper()
	settings := MapOptions{Cache: l.cache}
	if o != nil {
		settings = *o
	}
	m := NewMap(l.root, &settings)
	got, err := m.Overview(l.Context(), Inquiry{Task: "token"})
	if err != nil {
		l.Fatal(err)
	}
	return got.Text(), m.opened
}

func TestUnchangedIsNotRead(t *testing.T) {
	l := newLand(t)
	l.shop()
	first, opened := l.looked(nil)
	if opened < 6 {
		t.Fatalf("%d files were opened at first", opened)
	}
	before, err := os.ReadFile(cacheFile(l.cache, l.root))
	if err != nil {
		t.Fatal(err)
	}
	second, opened := l.looked(nil)
	if opened != 0 {
		t.Errorf("%d files were opened again", opened)
	}
	if d := cmp.Diff(first, second); d != "" {
		t.Error(d)
	}
	if after, err := os.ReadFile(cacheFile(l.cache, l.root)); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the cache was written again: %v", err)
	}

	l.write("src/db/pool.ts", "// Makes tokens.\nexport class Tokens {}\n")
	third, opened := l.looked(nil)
	if opened != 1 || !strings.Contains(third, "Makes tokens") {
		t.Errorf("%d files were opened after a change\n%s", opened, third)
	}
	if err := os.Remove(filepath.Join(l.root, "src", "db", "pool.ts")); err != nil {
		t.Fatal(err)
	}
	if gone, opened := l.looked(nil); opened != 0 || strings.Contains(gone, "pool.ts") {
		t.Errorf("%d files were opened after one was removed\n%s", opened, gone)
	}
}

// A change of the same size within the tick in which a file was read does not show in its time.
// So such a file is read again.
func TestRacyTimes(t *testing.T) {
	l := newLand(t)
	now := time.Now()
	for _, age := range []struct {
		name string
		when time.Time
		read int64
	}{
		{"the same instant", now, 1},
		{"the same tick", now.Add(-2 * time.Millisecond), 1},
		{"long ago", now.Add(-time.Minute), 0},
		{"the future", now.Add(time.Hour), 1},
		{"a second ago, in whole seconds", now.Truncate(time.Second).Add(-time.Second), 1},
	} {
		l.cache = t.TempDir()
		l.write("a.go", "package one\n")
		l.age("a.go", age.when)
		o := &MapOptions{Cache: l.cache, Now: func() time.Time { return now }}
		l.looked(o)
		if err := os.WriteFile(filepath.Join(l.root, "a.go"), []byte("package two\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		l.age("a.go", age.when)
		if _, opened := l.looked(o); opened != age.read {
			t.Errorf("%s: %d files were read", age.name, opened)
		}
	}
}

func TestCacheThatIsNoGood(t *testing.T) {
	l := newLand(t)
	l.shop()
	want, all := l.looked(nil)
	name := cacheFile(l.cache, l.root)
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for what, bad := range map[string][]byte{
		"empty": {}, "torn": good[:len(good)/2], "a bit": flip(good, len(good)-9), "newer": append([]byte("lean-ctx map A\n"), good[15:]...), "foreign": []byte("{}"),
	} {
		if err := os.WriteFile(name, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, opened := l.looked(nil); got != want || opened != all {
			t.Errorf("%s: %d files were opened\n%s", what, opened, got)
		}
		if _, opened := l.looked(nil); opened != 0 {
			t.Errorf("%s: it was not made anew", what)
		}
	}
	if err := os.RemoveAll(l.cache); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.cache, []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, opened := l.looked(nil); got != want || opened != all {
		t.Errorf("a file in the way: %d files were opened\n%s", opened, got)
	}
}

func flip(b []byte, i int) []byte {
	b = slices.Clone(b)
	b[i] ^= 1
	return b
}

func TestCacheCannotBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root may write anywhere: only the answer is checked")
	}
	l := newLand(t)
	l.shop()
	want, _ := l.looked(nil)
	if err := os.Remove(cacheFile(l.cache, l.root)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(l.cache, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(l.cache, fs.ModePerm)
	if got, _ := l.looked(nil); got != want {
		t.Error(got)
	}
}
