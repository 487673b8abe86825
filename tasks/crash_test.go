package tasks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
)

// saga is a script of operations on one store; each is one commit at most.
type saga struct {
	*Store
	now time.Time
	ids []string
}

type chapter struct {
	name string
	run  func(ctx context.Context, s *saga) error
}

func chapters() []chapter {
	creating := func(d Draft) chapter {
		return chapter{"create " + d.Title, func(ctx context.Context, s *saga) error {
			r, err := s.as("cursor-a3f8").Create(ctx, d)
			if err == nil {
				s.ids = append(s.ids, r.Task.ID)
			}
			return err
		}}
	}
	return []chapter{
		creating(Draft{Title: "one", ToAgent: "claude", Description: "first"}),
		creating(Draft{Title: "two"}),
		{"claim", func(ctx context.Context, s *saga) error {
			_, err := s.as("claude-b7e2").Claim(ctx, TaskClaim{s.ids[0]})
			return err
		}},
		{"message", func(ctx context.Context, s *saga) error {
			_, err := s.Message(ctx, Comment{s.ids[0], "hello"})
			return err
		}},
		{"compact", func(ctx context.Context, s *saga) error { return s.Compact(ctx) }},
		{"begin", func(ctx context.Context, s *saga) error {
			_, err := s.as("claude-b7e2").Update(ctx, Update{TaskID: s.ids[1], State: "Working", Message: "at it"})
			return err
		}},
		{"move", func(ctx context.Context, s *saga) error {
			_, err := s.Reassign(ctx, "claude-b7e2", "gemini-0001", "handoff")
			return err
		}},
		{"compact again", func(ctx context.Context, s *saga) error { return s.Compact(ctx) }},
		{"complete", func(ctx context.Context, s *saga) error {
			_, err := s.as("gemini-0001").Update(ctx, Update{TaskID: s.ids[1], State: "done", Message: "it was the clock", Artifact: "patch"})
			return err
		}},
	}
}

// begin opens the script's store; its clock is the number of the chapter, so
// that equal stories give equal files.
func begin(dir string, fault func(op, name string) error) (*saga, error) {
	s := &saga{}
	st, err := Open(dir, &Options{ProjectHash: hash, Fault: fault, Now: func() time.Time { return s.now }})
	s.Store = st
	return s, err
}

func (s *saga) tell(ctx context.Context, i int) error {
	s.now = epoch.Add(time.Duration(i) * time.Hour)
	return chapters()[i].run(ctx, s)
}

