package tasks

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/internal/refusal"
)

func mustBe(t testing.TB, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The lines that users and scripts know, to the letter; in the middle of it
// the program is started anew, twice.
func TestStory(t *testing.T) {
	dir, ctx, c := t.TempDir(), t.Context(), newClock()
	o := &Options{ProjectHash: hash, Now: c.now, Agents: crowd{map[string]time.Time{
		"claude-b7e2": epoch, "cursor-a3f8": epoch, "gemini-0001": epoch,
	}, c}}
	s := open(t, dir, o)
	cursor, claude := s.as("cursor-a3f8"), s.as("claude-b7e2")

	born, err := cursor.Create(ctx, Draft{Title: "Fix auth middleware", ToAgent: "claude", Description: "Tokens expire\ntoo soon.", References: []string{"architecture/auth", "src/auth.ts"}})
	if err != nil {
		t.Fatal(err)
	}
	id := born.Task.ID
	mustBe(t, born.Text(), `Task created: `+id+` "Fix auth middleware" (state: Created, to_agent: claude)`)
	mustBe(t, text(cursor.List(ctx, Query{})), "Tasks (1):\n  "+id+` "Fix auth middleware" [Created] (assignee: claude)`)

	c.pass(time.Minute)
	mustBe(t, text(claude.Update(ctx, Update{TaskID: id, State: "Working"})), "Task "+id+" updated: Created → Working")
	c.pass(time.Minute)
	mustBe(t, text(cursor.Message(ctx, Comment{id, "See\nthe log."})), "Message added to task "+id)
	limits := made(t, cursor, Draft{Title: "Add rate limiting", Parent: id[:5]})
	s = open(t, dir, o)
	cursor, claude = s.as("cursor-a3f8"), s.as("claude-b7e2")
	c.pass(time.Minute)
	mustBe(t, text(cursor.Update(ctx, Update{TaskID: limits, State: "done", Message: "100 a minute"})), "Task "+limits+" updated: Created → Completed")
	mustBe(t, text(cursor.List(ctx, Query{})), `Tasks (2):
  `+id+` "Fix auth middleware" [Working] (assignee: claude-b7e2, 1 message)
    `+limits+` "Add rate limiting" [Completed] (assignee: cursor-a3f8)`)

	c.pass(time.Minute)
	mustBe(t, text(claude.Update(ctx, Update{TaskID: id, State: "finished", Message: "Clock skew of 30 s allowed.", Artifact: "--- a\n+++ b", ArtifactName: "auth.patch"})),
		"Task "+id+" updated: Working → Completed\n  artifact: auth.patch")
	if err := s.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, o)
	mustBe(t, text(s.Get(ctx, TaskRef{id})), `Task `+id+` "Fix auth middleware" [Completed]
  From: cursor-a3f8, 2026-03-20T09:30:00Z (4m ago)
  Assignee: claude-b7e2
  References (2):
    architecture/auth
    src/auth.ts
  Description:
    Tokens expire
    too soon.
  Children (1):
    `+limits+` "Add rate limiting" [Completed]
  Messages (1):
    cursor-a3f8, 2026-03-20T09:32:00Z (2m ago):
      See
      the log.
  Artifacts (1):
    auth.patch by claude-b7e2, 2026-03-20T09:34:00Z (0s ago):
      --- a
      +++ b
  History (3):
    Created by cursor-a3f8 (assignee: claude), 2026-03-20T09:30:00Z (4m ago)
    Created → Working by claude-b7e2, 2026-03-20T09:31:00Z (3m ago)
    Working → Completed by claude-b7e2, 2026-03-20T09:34:00Z (0s ago):
      Clock skew of 30 s allowed.`)
	mustBe(t, text(s.Get(ctx, TaskRef{limits})), `Task `+limits+` "Add rate limiting" [Completed]
  From: cursor-a3f8, 2026-03-20T09:32:00Z (2m ago)
  Assignee: cursor-a3f8
  Parent: `+id+` "Fix auth middleware" [Completed]
  History (2):
    Created by cursor-a3f8 (parent: `+id+`), 2026-03-20T09:32:00Z (2m ago)
    Created → Completed by cursor-a3f8, 2026-03-20T09:33:00Z (1m ago):
      100 a minute`)
}

