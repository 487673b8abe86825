package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"leanctx/agents/diary"
)

// Whoever erases something is told of each place that agents wrote it to. A message that waits
// to be read and to be promoted is named once.
func TestCopies(t *testing.T) {
	b := newFixture(t)
	s := b.open()
	ctx := t.Context()
	me := s.As(Actor{Agent: must[Registered](t)(s.Register(ctx, Registration{AgentType: "cursor"})).AgentID})
	other := must[Registered](t)(s.Register(ctx, Registration{AgentType: "claude"})).AgentID
	must[diary.Noted](t)(me.Diary(ctx, Note{Message: "nothing of it"}))
	must[diary.Noted](t)(me.Diary(ctx, Note{Message: "done", Context: "the magic word"}))
	for _, p := range []PostArgs{{Message: "hello"}, {Message: "the magic word", Category: "finding"}, {Message: "magic, between us", ToAgent: other, Private: true}} {
		must[Posted](t)(me.Post(ctx, p))
	}
	must[Updated](t)(me.Status(ctx, StatusArgs{Message: "thinking of magic"}))
	must[HandedOver](t)(me.Handoff(ctx, HandoffArgs{ToAgent: other, Message: "say magic"}))
	if err := s.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	for range 2 { // as it was written, and from the files
		refs, err := me.Copies(ctx, func(text string) bool { return strings.Contains(text, "magic") })
		want := []string{"diary:" + me.Self() + "/2", "message:2", "message:3", "handoff:h-1"}
		if d := gocmp.Diff(want, refs); d != "" || err != nil {
			t.Error(err, d)
		}
		me = b.open().As(Actor{Agent: me.Self()})
	}
}

// Compact leaves a readable file of the registry and one of each diary of the
// project, and not those of another one.
func TestCompactWritesDiaries(t *testing.T) {
	b := newFixture(t)
	s := b.open()
	var ids []string
	for _, kind := range []string{"cursor", "claude"} {
		id := must[Registered](t)(s.Register(t.Context(), Registration{AgentType: kind})).AgentID
		must[diary.Noted](t)(s.As(Actor{Agent: id}).Diary(t.Context(), Note{Message: "written by " + kind}))
		ids = append(ids, id)
		b.opts.ProjectHash = "00000000000000ff"
		s = b.open()
	}
	if err := b.open().Compact(t.Context()); err != nil { // of the second project
		t.Fatal(err)
	}
	file := func(id string) string { return filepath.Join(b.dir, "diaries", id+".json") }
	if data, err := os.ReadFile(file(ids[1])); err != nil || !strings.Contains(string(data), `"content": "written by claude"`) {
		t.Errorf("%s, %v", data, err)
	}
	if _, err := os.Stat(file(ids[0])); err == nil {
		t.Error("another project's diary was written")
	}
	r := must[diary.Recalled](t)(b.open().As(Actor{Agent: ids[1]}).RecallDiary(t.Context(), DiaryQuery{}))
	if r.Total != 1 || r.Entries[0].Message != "written by claude" {
		t.Errorf("%+v", r)
	}
}
