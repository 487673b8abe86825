//go:build unix

package journal_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
)

// TestEachOperationFailsOnce fails one operation after another, in several ways.
func TestEachOperationFailsOnce(t *testing.T) {
	ways := map[string]error{
		"full disk": &journal.ShortWrite{Bytes: 20, Err: syscall.ENOSPC},
		"I/O error": syscall.EIO,
	}
	if *long {
		ways["not a byte of room"] = syscall.ENOSPC
	}
	for name, scene := range scenes() {
		for way, fault := range ways {
			t.Run(name+"/"+way, func(t *testing.T) {
				n := 0
				for at, op := range operations(t, scene) {
					if _, short := errors.AsType[*journal.ShortWrite](fault); short && op != "write" {
						continue // the other way fails it alike
					}
					if n++; n%proctest.Stride == 0 {
						scratch(t, func(dir string) { failOnce(t, scene(t, dir), at, fault) })
					}
				}
			})
		}
	}
}

// operations is what is done to the files in a scene.
func operations(t *testing.T, scene func(*testing.T, string) *story) (ops []string) {
	t.Helper()
	scratch(t, func(dir string) {
		s := scene(t, dir)
		l := open(t, dir, &journal.Options{Fault: func(op, _ string) error {
			ops = append(ops, op)
			return s.unsupported(op)
		}})
		act(t, l, s, func(err error) { t.Fatal(err) })
		l.Close()
	})
	return ops
}

// unsupported is the error of what the file system does not have.
func (s *story) unsupported(op string) error {
	if op == "link" && s.linkless {
		return syscall.EPERM
	}
	return nil
}

// failOnce fails the n-th operation.
func failOnce(t *testing.T, s *story, at int, fault error) {
	t.Helper()
	n, what := 0, ""
	l := open(t, s.dir, &journal.Options{Fault: func(op, name string) error {
		if n++; n-1 != at {
			return s.unsupported(op)
		}
		what = op + " of " + name
		return fault
	}})
	var errs []error
	act(t, l, s, func(err error) {
		errs = append(errs, err)
		got, _ := view(t, l) // memory is what the disk says
		if err := s.check(got); err != nil {
			t.Fatalf("after the failed %s: %v", what, err)
		}
	})
	// A link that cannot be made is replaced by a rename.
	covered := strings.HasPrefix(what, "link")
	if covered && len(errs) > 0 || !covered && len(errs) != 1 {
		t.Fatalf("%s failed, errors: %v", what, errs)
	}
	for _, err := range errs {
		if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), s.dir) {
			t.Fatalf("%s failed, the error does not say so: %v", what, err)
		}
	}
	s.same(t, l)
	l.Close()
	s.goesOn(t)
}

// TestEveryOperationFailsFromOneOn is a disk that is full and stays full, and then has room again.
func TestEveryOperationFailsFromOneOn(t *testing.T) {
	for at, done := 0, false; !done; at++ {
		scratch(t, func(dir string) {
			s := sampleStory(t, dir)
			n, full := 0, true
			l := open(t, dir, &journal.Options{Fault: func(op, name string) error {
				if n++; n <= at || !full {
					return nil
				}
				return syscall.ENOSPC
			}})
			act(t, l, s, func(err error) {
				got, _ := view(t, l)
				if err := s.check(got); err != nil {
					t.Fatalf("full from operation %d on: %v", at, err)
				}
			})
			done = n <= at
			full = false
			got, _ := view(t, l)
			for k := range s.maybe { // settled now, or it was never in doubt
				if got[k] == 1 {
					s.acked[k] = 1
				}
			}
			s.maybe = counters{}
			s.updates(t, l, 1)
			s.same(t, l)
			l.Close()
			s.goesOn(t)
		})
	}
}

func TestInDoubtIsSettledAndReported(t *testing.T) {
	for name, there := range map[string]bool{"whole": true, "short": false} {
		t.Run(name, func(t *testing.T) {
			s := sampleStory(t, t.TempDir())
			broken := true
			l := open(t, s.dir, &journal.Options{Fault: func(op, name string) error {
				switch {
				case !broken:
				case op == "write" && !there:
					return &journal.ShortWrite{Bytes: 30, Err: syscall.EIO}
				case op == "sync", op == "truncate":
					return syscall.EIO
				}
				return nil
			}})
			if err := s.update(t, l); !errors.Is(err, journal.ErrInDoubt) || !errors.Is(err, syscall.EIO) {
				t.Fatalf("%v, want in doubt", err)
			}
			other, _ := view(t, open(t, s.dir, nil)) // while it is in doubt
			if err := s.check(other); err != nil {
				t.Error(err)
			}
			broken = false
			s.updates(t, l, 1)
			got, _ := view(t, l)
			if (got["c11"] == 1) != there {
				t.Errorf("the commit in doubt is there: %v, want %v", !there, there)
			}
			if err := s.check(got); err != nil {
				t.Error(err)
			}
			want := "commit 11 was in doubt after a failed write; it is not on disk."
			if there {
				want = "commit 11 was in doubt after a failed write; it is on disk."
			}
			if !slices.ContainsFunc(l.Warnings(), func(w journal.Warning) bool { return w.Kind == journal.Settled && w.Text == want }) {
				t.Errorf("warnings %v, want %q", l.Warnings(), want)
			}
			s.goesOn(t)
		})
	}
}

// A full disk leaves no part of a file.
func TestCompactionOnAFullDiskLeavesNothing(t *testing.T) {
	for _, file := range []string{"state.json.new", "state.journal.new"} {
		for _, op := range []string{"write", "sync"} {
			s := sampleStory(t, t.TempDir())
			l := open(t, s.dir, &journal.Options{Fault: func(o, name string) error {
				if o == op && name == file {
					return syscall.ENOSPC
				}
				return nil
			}})
			if err := l.Compact(t.Context()); !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(s.dir, file)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s of %s failed, and it is there: %v", op, file, err)
			}
			s.same(t, l)
		}
	}
}
