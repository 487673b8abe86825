package tasks

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// aged is a snapshot with tasks that were finished long ago, and some that
// were not: t-0000xx finished 100 days ago, t-1000xx yesterday, t-2000xx open.
// t-0000ff is old but a part of an open one; t-0000fe is a part of an old one.
func aged(t testing.TB) (dir string, c *clock) {
	t.Helper()
	dir, c = t.TempDir(), newClock()
	s := open(t, dir, &Options{ProjectHash: hash, Now: c.now})
	ago := func(days int) time.Time { return epoch.AddDate(0, 0, -days) }
	var list []Task
	add := func(x Task, at time.Time) {
		x.Assignee, x.CreatedBy, x.CreatedAt, x.UpdatedAt, x.Messages = "claude-b7e2", "cursor-a3f8", at.Add(-time.Hour), at, 2
		list = append(list, x)
	}
	for i := range 20 {
		add(Task{ID: fmt.Sprintf("t-0000%02x", i), Title: fmt.Sprint("old ", i), State: Completed, WorkedAt: ago(101)}, ago(100).Add(time.Duration(i)*time.Minute))
	}
	add(Task{ID: "t-1000aa", Title: "recent", State: Failed}, ago(1))
	add(Task{ID: "t-2000aa", Title: "open", State: Working, Parent: "t-000001"}, ago(200))
	add(Task{ID: "t-0000ff", Title: "old below an open one", State: Completed, Parent: "t-2000aa"}, ago(150))
	add(Task{ID: "t-0000fe", Title: "old below an old one", State: Canceled, Parent: "t-000001"}, ago(150))
	fill(t, s, list...)
	fill(t, open(t, dir, &Options{ProjectHash: "00000000000000ff", Now: c.now}), Task{ID: "t-000001", Title: "theirs", State: Completed, CreatedAt: ago(300), UpdatedAt: ago(300)})
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir, c
}

// answers is what a store says to every question.
func answers(t testing.TB, s *Store) string {
	t.Helper()
	ctx := t.Context()
	var b strings.Builder
	for _, q := range []Choice{{}, {State: "all"}, {State: "closed"}, {State: "open"}, {State: "canceled"}, {State: "all", Limit: 3}, {AgentID: "claude"}, {State: "working"}, {State: "all", AgentID: "cursor"}} {
		fmt.Fprintf(&b, "%+v: %s\n", q, text(s.List(ctx, q)))
	}
	for _, id := range []string{"t-000001", "t-0000fe", "t-0000ff", "t-2000aa", "t-1000", "t-00001", "t-0000", "t-ffffff", "t-000"} {
		b.WriteString(text(s.Get(ctx, Pick{id})) + "\n")
	}
	b.WriteString(text(s.Info(ctx, Nothing{})) + "\n")
	for _, id := range []string{"t-000001", "t-2000aa"} {
		reached, err := s.Reached(ctx, id, "done")
		fmt.Fprintln(&b, reached, err)
	}
	last, err := s.LastTask(ctx)
	fmt.Fprintln(&b, last, err)
	for _, since := range []time.Time{{}, epoch.AddDate(0, 0, -30)} {
		results, err := s.Results(ctx, since)
		fmt.Fprintln(&b, results, err)
	}
	for _, r := range []interface{ String() string }{errText(s.Message(ctx, Remark{"t-000002", "x"})), errText(s.Update(ctx, Step{TaskID: "t-000003", State: "done"}))} {
		b.WriteString(r.String() + "\n")
	}
	return b.String()
}

type said string

func (s said) String() string { return string(s) }

func errText[R any](_ R, err error) said { return said(fmt.Sprint(err)) }

// A file read in parts answers as one read whole, and reads the old tasks only
// when one is asked for.
func TestOldTasks(t *testing.T) {
	dir, c := aged(t)
	whole := open(t, dir, &Options{ProjectHash: hash, Now: c.now})
	parts := open(t, dir, &Options{ProjectHash: hash, Now: c.now, partsFrom: 1})
	if text := answers(t, whole); testing.Verbose() {
		t.Log(text)
	}
	ctx := t.Context()
	read := func() (tasks int, old bool) {
		if err := parts.view(ctx, func(b *board, _ time.Time) error {
			tasks, old = len(b.projects[hash]), b.old.tasks != nil
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return tasks, old
	}
	if n, old := read(); n != 3 || old {
		t.Errorf("%d tasks were read, old ones: %v", n, old)
	}
	mustBe(t, text(parts.List(ctx, Choice{})), `Tasks (2):
  t-2000aa "open" [Working] (assignee: claude-b7e2, 2 messages)
  t-1000aa "recent" [Failed] (assignee: claude-b7e2, 2 messages)
  … and those finished over 90 days ago (state=all)`)
	id := made(t, parts, Draft{Title: "new", ToAgent: "claude-b7e2"})
	stepped(t, parts, Step{TaskID: id, State: "Working", Message: "begun"})
	if _, err := parts.Message(ctx, Remark{"t-2000aa", "and?"}); err != nil {
		t.Fatal(err)
	}
	if _, old := read(); old {
		t.Error("old tasks were read for nothing")
	}
	mustBe(t, answers(t, parts), answers(t, whole))
	if _, old := read(); !old {
		t.Error("whence came the old ones?")
	}
	if err := parts.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	for _, o := range []*Options{{ProjectHash: hash, Now: c.now}, {ProjectHash: hash, Now: c.now, partsFrom: 1}, {ProjectHash: hash, Now: c.now, LongLived: true}} {
		mustBe(t, answers(t, open(t, dir, o)), answers(t, whole))
	}
}

// Damage anywhere in a file that is read in parts is noticed, at the latest
// when the part is read, and the snapshot before takes over: nothing is lost.
func TestOldTasksDamaged(t *testing.T) {
	dir, c := aged(t)
	s := open(t, dir, &Options{ProjectHash: hash, Now: c.now})
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := answers(t, s)
	name := filepath.Join(dir, "tasks.json")
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, mark := range []string{`"seq": `, `"updated_at": "20`, `open`, `old 7`, `"Completed":2`, ` t-00000`, `layout": "old 0`, `names 0`, `sums `} {
		at := bytes.LastIndex(good, []byte(mark)) + len(mark)
		bad := bytes.Clone(good)
		bad[at] ^= 1
		if err := os.WriteFile(name, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		mustBe(t, answers(t, open(t, dir, &Options{ProjectHash: hash, Now: c.now, partsFrom: 1})), want)
		if err := os.WriteFile(name, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
