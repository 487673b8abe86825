package knowledge_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/listing"
)

func (s *story) undo(t *testing.T) Undone {
	t.Helper()
	return must[Undone](t)(Undo(t.Context(), s.Store, UndoArgs{}))
}

// What the caller did last is taken back, whatever it was. What was known in between
// is still known to have been known.
func TestUndoTakesBackTheLastCommit(t *testing.T) {
	a := Assertion{Category: "c", Key: "k", Value: "second", Tags: []string{"x"}, Pinned: new(true)}
	for name, x := range map[string]struct {
		do   func(s *story)
		then string // the value in between
	}{
		"a new fact":     {func(s *story) { s.remember(t, Assertion{Category: "c", Key: "new", Value: "v"}) }, "first"},
		"a new value":    {func(s *story) { s.remember(t, a) }, "second"},
		"a correction":   {func(s *story) { c := a; c.Correct = true; s.remember(t, c) }, "second"},
		"a confirmation": {func(s *story) { c := a; c.Value = "First."; s.remember(t, c) }, "first"},
		"an interlude":   {func(s *story) { c := a; c.ValidUntil = "2026-02-01"; s.remember(t, c) }, "second"},
		"a removal":      {func(s *story) { must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "c", Key: "k"})) }, ""},
		"a vote": {func(s *story) {
			must[Voted](t)(Feedback(t.Context(), s.Store, Vote{Category: "c", Key: "k", Vote: "up"}))
		}, "first"},
		"a name": {func(s *story) { s.rename(t, NewName{Category: "c", Key: "k", To: "d/k"}) }, "first"},
		"a link": {func(s *story) {
			must[Linked](t)(Relate(t.Context(), s.Store, Link{Category: "c", Key: "k", Target: "c/other", Kind: "related_to"}))
		}, "first"},
		"a pattern": {func(s *story) {
			must[Learned](t)(Pattern(t.Context(), s.Store, Lesson{Type: "naming", Value: "short"}))
		}, "first"},
		"a gotcha": {func(s *story) {
			must[Learned](t)(Gotcha(t.Context(), s.Store, Mistake{Trigger: "tidy", Resolution: "pin"}))
		}, "first"},
		"a known gotcha": {func(s *story) {
			must[Learned](t)(Gotcha(t.Context(), s.Store, Mistake{Trigger: "flaky", Resolution: "never rerun"}))
		}, "first"},
		"a lost pattern": {func(s *story) {
			must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "pattern", Key: "errors"}))
		}, "first"},
		"a done reminder": {func(s *story) {
			r := must[listing.ReminderList](t)(listing.Reminders(t.Context(), s.Store, listing.ReminderQuery{}))
			must[Reminded](t)(RemindDone(t.Context(), s.Store, Done{ID: r.Reminders[0].ID}))
		}, "first"},
	} {
		s := testStore(t, nil)
		s.remember(t, Assertion{Category: "c", Key: "k", Value: "first", Confidence: new(.7)})
		s.remember(t, Assertion{Category: "c", Key: "other", Value: "apart"})
		must[Learned](t)(Pattern(t.Context(), s.Store, Lesson{Type: "errors", Value: "wrap once"}))
		must[Learned](t)(Gotcha(t.Context(), s.Store, Mistake{Trigger: "flaky", Resolution: "rerun"}))
		must[Reminded](t)(Remind(t.Context(), s.Store, NewReminder{Value: "rotate keys", Keyword: "keys"}))
		s.now = s.now.Add(time.Hour)
		tell := func() []any {
			r := s.recall(t, Question{Category: "c"})
			for i := range r.Facts {
				r.Facts[i].Version, r.Facts[i].ID, r.Facts[i].Effective = nil, "", 0
			}
			return []any{r.Facts, s.recall(t, Question{Category: "pattern"}).Text(), s.recall(t, Question{Category: "gotcha"}).Text(),
				must[listing.RelationList](t)(listing.Relations(t.Context(), s.Store, listing.RelationQuery{})).Text(), must[listing.ReminderList](t)(listing.Reminders(t.Context(), s.Store, listing.ReminderQuery{})).Text()}
		}
		before := tell()
		x.do(s)
		s.now = s.now.Add(time.Hour)
		again := &story{dir: s.dir, now: s.now} // another process
		again.open(t, nil)
		r := again.undo(t)
		if diff := cmp.Diff(before, tell(), cmp.AllowUnexported(Found{})); diff != "" {
			t.Errorf("%s: %s (-before +undone):\n%s", name, r.Text(), diff)
		}
		s.now = s.now.Add(time.Minute)
		if got := s.recall(t, Question{Category: "c", Key: "k", KnownAt: s.now.Add(-30 * time.Minute).Format(time.RFC3339)}); len(got.Facts) == 1 && got.Facts[0].Value != x.then || len(got.Facts) == 0 && x.then != "" {
			t.Errorf("%s: in between: %s", name, got.Text())
		}
		if diff := cmp.Diff(s.whole(t), reopened(t, s)); diff != "" {
			t.Errorf("%s (-memory +files):\n%s", name, diff)
		}
		if _, err := Undo(t.Context(), s.Store, UndoArgs{}); !undoRefused(err, "it was an undo itself") {
			t.Errorf("%s, undone twice: %v", name, err)
		}
	}
}