func TestClaim(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := open(t, t.TempDir(), &Options{ProjectHash: hash, Now: c.now})
	id := made(t, s.as("cursor-a3f8"), Draft{Title: "Look at it", ToAgent: "claude"})
	mustBe(t, text(s.as("gemini-0001").Claim(ctx, TaskClaim{id})), "error: task "+id+" is claude's; send a message, or have the task handed over")
	mustBe(t, text(s.as("claude-b7e2").Claim(ctx, TaskClaim{id})), "Task "+id+" claimed by claude-b7e2: Created → Working")
	mustBe(t, text(s.as("claude-b7e2").Claim(ctx, TaskClaim{id})), "Task "+id+" is already claimed by claude-b7e2 (state: Working)")
	mustBe(t, text(s.as("claude-0002").Claim(ctx, TaskClaim{id})), "error: task "+id+" is claude-b7e2's; send a message, or have the task handed over")
	_, err := s.as("claude-0002").Update(ctx, Update{TaskID: id, State: "Working"})
	if _, ok := errors.AsType[*TakenError](err); !ok {
		t.Errorf("working on another's task: %v", err)
	}
	_, err = s.Claim(ctx, TaskClaim{id})
	if a, ok := errors.AsType[*refusal.ArgumentError](err); !ok || a.Argument != "agent" {
		t.Errorf("a claim of nobody: %v", err)
	}
}

func TestUpdateWithoutState(t *testing.T) {
	ctx := t.Context()
	s := open(t, t.TempDir(), nil)
	cursor := s.as("cursor-a3f8")
	above, id := made(t, cursor, Draft{Title: "Above"}), made(t, cursor, Draft{Title: "Below", ToAgent: "cursor-a3f8"})
	mustBe(t, text(cursor.Update(ctx, Update{TaskID: id})), "error: needs state")
	mustBe(t, text(cursor.Update(ctx, Update{TaskID: id, Artifact: "x"})), "Task "+id+" updated: artifact: result")
	mustBe(t, text(cursor.Update(ctx, Update{TaskID: id, Parent: above, ToAgent: "claude"})), "Task "+id+" updated: assignee: claude, parent: "+above)
	mustBe(t, text(cursor.Update(ctx, Update{TaskID: id, Parent: above, ToAgent: "claude"})), "Task "+id+" is unchanged (state: Created)")
	mustBe(t, text(cursor.Update(ctx, Update{TaskID: above, Parent: id})), "error: task "+above+" cannot be below "+id+", which is the same or already below it")
	mustBe(t, text(cursor.Cancel(ctx, Cancellation{above, "not wanted"})), "Task "+above+" updated: Created → Canceled\n  still open below it: "+id)
	mustBe(t, text(cursor.Cancel(ctx, Cancellation{TaskID: above})), "error: task "+above+" is Canceled, which is final; for more work create a task with references="+above)
	mustBe(t, text(cursor.Message(ctx, Comment{above, "x"})), "error: no message added: task "+above+" is Canceled, which is final; for more work create a task with references="+above)
	mustBe(t, text(cursor.Update(ctx, Update{TaskID: above, Artifact: "x"})), "error: task "+above+" is Canceled, which is final; for more work create a task with references="+above)
}

