//go:build unix

package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
)

// scenes are the directories that the crash tests begin with: each has
// something for the first writer to put in order.
func scenes() map[string]func(t *testing.T, dir string) *story {
	return map[string]func(t *testing.T, dir string) *story{
		"empty":   func(t *testing.T, dir string) *story { return newStory(dir) },
		"written": func(t *testing.T, dir string) *story { return sampleStory(t, dir) },
		"no hard links": func(t *testing.T, dir string) *story {
			s := sampleStory(t, dir)
			s.linkless = true
			return s
		},
		"torn": func(t *testing.T, dir string) *story {
			s := sampleStory(t, dir)
			j := read(t, dir, "state.journal")
			s.torn = "00000000 {\"seq\":11,"
			write(t, append(j, s.torn...), dir, "state.journal")
			return s
		},
		"damaged journal": func(t *testing.T, dir string) *story {
			s := sampleStory(t, dir)
			j := read(t, dir, "state.journal")
			j = flipped(j, len(j)/2, 2)
			write(t, j, dir, "state.journal")
			delete(s.acked, "c8")
			s.torn = string(bytes.Split(j, []byte("\n"))[2])
			return s
		},
		"damaged snapshot": func(t *testing.T, dir string) *story {
			s := sampleStory(t, dir)
			data := read(t, dir, "state.json")
			write(t, flipped(data, len(data)/2, 2), dir, "state.json")
			s.frail = true
			return s
		},
		"snapshot gone": func(t *testing.T, dir string) *story {
			s := sampleStory(t, dir)
			os.Remove(dir + "/state.json")
			s.frail = true
			return s
		},
		"compaction interrupted, and the snapshot damaged": func(t *testing.T, dir string) *story {
			s := sampleStory(t, dir)
			data := read(t, dir, "state.json")
			write(t, data, dir, "state.json.new")
			write(t, flipped(data, len(data)/2, 2), dir, "state.json")
			s.frail, s.volatile = true, "state.json.new"
			return s
		},
	}
}

// act is what the crash tests interrupt: updates, compactions, a purge.
// Errors are given to failed; a test that injects none has it fail.
func act(t *testing.T, l *testLog, s *story, failed func(error)) {
	t.Helper()
	steps := []func() error{
		func() error { return s.update(t, l) },
		func() error { return s.update(t, l) },
		func() error { return l.Compact(t.Context()) },
		func() error { return s.update(t, l) },
		func() error { return l.Compact(t.Context()) },
		func() error { return s.update(t, l) },
		func() error {
			s.torn = ""
			err := l.Purge(t.Context())
			s.purged = err == nil
			return err
		},
		func() error { return s.update(t, l) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			failed(err)
		}
	}
}

func TestCrashAtEveryStep(t *testing.T) {
	mixtures := 1
	if *long {
		mixtures = 20
	}
	for name, scene := range scenes() {
		t.Run(name, func(t *testing.T) {
			scratch(t, func(dir string) {
				s := scene(t, dir)
				start := takeImage(t, dir)
				sh := newShadow(start, s)
				n, checked := 0, map[string]bool{}
				check := func(op, name string) error {
					now := takeImage(t, dir)
					sh.next(t, dir, now, op, name)
					for how, m := range sh.images(now, mixtures) {
						if n%proctest.Stride != 0 {
							break
						}
						what := m.describe() + fmt.Sprint(s)
						if checked[what] {
							continue // the operation before changed nothing that is on disk
						}
						checked[what] = true
						crashed(t, m, s, fmt.Sprintf("step %d, before %s of %s, %s", n, op, name, how))
					}
					n++
					return s.unsupported(op)
				}
				l := open(t, dir, &journal.Options{Fault: check})
				act(t, l, s, func(err error) { t.Fatal(err) })
				if err := check("end", ""); err != nil || n < 50 {
					t.Errorf("only %d steps, %v", n, err)
				}
			})
		})
	}
}

// crashed checks that the next process goes on from an image, also if then
// one of the snapshots is damaged.
func crashed(t *testing.T, m image, s *story, where string) {
	t.Helper()
	damages := []string{"", "state.json", "state.json.prev", "state.json.new"}
	if s.frail {
		damages = damages[:1]
	}
	s.kept(t, m, where)
	for _, file := range damages {
		if _, ok := m.names[file]; file != "" && (!ok || len(m.files[m.names[file]]) == 0) {
			continue
		}
		scratch(t, func(dir string) {
			m.put(t, dir)
			if file != "" {
				data := read(t, dir, file)
				write(t, flipped(data, len(data)*2/3, 1), dir, file) // of both names, if it has two
			}
			defer func() {
				if t.Failed() {
					t.Logf("%s, damaged %q: %v", where, file, slices.Sorted(maps.Keys(m.names)))
				}
			}()
			s.clone(dir).goesOn(t)
		})
	}
}

// kept checks that a torn write is in the journal or set aside, and that what
// was purged has not come back.
func (s *story) kept(t *testing.T, m image, where string) {
	t.Helper()
	var torn bool
	for name, ino := range m.names {
		torn = torn || strings.Contains(string(m.files[ino]), s.torn)
		if s.purged && (name == "state.journal.prev" || name == "state.journal.torn" || strings.Contains(name, "corrupt")) {
			t.Errorf("%s: %s is there after a purge", where, name)
		}
	}
	if !torn && s.torn != "" {
		t.Errorf("%s: what was torn or damaged is gone", where)
	}
}

// TestFailedWriteDoesNotComeBack lets an fsync fail although the bytes did
// reach the disk, and cuts the power at every step after the failure was answered.
func TestFailedWriteDoesNotComeBack(t *testing.T) {
	scratch(t, func(dir string) {
		s := sampleStory(t, dir)
		start := takeImage(t, dir)
		sh := newShadow(start, s)
		failed, answered := false, false
		hook := func(op, name string) error {
			now := takeImage(t, dir)
			sh.next(t, dir, now, op, name)
			if answered {
				for how, m := range sh.images(now, 0) {
					crashed(t, m, s, fmt.Sprintf("before %s of %s, %s", op, name, how))
				}
			}
			if op == "sync" && name == "state.journal" && !failed {
				failed = true
				return syscall.EIO
			}
			return nil
		}
		l := open(t, dir, &journal.Options{Fault: hook})
		if err := s.update(t, l); !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		answered = true
		s.updates(t, l, 2)
	})
}

// TestCompactionSyncsWhatItInherits is about a line that a killed writer left in
// the page cache: it must be on disk before a snapshot counts on it.
func TestCompactionSyncsWhatItInherits(t *testing.T) {
	s := sampleStory(t, t.TempDir())
	synced, began := false, false
	l := open(t, s.dir, &journal.Options{Fault: func(op, name string) error {
		synced = synced || op == "sync" && name == "state.journal"
		if op == "create" && name == "state.json.new" {
			if began = true; !synced {
				t.Error("a snapshot is begun, and the journal was not synced")
			}
		}
		return nil
	}})
	if err := l.Compact(t.Context()); err != nil || !began {
		t.Error(began, err)
	}
}
