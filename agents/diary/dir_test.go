package diary

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	gocmp "github.com/google/go-cmp/cmp"

	"leanctx/internal/notice"
	"leanctx/internal/refusal"
)

func owner(id string) Owner {
	return Owner{AgentID: id, AgentType: "cursor", Project: "00000000000000aa"}
}

func enter(t *testing.T, s *Dir, id string, e Entry) Entry {
	t.Helper()
	e, err := s.Enter(t.Context(), owner(id), e)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// What was entered is read by another process, before and after the file was
// written anew; the tail is the newest first.
func TestDir(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a clock that stands still
		dir, ctx := t.TempDir(), t.Context()
		s, other := New(dir, nil), New(dir, &Options{LongLived: true})
		if ids, err := s.Writers(); len(ids) > 0 || err != nil {
			t.Fatal(ids, err)
		}
		want := []Entry{enter(t, s, "cursor-a3f8", Entry{Type: Decision, Text: "JWT\n<b>", Context: "auth"}), enter(t, other, "cursor-a3f8", Entry{Type: Blocker, Text: "no key"})}
		if want[0].Number != 1 || want[1].Number != 2 || !want[1].At.After(want[0].At) {
			t.Errorf("%+v", want)
		}
		for range 2 {
			for _, x := range []*Dir{s, other, New(dir, nil)} {
				got, err := x.Entries(ctx, "cursor-a3f8")
				if d := gocmp.Diff(want, got); d != "" || err != nil {
					t.Error(err, d)
				}
			}
			if err := s.Compact(ctx, "cursor-a3f8"); err != nil {
				t.Fatal(err)
			}
		}
		tail, err := s.Tail(ctx, "cursor-a3f8", 1)
		if d := gocmp.Diff(want[1:], tail); d != "" || err != nil {
			t.Error(err, d)
		}
		if ids, err := s.Writers(); !slices.Equal(ids, []string{"cursor-a3f8"}) || err != nil {
			t.Error(ids, err)
		}
		if ref := want[1].Ref("cursor-a3f8"); ref != "diary:cursor-a3f8/2" {
			t.Error(ref)
		}
		if err := errors.Join(s.Close(), other.Close()); err != nil {
			t.Error(err)
		}
	})
}

// Many diaries need few files open.
func TestFewOpen(t *testing.T) {
	s := New(t.TempDir(), nil)
	for i := range 2 * maxOpen {
		enter(t, s, fmt.Sprintf("cursor-%04x", i), Entry{Type: Progress, Text: "m"})
	}
	if len(s.open) > maxOpen {
		t.Errorf("%d are open", len(s.open))
	}
	for i := range 2 * maxOpen {
		if list, err := s.Entries(t.Context(), fmt.Sprintf("cursor-%04x", i)); len(list) != 1 || err != nil {
			t.Error(i, list, err)
		}
	}
}

// An entry that cannot be written is an error, and the next one is the first.
func TestFull(t *testing.T) {
	full := errors.New("no space left on device")
	var board notice.Pending
	o := Options{Notices: &board, Fault: func(op, _ string) error {
		if op == "write" {
			return full
		}
		return nil
	}}
	s := New(t.TempDir(), &o)
	if _, err := s.Enter(t.Context(), owner("cursor-a3f8"), Entry{Type: Progress, Text: "m"}); !errors.Is(err, full) {
		t.Fatal(err)
	}
	again := New(s.dir, nil)
	if e := enter(t, again, "cursor-a3f8", Entry{Type: Progress, Text: "m"}); e.Number != 1 {
		t.Errorf("%+v", e)
	}
}

func TestType(t *testing.T) {
	for given, want := range map[string]string{"decision": Decision, " Decided ": Decision, "DONE": Progress, "found": Discovery, "blocked": Blocker, "Insight": Insight} {
		if got, err := Type(given); got != want || err != nil {
			t.Errorf("%q: %q %v", given, got, err)
		}
	}
	for _, given := range []string{"", "decide", "progress!", strings.Repeat("x", 1000)} {
		_, err := Type(given)
		if bad, ok := errors.AsType[*refusal.ArgumentError](err); !ok || bad.Argument != "category" || len(bad.Problem) > 200 {
			t.Errorf("%q: %v", given, err)
		}
	}
}
