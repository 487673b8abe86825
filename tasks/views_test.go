package tasks

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestResults(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := open(t, t.TempDir(), &Options{ProjectHash: hash, Now: c.now}).as("claude-b7e2")
	said := made(t, s, Draft{Title: "Find the leak"})
	artifact := made(t, s, Draft{Title: "Measure"})
	silent := made(t, s, Draft{Title: "Tidy up"})
	failed := made(t, s, Draft{Title: "Fly"})
	stepped(t, s, Update{TaskID: artifact, State: "Working", Artifact: "12 ms"})
	c.pass(time.Hour)
	stepped(t, s, Update{TaskID: said, State: "done", Message: "The pool is never closed", Artifact: "patch"})
	c.pass(time.Hour)
	stepped(t, s, Update{TaskID: artifact, State: "done"})
	stepped(t, s, Update{TaskID: silent, State: "done"})
	stepped(t, s, Update{TaskID: failed, State: "failed", Message: "no wings"})
	want := []Result{
		{"result", "Find the leak: The pool is never closed", "claude-b7e2", "task:" + said, epoch.Add(time.Hour)},
		{"result", "Measure: 12 ms", "claude-b7e2", "task:" + artifact, epoch.Add(2 * time.Hour)},
	}
	for _, since := range []time.Time{{}, epoch.Add(90 * time.Minute)} {
		got, err := s.Results(ctx, since)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("since %v: %v (-want +got):\n%s", since, err, diff)
		}
		want = want[1:]
	}
}

// TestWhatIsWrittenIntoTasks: descriptions, messages and what is said with a state, of one period.
func TestWhatIsWrittenIntoTasks(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := open(t, t.TempDir(), &Options{ProjectHash: hash, Now: c.now}).as("claude-b7e2")
	move := made(t, s, Draft{Title: "Move to Postgres", Description: "because MySQL lost rows"})
	bare := made(t, s, Draft{Title: "Tidy up"})
	c.pass(24 * time.Hour)
	if _, err := s.Message(ctx, Comment{move, "the schema is through"}); err != nil {
		t.Fatal(err)
	}
	stepped(t, s, Update{TaskID: move, State: "Working", Message: "copying"})
	for day, want := range [][]string{
		{"Move to Postgres: because MySQL lost rows", "Tidy up"},
		{"Move to Postgres: the schema is through", "Move to Postgres: copying"},
		nil,
	} {
		from := epoch.AddDate(0, 0, day)
		found, err := s.Written(ctx, from, from.Add(time.Hour))
		var got []string
		for _, x := range found {
			if got = append(got, x.Text); x.Kind != "task" || x.By != "claude-b7e2" || x.Ref != "task:"+move && x.Ref != "task:"+bare {
				t.Errorf("%+v", x)
			}
		}
		if !slices.Equal(got, want) || err != nil {
			t.Errorf("day %d: %q, %v", day, got, err)
		}
	}
}

func TestLastWorked(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := open(t, t.TempDir(), &Options{ProjectHash: hash, Now: c.now}).as("claude-b7e2")
	if title, err := s.LastTask(ctx); title != "" || err != nil {
		t.Errorf("nothing was worked on yet, not %q, %v", title, err)
	}
	first, second := made(t, s, Draft{Title: "first"}), made(t, s, Draft{Title: "second"})
	stepped(t, s, Update{TaskID: second, State: "Working"})
	stepped(t, s, Update{TaskID: first, State: "Working"})
	check := func(last, current string) {
		t.Helper()
		if got, err := s.LastTask(ctx); got != last || err != nil {
			t.Errorf("last worked on %q, %v, want %q", got, err, last)
		}
		if got, err := s.Current(ctx, "claude-b7e2"); got != current || err != nil {
			t.Errorf("working on %q, %v, want %q", got, err, current)
		}
	}
	check("first", "first")
	stepped(t, s, Update{TaskID: second, State: "done"})
	check("second", "first")
	if _, err := s.Message(ctx, Comment{first, "talk is no work"}); err != nil {
		t.Fatal(err)
	}
	stepped(t, s, Update{TaskID: first, State: "InputRequired"})
	check("first", "")

	canceled := made(t, s, Draft{Title: "canceled"})
	stepped(t, s, Update{TaskID: canceled, State: "Working"})
	stepped(t, s, Update{TaskID: canceled, State: "Canceled"})
	check("first", "")

	for _, x := range []struct {
		task, state string
		want        bool
	}{{first, "working", true}, {first, "InputRequired", true}, {first, "done", false}, {second, "Completed", true}, {second[:6], "Created", true}} {
		if got, err := s.Reached(ctx, x.task, x.state); got != x.want || err != nil {
			t.Errorf("%+v: %v, %v", x, got, err)
		}
	}
	if _, err := s.Reached(ctx, first, "flying"); err == nil {
		t.Error("a state that there is not")
	}
	if _, err := s.Reached(ctx, "t-ffffff", "done"); err == nil {
		t.Error("a task that there is not")
	}
}

// The JSON of an answer has what its text has, lists that are empty included.
func TestJSON(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := open(t, t.TempDir(), &Options{ProjectHash: hash, Now: c.now}).as("cursor-a3f8")
	id := made(t, s, Draft{Title: "x"})
	g, err := s.Get(ctx, TaskRef{id})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(g)
	mustBe(t, string(b), `{"id":"`+id+`","state":"Created","title":"x","created_by":"cursor-a3f8","created_at":"2026-03-20T09:30:00Z","updated_at":"2026-03-20T09:30:00Z","message_count":0,`+
		`"description":"","references":[],"context_id":"`+id+`","children":[],"history":[{"to":"Created","by":"cursor-a3f8","at":"2026-03-20T09:30:00Z"}],"messages":[],"artifacts":[]}`)
	if err != nil {
		t.Error(err)
	}
}

// A revision changes with each change of the project's tasks, by whatever process, and with
// nothing else.
func TestRevision(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	s := open(t, dir, &Options{ProjectHash: hash, Now: c.now})
	other := open(t, dir, &Options{ProjectHash: hash, Now: c.now}).as("claude-b7e2")
	last := uint64(0)
	changed := func(want bool) {
		t.Helper()
		now, err := s.Revision(t.Context())
		if err != nil || (now != last) != want {
			t.Errorf("revision %d after %d, %v", now, last, err)
		}
		last = now
	}
	changed(false)
	id := made(t, other, Draft{Title: "new", ToAgent: "cursor"})
	changed(true)
	made(t, open(t, dir, &Options{ProjectHash: "00000000000000ff", Now: c.now}), Draft{Title: "theirs"})
	if err := other.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	changed(false)
	if _, err := other.Message(t.Context(), Comment{id, "are you there?"}); err != nil {
		t.Fatal(err)
	}
	changed(true)
	stepped(t, other, Update{TaskID: id, State: "Canceled", Message: "not wanted"})
	changed(true)
}
