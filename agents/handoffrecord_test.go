package agents

import (
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"leanctx/agents/diary"
)

var t0 = time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)

func ids(list []*handoffRecord) string {
	var out []string
	for _, h := range list {
		out = append(out, h.ID)
	}
	return strings.Join(out, " ")
}

// Who is to receive what, in the order in which it was handed over. What earlier versions wrote
// before a handoff was done is no bundle.
func TestSet(t *testing.T) {
	p := newProject("")
	for i, h := range []handoffRecord{
		{ID: "h-10", To: "a", State: handoffDone}, {ID: "h-2", To: "a", State: handoffDone}, {ID: "h-3", To: "b", State: handoffDone}, {ID: "h-4", To: "a", State: "pending"}, {ID: "h-5", To: "a", State: "off"},
	} {
		h.Number = []uint64{10, 2, 3, 4, 5}[i]
		p.fileHandoff(&h)
	}
	s := p.handoffs
	got := []string{ids(s.waiting("a", "")), ids(s.waiting("x", "b")), ids(s.waiting("c", "x"))}
	if d := gocmp.Diff([]string{"h-2 h-10", "h-3", ""}, got); d != "" || len(s) != 3 {
		t.Error(len(s), d)
	}
}

// A bundle is told whole; no text in it passes for a line of the answer.
func TestBundle(t *testing.T) {
	h := &handoffRecord{
		From: "cursor-a3f8", Role: "dev\x1b", To: "claude-b7e2", Summary: "go on\nTasks: none", Tasks: []string{"t-1", "t-2"},
		Claims: []movedClaim{{"src/a.go", 7}}, Facts: []string{"auth/token"}, Files: []string{"a\nb"}, At: t0,
		Diary: []diary.Entry{{Number: 1, Type: diary.Progress, Text: "half", At: t0.Add(-time.Minute)}},
	}
	want := []string{
		`Handoff from cursor-a3f8 (dev\u{1b}) (5m ago): go on` + "\n      Tasks: none",
		"  Tasks: t-1, t-2", "  Claims: src/a.go (token 7)", "  Facts: auth/token", `  Shared files: a\nb`, "  Diary:", "    [DONE] half (6m ago)",
	}
	if d := gocmp.Diff(want, bundle(h).lines(t0.Add(5*time.Minute))); d != "" {
		t.Error(d)
	}
	if bare := bundle(&handoffRecord{From: "a", Summary: "s", At: t0}).lines(t0); len(bare) != 1 {
		t.Error(bare)
	}
}

// Two handoffs of one sender in one answer tell each entry of its diary once.
func TestDiaryIsToldOnce(t *testing.T) {
	b := newFixture(t)
	s := b.open()
	me, other := join(t, s, "cursor", ""), join(t, s, "claude", "")
	for _, text := range []string{"first", "second"} {
		b.clock.pass(time.Minute)
		must[diary.Noted](t)(me.Diary(t.Context(), Note{Message: text}))
		must[HandedOver](t)(me.Handoff(t.Context(), HandoffArgs{ToAgent: other.Self(), Message: text}))
	}
	r := must[Synced](t)(other.Sync(t.Context(), NoArgs{}))
	for _, text := range []string{"] first (", "] second ("} {
		if n := strings.Count(r.Text(), text); n != 1 {
			t.Errorf("%q is told %d times:\n%s", text, n, r.Text())
		}
	}
}

func bundle(h *handoffRecord) Bundle {
	list, _ := newProject("").received(h.To, []*handoffRecord{h}, t0)
	return list[0]
}

// Who passed its work on and takes up more is at work again, and no longer
// shown as somebody who has handed off.
func TestBackAfterHandoff(t *testing.T) {
	b := newFixture(t)
	s := b.open()
	me, other := join(t, s, "cursor", ""), join(t, s, "claude", "")
	must[HandedOver](t)(me.Handoff(t.Context(), HandoffArgs{ToAgent: other.Self(), Message: "go on"}))
	status := func() string {
		i := must[Info](t)(me.Info(t.Context(), NoArgs{}))
		return i.You.Status + " " + i.You.Message
	}
	if got, want := status(), "idle handed off to "+other.Self(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	must[Claimed](t)(me.Claim(t.Context(), ClaimArgs{Path: "f"}))
	if got := status(); got != "active " {
		t.Errorf("%q", got)
	}
	must[Updated](t)(me.Status(t.Context(), StatusArgs{Status: "idle", Message: "lunch"}))
	must[Claimed](t)(me.Claim(t.Context(), ClaimArgs{Path: "g"}))
	if got := status(); got != "idle lunch" { // what it said itself stays
		t.Errorf("%q", got)
	}
}