func undoRefused(err error, why string) bool {
	e, ok := errors.AsType[*UndoError](err)
	return ok && e.Why == why
}

// A snapshot between does not forget what the last commit was.
func TestUndoAfterASnapshot(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "first"})
	s.days(0)
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "second"})
	for range 2 {
		if err := s.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	again := &story{dir: s.dir, now: s.now}
	again.open(t, nil)
	if r := again.undo(t); len(r.Facts) != 1 || r.Facts[0].Value != "first" {
		t.Error(r.Text())
	}
}

// What is not the caller's own last commit of the last day, or has been built on, is
// not undone, and the answer says why.
func TestUndoRefuses(t *testing.T) {
	other := Actor{Agent: "codex-1acc"}
	k := Assertion{Category: "c", Key: "k", Value: "v"}
	for name, x := range map[string]struct {
		do   func(s *story)
		want string
	}{
		"nothing yet": {func(s *story) {}, "You committed nothing in the last day"},
		"another's":   {func(s *story) { must[Remembered](t)(s.As(other).Remember(t.Context(), k)) }, "You committed nothing in the last day; the last commit is by codex-1acc, who alone can undo it"},
		"two days":    {func(s *story) { s.remember(t, k); s.days(2) }, "You committed nothing in the last day"},
		"confirmed since": {func(s *story) { s.remember(t, k); must[Remembered](t)(s.As(other).Remember(t.Context(), k)) },
			"your last commit cannot be undone: a later commit changed the same"},
		"linked since": {func(s *story) {
			must[Remembered](t)(s.As(other).Remember(t.Context(), Assertion{Category: "c", Key: "other", Value: "w"}))
			s.remember(t, k)
			must[Linked](t)(Relate(t.Context(), s.As(other), Link{Category: "c", Key: "other", Target: "c/k", Kind: "related_to"}))
		}, "your last commit cannot be undone: a later commit changed the same"},
		"erased": {func(s *story) {
			s.remember(t, k)
			must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "c", Key: "k", Erase: true}))
		}, "your last commit cannot be undone: what is erased is gone for good"},
		"a verdict": {func(s *story) {
			s.remember(t, k)
			s.remember(t, Assertion{Category: "c", Key: "other", Value: "w"})
			must[advice.Judged](t)(advice.Judge(t.Context(), s.Store, advice.Verdict{Category: "c", Key: "k", Target: "c/other", Verdict: "compatible"}))
		}, "your last commit cannot be undone: it judged two facts; judge them again"},
		"a merge": {func(s *story) {
			s.remember(t, k)
			s.remember(t, Assertion{Category: "c", Key: "other", Value: "w"})
			s.rename(t, NewName{Category: "c", Key: "k", To: "other", Merge: "true"})
		}, "your last commit cannot be undone: it made one fact of two"},
	} {
		s := testStore(t, nil)
		x.do(s)
		before := s.whole(t)
		if _, err := Undo(t.Context(), s.Store, UndoArgs{}); err == nil || err.Error() != x.want {
			t.Errorf("%s: %v, want %s", name, err, x.want)
		}
		if s.whole(t) != before {
			t.Errorf("%s: something changed", name)
		}
	}
	s := testStore(t, nil) // others may go on meanwhile, elsewhere
	s.remember(t, k)
	must[Remembered](t)(s.As(other).Remember(t.Context(), Assertion{Category: "c", Key: "other", Value: "w"}))
	if r := s.undo(t); len(r.Facts) != 1 || r.Facts[0].Key != "k" || r.Facts[0].Value != "" {
		t.Error(r.Text())
	}
}

// An erasure leaves nothing of a value in what is kept for an undo.
func TestErasedValueIsNotKeptForUndo(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "hunter2-secret"})
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "another"})
	must[Withdrawn](t)(s.As(Actor{Kind: KindUser}).Remove(t.Context(), Withdrawal{Category: "c", Key: "k", Erase: true}))
	holds(t, s.dir, "hunter2-secret", false)
}

// An agent does not undo what it passed on from the user, unless the user says so.
func TestUndoOfTheUsersWordIsDisputed(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "first"})
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "second", Source: "user"})
	r := s.undo(t)
	if r.Dispute == nil || r.Dispute.Value != "first" || s.only(t, "c", "k").Value != "second" {
		t.Fatal(r.Text())
	}
	s = testStore(t, nil)
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "first"})
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "second", Source: "user"})
	if r, err := Undo(t.Context(), s.Store, UndoArgs{Source: "user"}); err != nil || r.Facts[0].Value != "first" {
		t.Errorf("%v, %s", err, r.Text())
	}
}