// A silent assignee is told of everywhere and the task stays where it is,
// until another agent takes it, which is noted.
func TestSilence(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := open(t, t.TempDir(), &Options{ProjectHash: hash, Now: c.now, Agents: crowd{map[string]time.Time{"claude-b7e2": epoch, "cursor-a3f8": epoch.Add(3 * time.Hour)}, c}})
	id := made(t, s.as("cursor-a3f8"), Draft{Title: "Fix auth", ToAgent: "claude-b7"})
	done := made(t, s.as("cursor-a3f8"), Draft{Title: "Old one", ToAgent: "claude-b7e2"})
	stepped(t, s.as("claude-b7e2"), Update{TaskID: id, State: "Working"})
	stepped(t, s.as("claude-b7e2"), Update{TaskID: done, State: "Completed"})
	const line = ` "Fix auth" [Working] (assignee: claude-b7e2, assignee silent since 2h)`
	if got := text(s.List(ctx, Query{})); strings.Contains(got, "silent") {
		t.Errorf("nobody is silent yet: %s", got)
	}
	c.pass(2*time.Hour + 10*time.Minute)
	mustBe(t, text(s.List(ctx, Query{})), "Tasks (2):\n  "+id+line+"\n  "+done+` "Old one" [Completed] (assignee: claude-b7e2)`)
	if got := text(s.Get(ctx, TaskRef{id})); !strings.Contains(got, "\n  Assignee: claude-b7e2 (assignee silent since 2h)\n") {
		t.Error(got)
	}
	free := made(t, s.as("cursor-a3f8"), Draft{Title: "for a type", ToAgent: "cursor"})
	for id, want := range map[string][]string{"cursor-c0de": {free}, "cursor-a3f8": {}, "claude-b7e2": {}} { // it gave it; another type
		if got, err := s.FreeFor(ctx, id); err != nil || !slices.Equal(got, want) {
			t.Errorf("free for %s: %v, want %v: %v", id, got, want, err)
		}
	}
	mustBe(t, text(s.as("cursor-a3f8").Claim(ctx, TaskClaim{free})), "Task "+free+" claimed by cursor-a3f8: Created → Working")
	stepped(t, s, Update{TaskID: free, State: "done"})
	list, err := s.List(ctx, Query{State: "open"})
	if err != nil || list.Tasks[0].State != Working || !list.Tasks[0].SilentSince.Equal(epoch) {
		t.Errorf("%+v, %v", list, err)
	}
	mustBe(t, text(s.as("gemini-0001").Update(ctx, Update{TaskID: id, State: "done"})), "error: task "+id+" is claude-b7e2's, who is silent since 2026-03-20T09:30:00Z; claim it to take it over")
	mustBe(t, text(s.as("cursor-a3f8").Claim(ctx, TaskClaim{id})), "Task "+id+" claimed by cursor-a3f8: Working → Working\n  claude-b7e2 silent since 2026-03-20T09:30:00Z")
	g, err := s.Get(ctx, TaskRef{id})
	if last := g.History[len(g.History)-1]; err != nil || last.Assignee != "cursor-a3f8" || last.Why != "claude-b7e2 silent since 2026-03-20T09:30:00Z" {
		t.Errorf("%+v, %v", last, err)
	}
}

func TestInfo(t *testing.T) {
	ctx := t.Context()
	s := open(t, t.TempDir(), &Options{ProjectHash: hash, Version: "1.2.3"})
	for i, state := range eight {
		id := made(t, s.as("cursor-a3f8"), Draft{Title: string(state)})
		if i > 0 {
			stepped(t, s, Update{TaskID: id, State: string(state)})
		}
	}
	mustBe(t, text(s.Info(ctx, NoArgs{})), `Task store: 8 tasks, 4 open
  Created: 1
  Working: 1
  InputRequired: 1
  AuthRequired: 1
  Completed: 1
  Failed: 1
  Canceled: 1
  Rejected: 1
  Unassigned: 4
Agent card: lean-ctx 1.2.3 (A2A 1.0)
  Keeps the tasks that coding agents of one project give each other, with their messages, history and results.
  lean-ctx serve publishes it.
  Skill task-board: Takes a task for an agent of the project, and tells its state, its messages and what came of it.`)
	b, err := json.Marshal(card("1.2.3"))
	mustBe(t, string(b), `{"name":"lean-ctx","description":"Keeps the tasks that coding agents of one project give each other, with their messages, history and results.",`+
		`"version":"1.2.3","defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],`+
		`"skills":[{"id":"task-board","name":"Task board","description":"Takes a task for an agent of the project, and tells its state, its messages and what came of it.","tags":["tasks","coordination"],"examples":["Fix auth middleware","Add rate limiting"]}]}`)
	if err != nil {
		t.Error(err)
	}
}

