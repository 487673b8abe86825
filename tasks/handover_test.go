package tasks

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// An agent that takes over another's work stands in for it with the tasks that it gave. That
// holds through a second handoff and a new file.
func TestStandsIn(t *testing.T) {
	const gone, heir, second, worker, other = "cursor-a3f8", "claude-b7e2", "codex-0002", "gemini-0001", "gemini-0003"
	dir, ctx := t.TempDir(), t.Context()
	s := open(t, dir, nil)
	var given []string
	for _, title := range []string{"first", "second", "third"} {
		given = append(given, made(t, s.as(gone), Draft{Title: title, ToAgent: worker}))
	}
	done := made(t, s.as(gone), Draft{Title: "done", ToAgent: worker})
	stepped(t, s.as(worker), Update{TaskID: done, State: "Working"})
	stepped(t, s.as(worker), Update{TaskID: done, State: "Completed"})
	own := made(t, s.as(gone), Draft{Title: "own", ToAgent: gone})
	foreign := made(t, s.as(other), Draft{Title: "foreign", ToAgent: worker})
	stepped(t, s.as(worker), Update{TaskID: given[0], State: "Working"})

	cancel := func(by, id string) error {
		_, err := s.as(by).Cancel(ctx, Cancellation{TaskID: id})
		return err
	}
	refused := func(by, id, giver string) {
		t.Helper()
		if taken, ok := errors.AsType[*TakenError](cancel(by, id)); !ok || taken.Creator != giver {
			t.Errorf("%s cancels %s: %v", by, id, taken)
		}
	}
	refused(heir, given[0], gone)
	moved, err := s.Reassign(ctx, gone, heir, "done for today")
	if err != nil || !slices.Equal(moved, []string{own}) {
		t.Fatal(moved, err)
	}
	if again, err := s.Reassign(ctx, gone, heir, "done for today"); err != nil || len(again) > 0 {
		t.Error(again, err)
	}
	if got := text(s.Get(ctx, TaskRef{given[0]})); !strings.Contains(got, "cursor-a3f8 (now claude-b7e2)") || !strings.Contains(got, "claude-b7e2 answers for it from now on, said by cursor-a3f8") || !strings.Contains(got, "done for today") {
		t.Error(got)
	}
	refused(other, given[0], heir)
	refused(heir, foreign, other)
	if err := cancel(heir, given[0]); err != nil {
		t.Error(err)
	}
	if err := cancel(gone, given[1]); err != nil {
		t.Errorf("who created it: %v", err)
	}
	if _, err := s.Reassign(ctx, heir, "gemini", "to any of a type"); err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, nil)
	if _, err := s.Reassign(ctx, heir, second, "and on"); err != nil {
		t.Fatal(err)
	}
	refused(heir, given[2], second)
	if err := cancel(second, given[2]); err != nil {
		t.Error(err)
	}
	if g, err := s.Get(ctx, TaskRef{done}); err != nil || g.StandsIn != "" || len(g.History) != 3 {
		t.Errorf("what was final changed: %+v, %v", g, err)
	}
}
