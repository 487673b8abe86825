package agents

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"leanctx/internal/journal"
)

// On a full disk what is unread is given with a word that it will come again;
// it does, once, when there is room.
func TestReadOnFullDisk(t *testing.T) {
	b := newFixture(t)
	var full atomic.Pointer[error]
	b.opts.Fault = func(op, _ string) error {
		if e := full.Load(); e != nil && (op == "write" || op == "sync") {
			return *e
		}
		return nil
	}
	s, ctx := b.open(), t.Context()
	a, c, d := join(t, s, "cursor", ""), join(t, s, "claude", ""), join(t, s, "codex", "")
	post(t, a, PostArgs{Message: "the disk fills up"})
	post(t, a, PostArgs{Message: "for you", ToAgent: c.Self(), Private: true})
	must[HandedOver](t)(d.Handoff(ctx, HandoffArgs{ToAgent: c.Self(), Message: "go on"}))

	full.Store(new(error(syscall.ENOSPC)))
	if _, err := a.Post(ctx, PostArgs{Message: "lost"}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("posted: %v", err)
	}
	sync := must[Synced](t)(c.Sync(ctx, NoArgs{}))
	if len(sync.Handoffs) != 1 || !strings.HasSuffix(sync.Text(), unmarkedLine(sync.Unmarked)) || !strings.Contains(sync.Unmarked, "no space") {
		t.Errorf("synced: %s", sync.Text())
	}
	for range 2 {
		r := read(t, c)
		expect(t, "on a full disk", texts(r), []string{"the disk fills up", "for you"})
		if len(r.Handoffs) != 1 || !strings.HasSuffix(r.Text(), "\n"+unmarkedLine(r.Unmarked)) || !strings.Contains(r.Unmarked, "no space") {
			t.Errorf("read: %s", r.Text())
		}
	}
	full.Store(nil)
	r := read(t, c)
	expect(t, "with room", texts(r), []string{"the disk fills up", "for you"})
	if r.Unmarked != "" || len(r.Handoffs) != 1 || strings.Contains(r.Text(), "come again") {
		t.Errorf("read: %s", r.Text())
	}
	if r := read(t, c); len(r.Messages)+len(r.Handoffs) > 0 {
		t.Errorf("read again: %s", r.Text())
	}
	expect(t, "another process", must[Info](t)(b.open().As(Actor{Agent: c.Self()}).Info(ctx, NoArgs{})).Unread, 0)

	// What is no matter of writing is an error as it ever was.
	post(t, a, PostArgs{Message: "one more"})
	for _, err := range []error{journal.ErrLocked, journal.ErrCorrupt, journal.ErrNewer} {
		full.Store(&err)
		if r, got := c.Read(ctx, ReadArgs{}); !errors.Is(got, err) {
			t.Errorf("%v: %v, %s", err, got, r.Text())
		}
	}
	full.Store(nil)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.Read(ended, ReadArgs{}); !errors.Is(err, context.Canceled) {
		t.Errorf("read after the end: %v", err)
	}
	expect(t, "then", texts(read(t, c)), []string{"one more"})
}
