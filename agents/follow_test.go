package agents

import (
	"strings"
	"testing"

	"leanctx/agents/diary"
)

// A follower is told what others do, once, but for what is private.
func TestWatch(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	a, c := join(t, s, "cursor", "dev"), join(t, s, "claude", "")
	must[diary.Noted](t)(a.Diary(ctx, Note{Message: "old"}))
	next, err := b.open().Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	since := func(want ...string) {
		t.Helper()
		var got []string
		lines, err := next(ctx)
		for _, l := range lines {
			_, text, _ := strings.Cut(plain(l, a, c), " ")
			got = append(got, text)
		}
		if err != nil {
			t.Error(err)
		}
		expect(t, "lines", got, want)
	}
	since()
	post(t, a, PostArgs{Message: "between us", ToAgent: c.Self(), Private: true})
	post(t, a, PostArgs{Message: "two\nlines", ToAgent: "claude", Category: "request"})
	must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: "f", TTL: "1h"}))
	must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: "f", TTL: "2h"}))
	must[Released](t)(a.Release(ctx, ReleaseArgs{Path: "f"}))
	must[HandedOver](t)(a.Handoff(ctx, HandoffArgs{ToAgent: c.Self(), Message: "go on"}))
	must[diary.Noted](t)(a.Diary(ctx, Note{Message: "watch me", Category: "decision"}))
	since(
		"cursor-A → any claude [request] two\n      lines",
		"cursor-A claimed f for 1h (token 1)",
		"cursor-A renewed f for 2h (token 1)",
		"cursor-A released f",
		"cursor-A (dev) is idle: handed off to claude-B",
		"cursor-A handed off to claude-B: go on",
		"cursor-A [DECIDED] watch me",
	)
	must[diary.Noted](t)(a.Diary(ctx, Note{Message: "and me", Category: "decision"}))
	must[Updated](t)(a.Status(ctx, StatusArgs{Status: "finished"}))
	since("cursor-A (dev) is finished", "cursor-A [DECIDED] and me")
	since()
}
