package handoff

import (
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"leanctx/agents/diary"
)

var t0 = time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)

func ids(list []*Handoff) string {
	var out []string
	for _, h := range list {
		out = append(out, h.ID)
	}
	return strings.Join(out, " ")
}

// Who is to receive what, in the order in which it was handed over.
func TestSet(t *testing.T) {
	s := Set{}
	for i, h := range []Handoff{
		{ID: "h-10", To: "a", State: Done}, {ID: "h-2", To: "a", State: Done}, {ID: "h-3", To: "b", State: Done}, {ID: "h-4", To: "a", State: Pending}, {ID: "h-5", To: "a", State: Off},
	} {
		h.Number = []uint64{10, 2, 3, 4, 5}[i]
		s.Put(&h)
	}
	got := []string{ids(s.Waiting("a")), ids(s.Waiting("b")), ids(s.Waiting("c")), ids(s.Pending())}
	if d := gocmp.Diff([]string{"h-2 h-10", "h-3", "", "h-4"}, got); d != "" || s.Unreceived() != 3 {
		t.Error(s.Unreceived(), d)
	}
	s.Pending()[0].State = Done
	if s["h-4"].State != Pending {
		t.Error("what a set holds was changed")
	}
	s.Put(&Handoff{ID: "h-4", State: Off})
	if len(s) != 3 || len(s.Pending()) > 0 {
		t.Errorf("%v", s)
	}
}

// A bundle is told whole; no text in it passes for a line of the answer.
func TestBundle(t *testing.T) {
	h := &Handoff{
		From: "cursor-a3f8", Role: "dev\x1b", To: "claude-b7e2", Summary: "go on\nTasks: none", Tasks: []string{"t-1", "t-2"},
		Claims: []Moved{{"src/a.go", 7}}, Facts: []string{"auth/token"}, Files: []string{"a\nb"}, At: t0,
		Diary: []diary.Entry{{Number: 1, Type: diary.Progress, Text: "half", At: t0.Add(-time.Minute)}},
	}
	want := []string{
		`Handoff from cursor-a3f8 (dev\u{1b}) (5m ago): go on` + "\n      Tasks: none",
		"  Tasks: t-1, t-2", "  Claims: src/a.go (token 7)", "  Facts: auth/token", `  Shared files: a\nb`, "  Diary:", "    [DONE] half (6m ago)",
	}
	if d := gocmp.Diff(want, Bundles([]*Handoff{h})[0].Lines(t0.Add(5*time.Minute))); d != "" {
		t.Error(d)
	}
	if bare := Bundles([]*Handoff{{From: "a", Summary: "s", At: t0}})[0].Lines(t0); len(bare) != 1 {
		t.Error(bare)
	}
}