// Open ones first, in each part the newest activity first; filters; limits.
func TestList(t *testing.T) {
	ctx, c := t.Context(), newClock()
	s := open(t, t.TempDir(), &Options{ProjectHash: hash, Now: c.now})
	cursor := s.as("cursor-a3f8")
	mustBe(t, text(s.List(ctx, Query{})), "No tasks.")
	var ids []string
	for _, d := range []Draft{{Title: "a", ToAgent: "claude"}, {Title: "b", ToAgent: "claude-b7e2"}, {Title: "c", ToAgent: "claude-b7ff"}, {Title: "d"}} {
		c.pass(time.Second)
		ids = append(ids, made(t, cursor, d))
	}
	stepped(t, s, Update{TaskID: ids[3], State: "Failed"})
	if _, err := cursor.Message(ctx, Comment{ids[0], "newest"}); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		q    Query
		want string
	}{
		{Query{}, "acbd"}, {Query{State: "all"}, "acbd"}, {Query{State: "OPEN"}, "acb"}, {Query{State: "closed"}, "d"},
		{Query{State: "submitted"}, "acb"}, {Query{State: "failed"}, "d"}, {Query{State: "Working"}, ""},
		{Query{AgentID: "claude"}, "acb"}, {Query{AgentID: "claude-b7e2"}, "ab"}, {Query{AgentID: "claude-b7"}, "cb"},
		{Query{AgentID: "cursor"}, ""}, {Query{State: "open", AgentID: "claude-b7ff"}, "ac"}, {Query{Limit: 2}, "ac"},
	} {
		r, err := s.List(ctx, x.q)
		var got strings.Builder
		for _, l := range r.Tasks {
			got.WriteString(l.Title)
		}
		if err != nil || got.String() != x.want {
			t.Errorf("%+v: %s, %v, want %s", x.q, got.String(), err, x.want)
		}
	}
	if got := text(s.List(ctx, Query{Limit: 1})); !strings.HasSuffix(got, "1 message)\n  … 3 more (limit=1)") || !strings.HasPrefix(got, "Tasks (4):\n") {
		t.Error(got)
	}
	mustBe(t, text(s.List(ctx, Query{State: "working", AgentID: "claude"})), "No Working tasks of claude.")
	mustBe(t, text(s.List(ctx, Query{Limit: -1})), "error: limit -1 is negative")
	mustBe(t, text(s.List(ctx, Query{State: "flying"})), `error: state "flying" is none of Created, Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected, open, closed, all`)
}

// Another project's tasks are not there, by whatever name.
func TestProjects(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	a, b := open(t, dir, &Options{ProjectHash: hash}), open(t, dir, &Options{ProjectHash: "00000000000000ff"})
	id := made(t, a.as("cursor-a3f8"), Draft{Title: "ours", ToAgent: "cursor-a3f8"})
	stepped(t, a.as("cursor-a3f8"), Update{TaskID: id, State: "Working"})
	theirs := made(t, b, Draft{Title: "theirs"})
	missing := "error: No task found: " + id
	for _, got := range []string{
		text(b.Get(ctx, TaskRef{id})), text(b.Update(ctx, Update{TaskID: id, State: "done"})), text(b.Cancel(ctx, Cancellation{TaskID: id})),
		text(b.Message(ctx, Comment{id, "x"})), text(b.as("x-0001").Claim(ctx, TaskClaim{id})),
		text(b.Create(ctx, Draft{Title: "x", Parent: id})), text(b.Update(ctx, Update{TaskID: theirs, Parent: id})),
	} {
		mustBe(t, got, missing)
	}
	mustBe(t, text(b.List(ctx, Query{})), "Tasks (1):\n  "+theirs+` "theirs" [Created] (unassigned)`)
	if title, err := b.LastTask(ctx); title != "" || err != nil {
		t.Errorf("worked on %q, %v", title, err)
	}
	if ids, err := b.Reassign(ctx, "cursor-a3f8", "x-0001", ""); err != nil || len(ids) != 0 {
		t.Errorf("%v, %v", ids, err)
	}
	if err := a.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	if got := text(open(t, dir, &Options{ProjectHash: "00000000000000ff"}).Get(ctx, TaskRef{id})); got != missing {
		t.Error(got)
	}
}
