package tasks

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	stepped(t, cursor, Step{TaskID: id, State: "working", Message: "x\ny", Artifact: "p\nq"})
	if _, err := cursor.Message(t.Context(), Remark{id, "[\n    {\n"}); err != nil {
		t.Fatal(err)
	}
	if _, err := cursor.Move(t.Context(), Reassignment{"cursor-a3f8", "claude-b7e2", "handoff", "h-1"}); err != nil {
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
	if testing.Verbose() {
		t.Logf("%s", data)
	}
	l, ok := parseLayout(data)
	if !ok {
		t.Fatal("no layout")
	}
	raws, err := split(data[bytes.Index(data, []byte(tasksMark)):l.old], tasksMark)
	if err != nil || len(raws) != 3 {
		t.Fatalf("%v, %d tasks", err, len(raws))
	}
	names := interned{}
	for _, raw := range raws {
		var quick, slow Task
		if !names.head(raw, &quick) || json.Unmarshal(raw, &slow) != nil {
			t.Errorf("not read: %s", raw)
		}
		if diff := cmp.Diff(slow, quick); diff != "" {
			t.Errorf("(-slow +fast):\n%s", diff)
		}
	}
	h := journal.Header{Schema: 1, Seq: 6, Checksum: "00000000", At: epoch}
	written := func(data []byte, touch bool) string {
		b, err := decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if touch {
			b = touched(t, b)
		}
		var out bytes.Buffer
		if err := encode(&out, b, h); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	copied := written(data, false)
	mustBe(t, written(data, true), copied)
	var other bytes.Buffer
	if err := json.Indent(&other, data, "", "\t"); err != nil {
		t.Fatal(err)
	}
	mustBe(t, written(other.Bytes(), true), copied)
	mustBe(t, everything(t, open(t, dir, &Options{ProjectHash: hash})), want)
}

// touched is the same board with every thread parsed.
func touched(t testing.TB, b *board) *board {
	t.Helper()
	all, err := b.everything()
	if err != nil {
		t.Fatal(err)
	}
	c := newBoard()
	c.moves = b.moves
	for _, list := range all {
		for _, r := range list {
			th, err := r.open()
			if err != nil {
				t.Fatal(err)
			}
			c.put(&record{Task: r.Task, thread: th})
		}
	}
	return c
}

func TestEmptyFile(t *testing.T) {
	var out bytes.Buffer
	if err := encode(&out, newBoard(), journal.Header{Schema: 1}); err != nil {
		t.Fatal(err)
	}
	if b, err := decode(out.Bytes()); err != nil || len(b.projects) != 0 || b.old == nil || !json.Valid(out.Bytes()) {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// A task that cannot be read spoils no other, is an error when it is asked
// for, and is written back byte by byte.
func TestUnreadableThread(t *testing.T) {
	b := boardOf(Task{ID: "t-000001", State: Created, Title: "good"})
	raw := `{"id":"t-000002","state":"Created","title":"bad","created_by":"x","created_at":"2026-03-20T09:30:00Z","updated_at":"2026-03-20T09:30:00Z","message_count":0,` + "\n" + `     "history": 7}`
	b.put(&record{raw: []byte(raw), Task: Task{ID: "t-000002", State: Created}})
	if _, err := b.got(b.projects[""]["t-000002"], epoch); !errors.Is(err, journal.ErrCorrupt) {
		t.Errorf("%v", err)
	}
	if _, err := b.got(b.projects[""]["t-000001"], epoch); err != nil {
		t.Error(err)
	}
	b.fold(event{Change: &change{ID: "t-000002", To: Working}}, epoch)
	var out bytes.Buffer
	if err := encode(&out, b, journal.Header{Schema: 1}); err != nil || !strings.Contains(out.String(), raw) {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// Folding a commit again changes nothing more, and a clone stays as it was.
func TestFoldAgain(t *testing.T) {
	b := newBoard()
	b.fold(event{Create: &whole{Task: Task{ID: "t-000001", State: Created, CreatedAt: epoch, UpdatedAt: epoch}}}, epoch)
	before := machine{}.Clone(b)
	c := event{Change: &change{ID: "t-000001", By: "x", To: Working, Message: "m", Artifact: &piece{"a", "b"}}}
	for range 2 {
		b.fold(c, epoch.Add(time.Second))
	}
	g, err := b.got(b.projects[""]["t-000001"], epoch)
	if err != nil || len(g.History) != 1 || len(g.Thread) != 1 || len(g.Artifacts) != 1 || g.Messages != 1 || !g.WorkedAt.Equal(epoch.Add(time.Second)) {
		t.Errorf("%+v, %v", g, err)
	}
	if old := before.projects[""]["t-000001"]; old.State != Created || len(old.thread.History) != 0 {
		t.Errorf("the clone changed: %+v", old)
	}
	b.fold(event{Change: &change{ID: "t-ffffff", To: Working}}, epoch) // its creation was lost
}

// Keys of moves are forgotten after a season, not before.
func TestMovesKept(t *testing.T) {
	b := newBoard()
	for i, key := range []string{"old", "mid", "new"} {
		at := epoch.Add(time.Duration(i) * movesKept * 2 / 3)
		b.fold(event{Move: &move{Key: key, At: at}}, at)
	}
	if b.moved("", "old") != nil || b.moved("", "mid") == nil || b.moved("", "new") == nil {
		t.Errorf("%+v", b.moves)
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
	if l, err := open(t, dir, nil).List(t.Context(), Choice{}); err != nil || len(l.Tasks) != 1 {
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

// Whatever stands in a task's first line, the fast reader says the same as
// encoding/json or nothing.
func FuzzHead(f *testing.F) {
	f.Add([]byte(`{"id":"t-a3f8c1","project":"14958352f5925e3e","state":"Working","assignee":"claude","title":"a \"b\" \u0041","created_by":"x","created_at":"2026-03-20T09:30:00Z","updated_at":"2026-03-20T09:30:00.000000001Z","message_count":12,` + "\n" + `     "history": []}`))
	f.Add([]byte(`{"id":"t-a3f8c1","message_count":-1,` + "\n}"))
	f.Add([]byte(`{"id":"t-a3f8c1",,` + "\n}"))
	f.Add([]byte(`{"id":"\ud800",` + "\n" + `"x":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var quick, slow Task
		ok := interned{}.head(raw, &quick)
		if err := json.Unmarshal(raw, &slow); !ok || err != nil {
			return
		}
		if diff := cmp.Diff(slow, quick); diff != "" {
			t.Errorf("(-slow +fast):\n%s", diff)
		}
	})
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
	f.Add(bytes.Replace(data, []byte("},\n    {"), []byte("x,\n    {"), 1))
	f.Add(bytes.Replace(data, []byte(tasksMark), []byte(oldMark), 1))
	f.Add(bytes.Replace(data, []byte("old 0"), []byte("old 9"), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := decode(data)
		if err != nil {
			return
		}
		all, _ := b.everything()
		for _, list := range all {
			for _, r := range list {
				_, _ = r.open() // no panic is all that is asked
			}
		}
	})
}
