package tasks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/internal/journal"
)

// sample is a store in which everything occurs.
func sample(t testing.TB, dir string) *Store {
	t.Helper()
	c := newClock()
	s := open(t, dir, &Options{ProjectHash: hash, Now: c.now})
	cursor := s.as("cursor-a3f8")
	above := made(t, cursor, Draft{Title: `Fix "auth", now \ <soon>`, ToAgent: "claude", Description: "a\nb", References: []string{"architecture/auth"}})
	id := made(t, cursor, Draft{Title: "修复 {", Parent: above})
	stepped(t, cursor, Update{TaskID: id, State: "working", Message: "x\ny", Artifact: "p\nq"})
	if _, err := cursor.Message(t.Context(), Comment{id, "[\n    {\n"}); err != nil {
		t.Fatal(err)
	}
	if _, err := cursor.Reassign(t.Context(), "cursor-a3f8", "claude-b7e2", "handoff"); err != nil {
		t.Fatal(err)
	}
	made(t, open(t, dir, &Options{ProjectHash: "00000000000000ff", Now: c.now}), Draft{Title: "theirs"})
	return s
}

// The file is plain JSON that a person can read, and comes back as it was:
// read fast, read slowly, copied, and written anew.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	s := sample(t, dir)
	want := everything(t, s)
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "tasks.json"))
	if err != nil || !json.Valid(data) || !bytes.HasPrefix(data, []byte("{\n  \"schema\": 1,\n")) {
		t.Fatalf("%v\n%s", err, data)
	}
	written := func(data []byte) string {
		st, err := machine{}.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := (machine{}).Encode(&out, st, journal.Header{Schema: 1, Seq: 6, Checksum: "00000000", At: epoch}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	again := written(data)
	mustBe(t, written([]byte(again)), again)
	mustBe(t, everything(t, open(t, dir, &Options{ProjectHash: hash})), want)
}

// Files of the first version open: tasks that were finished long ago stood in a
// part of their own, and moves were kept with keys.
func TestFirstVersion(t *testing.T) {
	const v1 = "../testdata/store/v1/agents"
	dir := t.TempDir()
	for _, name := range []string{"tasks.json", "tasks.journal"} {
		data, err := os.ReadFile(filepath.Join(v1, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(filepath.Join(v1, "tasks.golden"))
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, &Options{ProjectHash: hash, Now: newClock().now})
	mustBe(t, answers(t, s), string(want))
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustBe(t, answers(t, open(t, dir, &Options{ProjectHash: hash, Now: newClock().now})), string(want))
}

func TestEmptyFile(t *testing.T) {
	var out bytes.Buffer
	if err := (machine{}).Encode(&out, newState(), journal.Header{Schema: 1}); err != nil {
		t.Fatal(err)
	}
	if st, err := (machine{}).Decode(out.Bytes()); err != nil || len(st.projects) != 0 || !json.Valid(out.Bytes()) {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// Folding a commit again changes nothing more, and a clone stays as it was.
func TestFoldAgain(t *testing.T) {
	b := newState()
	b.fold(event{Create: &record{Task: Task{ID: "t-000001", State: Created, CreatedAt: epoch, UpdatedAt: epoch}}}, epoch)
	before := machine{}.Clone(b)
	c := event{Change: &change{ID: "t-000001", By: "x", To: Working, Message: "m", Artifact: &artifact{"a", "b"}}}
	for range 2 {
		b.fold(c, epoch.Add(time.Second))
	}
	g := b.projects[""].tree().details(b.projects[""]["t-000001"], epoch)
	if len(g.History) != 1 || len(g.Thread) != 1 || len(g.Artifacts) != 1 || g.Messages != 1 || !g.WorkedAt.Equal(epoch.Add(time.Second)) {
		t.Errorf("%+v", g)
	}
	if old := before.projects[""]["t-000001"]; old.State != Created || len(old.History) != 0 {
		t.Errorf("the clone changed: %+v", old)
	}
	b.fold(event{Change: &change{ID: "t-ffffff", To: Working}}, epoch) // its creation was lost
	b.fold(event{Create: &record{Task: Task{Title: "no id"}}}, epoch)
	if got := b.projects[""].root(b.projects[""]["t-000001"]); got != "t-000001" || len(b.projects[""]) != 1 {
		t.Errorf("a task without an id: the root is %s of %d tasks", got, len(b.projects[""]))
	}
}

// The store of another program is left alone, and ours is kept beside it.
func TestForeignFile(t *testing.T) {
	dir := t.TempDir()
	const theirs = `{"tasks":[{"id":"task-18f0-aa","state":"Working"}],"updated_at":"2026-01-01T00:00:00Z"}`
	name := filepath.Join(dir, "tasks.json")
	if err := os.WriteFile(name, []byte(theirs), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir, nil).Create(t.Context(), Draft{Title: "ours"}); err != nil {
		t.Fatal(err)
	}
	if l, err := open(t, dir, nil).List(t.Context(), Query{}); err != nil || len(l.Tasks) != 1 {
		t.Errorf("%v, %v", l, err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != theirs {
		t.Errorf("%s, %v", b, err)
	}
}

func TestNewerFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tasks.json"), []byte(`{"schema": 2, "checksum": "00000000", "tasks": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, nil); !errors.Is(err, journal.ErrNewer) {
		t.Errorf("%v", err)
	}
}

// A file of any bytes is read or refused.
func FuzzDecode(f *testing.F) {
	dir := f.TempDir()
	if err := sample(f, dir).Compact(f.Context()); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "tasks.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add(bytes.Replace(data, []byte(`"tasks"`), []byte(`"old"`), 1))
	f.Add([]byte(`{"schema":1,"tasks":[null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		st, err := machine{}.Decode(data)
		if err != nil {
			return
		}
		for _, list := range st.projects {
			for _, r := range list {
				_ = list.tree().details(r, epoch).Text() // no panic is all that is asked
			}
		}
	})
}

// answers is what a store says to every question.
func answers(t testing.TB, s *Store) string {
	t.Helper()
	ctx := t.Context()
	var b strings.Builder
	for _, q := range []Query{{}, {State: "all"}, {State: "closed"}, {State: "open"}, {State: "canceled"}, {State: "all", Limit: 3}, {AgentID: "claude"}, {State: "working"}, {State: "all", AgentID: "cursor"}} {
		fmt.Fprintf(&b, "%+v: %s\n", q, text(s.List(ctx, q)))
	}
	for _, id := range []string{"t-000001", "t-0000fe", "t-0000ff", "t-2000aa", "t-1000", "t-00001", "t-0000", "t-ffffff", "t-000"} {
		b.WriteString(text(s.Get(ctx, TaskRef{id})) + "\n")
	}
	b.WriteString(text(s.Info(ctx, NoArgs{})) + "\n")
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
	for _, r := range []interface{ String() string }{errText(s.Message(ctx, Comment{"t-000002", "x"})), errText(s.Update(ctx, Update{TaskID: "t-000003", State: "done"}))} {
		b.WriteString(r.String() + "\n")
	}
	return b.String()
}

type said string

func (s said) String() string { return string(s) }

func errText[R any](_ R, err error) said { return said(fmt.Sprint(err)) }
