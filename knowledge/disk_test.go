package knowledge_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
	. "leanctx/knowledge"
)

// What a disk can do to a write. The code treats all errors of a kind alike.
var (
	refusals = []error{&fs.PathError{Op: "write", Path: "disk", Err: syscall.ENOSPC}, syscall.EIO, syscall.EROFS}
	halves   = []error{&journal.ShortWrite{Bytes: 25, Err: syscall.ENOSPC}}
)

// harmless reports whether a store may do without an operation: where there
// are no hard links it renames.
func harmless(op string) bool { return strings.HasPrefix(op, "link ") }

// Each file operation fails once, or all do from there on until the disk is
// mended. What failed says why and changed nothing; the next one works.
func TestDisk(t *testing.T) {
	want := told(t)
	ops, of := operations(t)
	for name, faults := range map[string][]error{"refused": refusals, "half written": halves} {
		for _, lasting := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s lasting=%v", name, lasting), func(t *testing.T) {
				t.Parallel()
				for n := 0; n < len(ops); n += proctest.Stride {
					if name == "half written" && !strings.HasPrefix(ops[n], "write") {
						continue
					}
					d := &ailing{fault: faults[n%len(faults)], from: n, lasting: lasting}
					d.tell(t, want, of[n], ops[n])
				}
			})
		}
	}
}

// ailing is a disk on which an operation fails, or all do after it.
type ailing struct {
	fault   error
	from    int
	lasting bool
	n       int
	mended  bool
}

func (d *ailing) strike(op, _ string) error {
	n := d.n
	d.n++
	if d.mended || n < d.from || n > d.from && !d.lasting {
		return nil
	}
	if short, ok := errors.AsType[*journal.ShortWrite](d.fault); ok && op != "write" {
		return short.Err
	}
	return d.fault
}

func (d *ailing) tell(t *testing.T, want []string, chapter int, op string) {
	t.Helper()
	dir := t.TempDir()
	s, err := begin(dir, d.strike)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	where := fmt.Sprintf("%s, at operation %d (%s)", chapters()[chapter].name, d.from, op)
	for i := range chapters() {
		err := s.tell(t.Context(), i)
		if i == chapter && err == nil && !harmless(op) {
			t.Errorf("%s: it failed and nobody was told", where)
		}
		if i != chapter && err != nil {
			t.Fatalf("%s: %s failed too: %v", where, chapters()[i].name, err)
		}
		if err != nil && !errors.Is(err, errors.Unwrap(d.fault)) && !errors.Is(err, d.fault) {
			t.Errorf("%s: %q does not name the cause %v", where, err, d.fault)
		}
		if i == chapter {
			d.mended = true
			d.after(t, s, want[i:i+2], err, where)
			if err != nil && whole(t, dir) == want[i] {
				if err := s.tell(t.Context(), i); err != nil {
					t.Fatalf("%s: it does not work again: %v", where, err)
				}
			}
		}
		if i < chapter {
			continue // nothing has failed yet
		}
		if got := s.whole(t); got != want[i+1] {
			t.Fatalf("%s: after %s (-want +got):\n%s", where, chapters()[i].name, cmp.Diff(want[i+1], got))
		}
	}
	if diff := cmp.Diff(want[len(want)-1], whole(t, dir)); diff != "" {
		t.Errorf("%s: opened again (-want +got):\n%s", where, diff)
	}
}

// after looks at what is there once an operation failed. Only what is in doubt,
// and an erasure whose tombstone is written, may have happened all the same.
func (d *ailing) after(t *testing.T, s *saga, want []string, err error, where string) {
	t.Helper()
	got := s.whole(t)
	done := got == want[1]
	if err == nil && !done || err != nil && got != want[0] && !done {
		t.Fatalf("%s: %v (-want +got):\n%s", where, err, cmp.Diff(want[0], got))
	}
	erasing := err != nil && strings.Contains(err.Error(), "ask again to finish")
	if err != nil && want[0] != want[1] && done && !errors.Is(err, journal.ErrInDoubt) && !erasing {
		t.Errorf("%s: %v, but it is done", where, err)
	}
	if again := whole(t, s.Dir()); again != got && !errors.Is(err, journal.ErrInDoubt) {
		t.Errorf("%s: %v, and another process sees (-this one +it):\n%s", where, err, cmp.Diff(got, again))
	}
}

// A directory that cannot be written answers questions and refuses facts.
func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	s, err := begin(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.tell(t.Context(), 0), s.Close()); err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	s, err = begin(dir, func(string, string) error { return syscall.EROFS })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.now = at(2)
	if r, err := s.Recall(t.Context(), Question{Query: "jwt"}); err != nil || len(r.Facts) != 1 {
		t.Errorf("recall: %s, %v", r.Text(), err)
	}
	if _, err := s.Remember(t.Context(), Assertion{Category: "c", Key: "k", Value: "v"}); !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), dir) {
		t.Errorf("remember: %v, want one that names the directory and the cause", err)
	}
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Errorf("files changed:\n%s", diff)
	}
}
