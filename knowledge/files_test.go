package knowledge_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	. "leanctx/knowledge"
	"leanctx/knowledge/transfer"
)

// A version that a shorter period interrupts goes on as two, and what is
// asserted of one is no evidence for the other.
func TestSourcesApart(t *testing.T) {
	s := testStore(t, nil)
	again := func() { s.remember(t, Assertion{Category: "c", Key: "k", Value: "A"}) }
	again()
	again()
	again()
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "B", ValidFrom: "2026-02-01", ValidUntil: "2026-02-10"})
	s.days(1)
	again()
	s.days(40)
	again()
	if diff := cmp.Diff(reopened(t, s), s.whole(t)); diff != "" {
		t.Errorf("(-files +memory):\n%s", diff)
	}
}

// Whatever is done, the state in memory is the one that the files give, with and without a
// snapshot between. An export of it is imported whole.
func TestMemoryIsFiles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := &story{dir: t.TempDir(), now: at(1)}
		s.open(t, nil)
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			s.now = s.now.Add(time.Duration(rapid.IntRange(-2, 40).Draw(rt, "hours")) * time.Hour)
			s.anything(rt)
		}
		want := s.whole(t)
		if diff := cmp.Diff(want, reopened(t, s)); diff != "" {
			rt.Fatalf("opened again (-memory +files):\n%s", diff)
		}
		if err := s.Compact(rt.Context()); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, reopened(t, s)); diff != "" {
			rt.Fatalf("compacted and opened again (-memory +files):\n%s", diff)
		}
		to := &story{dir: t.TempDir(), now: s.now}
		to.open(t, nil)
		if _, err := transfer.Import(rt.Context(), to.Store, transfer.Incoming{Data: strings.NewReader(want)}); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(itsOwn.ReplaceAllString(want, ""), itsOwn.ReplaceAllString(to.whole(t), "")); diff != "" {
			rt.Fatalf("imported (-exported +imported):\n%s", diff)
		}
	})
}

// anything does one thing or another to a store.
func (s *story) anything(rt *rapid.T) {
	key := rapid.SampledFrom([]string{"one", "Two", "three"}).Draw(rt, "key")
	value := rapid.SampledFrom([]string{"A", "B", "C"}).Draw(rt, "value")
	day := func(name string) string {
		if rapid.Bool().Draw(rt, name+" given") {
			return s.now.AddDate(0, 0, rapid.IntRange(-5, 5).Draw(rt, name)).Format(time.RFC3339)
		}
		return ""
	}
	var err error
	switch op := rapid.IntRange(0, 11).Draw(rt, "op"); op {
	case 0:
		_, err = s.Remove(rt.Context(), Withdrawal{Category: "c", Key: key})
	case 1:
		_, err = s.Remove(rt.Context(), Withdrawal{Category: "c", Key: key, Erase: true})
	case 2:
		_, err = Feedback(rt.Context(), s.Store, Vote{Category: "c", Key: key, Vote: "up"})
	case 3:
		_, err = Relate(rt.Context(), s.Store, Link{Category: "c", Key: key, Target: "c/one"})
	case 4:
		_, err = Gotcha(rt.Context(), s.Store, Mistake{Trigger: key, Resolution: value})
	case 5:
		merge := rapid.SampledFrom([]string{"skip-existing", "replace", "append"}).Draw(rt, "merge")
		line := fmt.Sprintf(`{"category":"C","key":%q,"value":%q,"valid_from":%q}`, key, value, s.now.AddDate(0, 0, -3).Format(time.RFC3339))
		_, err = transfer.Import(rt.Context(), s.Store, transfer.Incoming{Merge: merge, Data: strings.NewReader(line)})
	case 6:
		err = s.Compact(rt.Context())
	default:
		a := Assertion{Category: "c", Key: key, Value: value, ValidFrom: day("from"), ValidUntil: day("until"), Correct: op == 7}
		_, err = s.Remember(rt.Context(), a)
	}
	_, missing := errors.AsType[*NotFoundError](err)
	_, wrong := errors.AsType[*ArgumentError](err)
	if err != nil && !missing && !wrong {
		rt.Fatal(err)
	}
}

// A fact that a clock far ahead recorded ends where the next value begins, and so does the one
// before it. No two values hold at one time.
func TestClockThatWasAheadLeavesNoOverlap(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "X"})
	s.days(400)
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "A"})
	s.now = s.now.AddDate(0, 0, -399)
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "B"})
	want := s.whole(t)
	to := testStore(t, nil)
	to.now = s.now
	to.load(t, "", want)
	if diff := cmp.Diff(itsOwn.ReplaceAllString(want, ""), itsOwn.ReplaceAllString(to.whole(t), "")); diff != "" {
		t.Errorf("imported (-exported +imported):\n%s", diff)
	}
	if f := s.only(t, "c", "k"); f.Value != "B" {
		t.Errorf("now: %q", f.Value)
	}
}
