//go:build unix

package journal_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"leanctx/internal/journal"
)

var long = flag.Bool("long", false, "run the long variants of the crash tests")

// story runs the same writes against a log and keeps account of what was
// answered. Every commit counts up a key of its own, so that a state shows
// exactly which commits it is made of.
type story struct {
	dir   string
	n     int
	acked counters // commits that were answered
	maybe counters // commits whose outcome is open: under way, or in doubt
	frail bool     // one snapshot is damaged already

	volatile string // a file that is in the page cache only
	torn     string // a torn write or damaged line, which must be kept
	linkless bool   // the file system has no hard links
	purged   bool   // nothing old may be left
}

func newStory(dir string) *story {
	return &story{dir: dir, acked: counters{}, maybe: counters{}}
}

func (s *story) update(t testing.TB, l *testLog) error {
	s.n++
	key := fmt.Sprintf("c%d", s.n)
	s.maybe[key] = 1
	_, err := l.Update(t.Context(), add(key))
	if err == nil {
		s.acked[key] = 1
	}
	if !errors.Is(err, journal.ErrInDoubt) {
		delete(s.maybe, key)
	}
	return err
}

func (s *story) updates(t testing.TB, l *testLog, n int) {
	t.Helper()
	for range n {
		if err := s.update(t, l); err != nil {
			t.Fatal(err)
		}
	}
}

// check reports whether a state has everything that was answered, and nothing
// that was not tried, or failed.
func (s *story) check(got counters) error {
	for k := range s.acked {
		if got[k] != 1 {
			return fmt.Errorf("%s was answered and is there %d times", k, got[k])
		}
	}
	for k := range got {
		if s.acked[k]+s.maybe[k] == 0 {
			return fmt.Errorf("%s is there and was never answered", k)
		}
	}
	return nil
}

func (s *story) clone(dir string) *story {
	c := *s
	c.dir, c.acked, c.maybe = dir, maps.Clone(s.acked), maps.Clone(s.maybe)
	return &c
}

// goesOn opens a directory as the next process would. It checks that what was answered is
// there, that it can be written to and compacted, and that others see the same.
func (s *story) goesOn(t testing.TB) {
	t.Helper()
	l := open(t, s.dir, nil)
	defer l.Close()
	got, _ := view(t, l)
	if err := s.check(got); err != nil {
		t.Fatalf("read: %v", err)
	}
	s.maybe = counters{}
	for k := range got {
		s.acked[k] = 1 // what was once seen after a restart must stay
	}
	s.updates(t, l, 2)
	s.same(t, l)
	if err := l.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.updates(t, l, 1)
	s.same(t, l)
}

func (s *story) same(t testing.TB, l *testLog) {
	t.Helper()
	other := open(t, s.dir, nil)
	defer other.Close()
	for name, l := range map[string]*testLog{"the log": l, "another": other} {
		got, _ := view(t, l)
		if err := s.check(got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// sampleStory is a story of two compactions and commits after each: every file there is. It is
// acted once and then copied.
func sampleStory(t testing.TB, dir string) *story {
	t.Helper()
	sampleOnce.Do(func() {
		scratch(t, func(dir string) {
			s := newStory(dir)
			l := open(t, dir, nil)
			for range 2 {
				s.updates(t, l, 3)
				if err := l.Compact(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			s.updates(t, l, 4)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			sample, sampleFiles = s, takeImage(t, dir)
		})
	})
	sampleFiles.put(t, dir)
	return sample.clone(dir)
}

var (
	sampleOnce  sync.Once
	sample      *story
	sampleFiles image
)

// image is a directory's content: names and the files they stand for, of
// which two names may have the same.
type image struct {
	names map[string]uint64
	files map[uint64][]byte
}

func takeImage(t testing.TB, dir string) image {
	t.Helper()
	m := image{names: map[string]uint64{}, files: map[uint64][]byte{}}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		ino := fi.Sys().(*syscall.Stat_t).Ino
		m.names[e.Name()] = ino
		m.files[ino] = read(t, dir, e.Name())
	}
	return m
}

// describe is the same text for images with the same files.
func (m image) describe() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.names)) {
		fmt.Fprintf(&b, "%s %d %q\n", name, m.names[name], m.files[m.names[name]])
	}
	return b.String()
}

// put makes the directory in a new place, with the same hard links.
func (m image) put(t testing.TB, dir string) {
	t.Helper()
	first := map[uint64]string{}
	for _, name := range slices.Sorted(maps.Keys(m.names)) {
		ino := m.names[name]
		if twin, ok := first[ino]; ok {
			if err := os.Link(filepath.Join(dir, twin), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		first[ino] = name
		write(t, m.files[ino], dir, name)
	}
}

// scratch gives out directories that are removed as soon as they were used,
// in memory where there is such a place: the tests make thousands.
func scratch(t testing.TB, f func(dir string)) {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "journal-test-")
	if err != nil {
		dir, err = os.MkdirTemp(t.TempDir(), "")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	f(dir)
}
