package agents

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"leanctx/agents/diary"
)

// A follower is given what happens, as it happens, but for what is private.
func TestFollow(t *testing.T) {
	b := newBed(t)
	s := b.open()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	lines := make(chan string, 100)
	done := make(chan error)
	a, c := join(t, s, "cursor", "dev"), join(t, s, "claude", "")
	for range 3 {
		must[diary.Noted](t)(a.Diary(ctx, Note{Message: "old"}))
	}
	started := make(chan struct{})
	watcher := b.open()
	watcher.poll = time.Millisecond
	go func() {
		close(started)
		done <- watcher.Follow(ctx, func(line string) error { lines <- line; return nil })
	}()
	<-started
	post(t, a, PostArgs{Message: "until it is seen"})
	var first string
	for first == "" { // the follower may have begun after the first
		select {
		case first = <-lines:
		case <-time.After(50 * time.Millisecond):
			post(t, a, PostArgs{Message: "until it is seen"})
		}
	}
	var seen []string
	post(t, a, PostArgs{Message: "between us", ToAgent: c.Self(), Private: true})
	post(t, a, PostArgs{Message: "two\nlines", ToAgent: "claude", Category: "request"})
	must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: "f", TTL: "1h"}))
	must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: "f", TTL: "2h"}))
	must[Released](t)(a.Release(ctx, ReleaseArgs{Path: "f"}))
	must[HandedOver](t)(a.Handoff(ctx, HandoffArgs{ToAgent: c.Self(), Message: "go on"}))
	must[diary.Noted](t)(a.Diary(ctx, Note{Message: "watch me", Category: "decision"}))
	for got := false; !got; { // it has been seen, and is not shown again with what comes next
		line := <-lines
		seen = append(seen, line)
		got = strings.Contains(line, "watch me")
	}
	must[diary.Noted](t)(a.Diary(ctx, Note{Message: "and me", Category: "decision"}))
	must[Updated](t)(a.Status(ctx, StatusArgs{Status: "finished"}))
	var got []string
	for len(got) < 9 {
		var line string
		if len(seen) > 0 {
			line, seen = plain(seen[0], a, c), seen[1:]
		} else {
			line = plain(<-lines, a, c)
		}
		if _, text, _ := strings.Cut(line, " "); !strings.Contains(text, "until it is seen") {
			got = append(got, text)
		}
	}
	slices.SortStableFunc(got, func(x, y string) int { // diaries are looked at after the registry
		return cmp.Compare(strings.Count(x, "[DECIDED]"), strings.Count(y, "[DECIDED]"))
	})
	expect(t, "lines", got, []string{
		"cursor-A → any claude [request] two\n      lines",
		"cursor-A claimed f for 1h (token 1)",
		"cursor-A renewed f for 2h (token 1)",
		"cursor-A released f",
		"cursor-A (dev) is idle: handed off to claude-B",
		"cursor-A handed off to claude-B: go on",
		"cursor-A (dev) is finished",
		"cursor-A [DECIDED] watch me",
		"cursor-A [DECIDED] and me",
	})
	stop()
	if err := <-done; err != nil {
		t.Errorf("the end of the context is an error: %v", err)
	}
}