// stored is everything that a store in dir holds, as a new process sees it.
func stored(t testing.TB, dir string) string {
	t.Helper()
	s, err := begin(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return everything(t, s.Store)
}

// told is what a store holds before each chapter and after the last, and the
// ids of its tasks.
func told(t testing.TB) (texts, ids []string, operations int) {
	t.Helper()
	dir := t.TempDir()
	s, err := begin(dir, func(op, name string) error { operations++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	texts = append(texts, everything(t, s.Store))
	for i, c := range chapters() {
		if err := s.tell(t.Context(), i); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		texts = append(texts, everything(t, s.Store))
	}
	mustBe(t, stored(t, dir), texts[len(texts)-1])
	return texts, s.ids, operations
}

// At each file operation the process is killed: what was answered is there,
// what was under way is there whole or not at all.
func TestCrashPoints(t *testing.T) {
	t.Parallel()
	texts, ids, operations := told(t)
	for _, torn := range []bool{false, true} {
		for k := 0; k < operations; k += proctest.Stride {
			dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy")
			n, chapter, what := 0, 0, ""
			var s *saga
			s, err := begin(dir, func(op, name string) error {
				if n++; n-1 < k {
					return nil
				}
				if n-1 > k {
					return errKilled // it is no more
				}
				what = fmt.Sprintf("operation %d, %s %s in %q, torn: %v", k, op, name, chapters()[chapter].name, torn)
				if torn && op == "write" {
					return &journal.ShortWrite{Bytes: 37, Err: errKilled}
				}
				return errors.Join(os.CopyFS(copied, os.DirFS(dir)), errKilled)
			})
			if err != nil {
				t.Fatal(err)
			}
			for ; chapter < len(chapters()); chapter++ {
				if err = s.tell(t.Context(), chapter); err != nil {
					break
				}
			}
			s.Close()
			if err == nil {
				chapter-- // it failed where nobody needs it
			}
			if _, gone := os.Stat(copied); gone == nil {
				dir = copied
			}
			if got := stored(t, dir); !slices.Contains(texts[chapter:chapter+2], got) {
				t.Fatalf("%s:\n%s\nwant\n%s\nor\n%s", what, got, texts[chapter], texts[chapter+1])
			}
			goOn(t, dir, chapter, ids, texts)
		}
	}
}

var errKilled = errors.New("killed")

// goOn tells the rest of the story from the chapter that was cut off, as one
// who asks again does: the end is the same.
func goOn(t *testing.T, dir string, from int, ids, texts []string) {
	t.Helper()
	s, err := begin(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.ids = slices.Clone(ids)
	if everything(t, s.Store) == texts[from+1] {
		from++
	}
	for i := from; i < len(chapters()); i++ {
		if err := s.tell(t.Context(), i); err != nil {
			t.Fatalf("%s: %v", chapters()[i].name, err)
		}
	}
	mustBe(t, everything(t, s.Store), texts[len(texts)-1])
}

// Each file operation fails once: whoever was told so finds the store as it
// was, and may try again.
func TestFailures(t *testing.T) {
	t.Parallel()
	texts, ids, operations := told(t)
	for k := 0; k < operations; k += proctest.Stride {
		n, chapter := 0, 0
		dir := t.TempDir()
		s, err := begin(dir, func(op, name string) error {
			if n++; n-1 == k {
				return errors.New("input/output error")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for ; chapter < len(chapters()); chapter++ {
			if err := s.tell(t.Context(), chapter); err != nil {
				if got := stored(t, dir); got != texts[chapter] && !errors.Is(err, journal.ErrInDoubt) {
					t.Fatalf("operation %d: %v, yet it was done:\n%s", k, err, got)
				}
				break
			}
		}
		s.Close()
		if chapter < len(chapters()) {
			goOn(t, dir, chapter, ids, texts)
		}
	}
}

// A handoff that crashed after its tasks were moved is repeated: nothing is
// done twice.
func TestReassignAgain(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	s := open(t, dir, nil)
	var ids []string
	for i := range 3 {
		ids = append(ids, made(t, s, Draft{Title: fmt.Sprint("task ", i), ToAgent: "cursor-a3f8"}))
	}
	stepped(t, s, Update{TaskID: ids[0], State: "done"})
	other := made(t, s, Draft{Title: "another's", ToAgent: "cursor-a3ff"})
	mine, err := s.OpenTasks(ctx, "cursor-a3f8")
	if err != nil || len(mine) != 2 {
		t.Fatal(mine, err)
	}
	const reason = "handoff: done for today"
	first, err := s.Reassign(ctx, "cursor-a3f8", "claude-b7e2", reason)
	if err != nil || len(first) != 2 || slices.Contains(first, ids[0]) || slices.Contains(first, other) {
		t.Fatal(first, err)
	}
	g, err := s.Get(ctx, TaskRef{first[0]})
	last := g.History[len(g.History)-1]
	if err != nil || g.Assignee != "claude-b7e2" || g.State != Created || len(g.History) != 2 || last.Why != reason || last.By != "cursor-a3f8" || last.Assignee != "claude-b7e2" {
		t.Errorf("%+v, %v", g, err)
	}
	if got, err := s.Reassign(ctx, "cursor-a3f8", "claude-b7e2", ""); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := s.Reassign(ctx, "claude-b7e2", "claude-b7e2", ""); err != nil || len(got) != 0 {
		t.Errorf("to itself: %v, %v", got, err)
	}
}
