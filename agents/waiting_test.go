package agents

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// What goes to a type that nobody has yet waits for the first agent of that type, and
// the answer says so.
func TestTypeThatIsNotHereYet(t *testing.T) {
	b, ctx := newFixture(t), t.Context()
	s := b.open()
	cursor := join(t, s, "cursor", "dev")
	posted := must[Posted](t)(cursor.Post(ctx, PostArgs{Message: "rebase first", ToAgent: "Claude"}))
	if want := "Posted [status] to any claude: rebase first (no claude is here yet: it waits)"; posted.Text() != want {
		t.Errorf("%q, want %q", posted.Text(), want)
	}
	must[Claimed](t)(cursor.Claim(ctx, ClaimArgs{Path: "src"}))
	handed := must[HandedOver](t)(cursor.Handoff(ctx, HandoffArgs{ToAgent: "claude", Message: "go on"}))
	if !strings.HasSuffix(handed.Text(), "\n  no claude is here yet: it waits") || len(handed.Claims) != 1 {
		t.Error(handed.Text())
	}
	if err := s.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	other := b.open()
	if got := read(t, join(t, other, "codex", "")); len(got.Messages)+len(got.Handoffs) != 0 {
		t.Error(got.Text())
	}
	first, second := join(t, other, "claude", "one"), join(t, b.open(), "claude", "two")
	got := read(t, first)
	if len(got.Messages) != 1 || len(got.Handoffs) != 1 || len(got.Handoffs[0].Claims) != 1 {
		t.Fatal(got.Text())
	}
	if again := read(t, second); len(again.Messages)+len(again.Handoffs) != 0 {
		t.Errorf("both were given it: %s", again.Text())
	}
	// The claims came with it, and with the tokens that it was told.
	sync := must[Synced](t)(first.Sync(ctx, NoArgs{}))
	if c := sync.Claims; len(c) != 1 || c[0].AgentID != first.Self() || c[0].Token != got.Handoffs[0].Claims[0].Token {
		t.Errorf("%+v, want what %+v says", c, got.Handoffs[0].Claims)
	}
}

// A handoff to a type whose agents are all away waits for one of them, or for a new one. To one's
// own type it would come back.
func TestHandoffToATypeThatIsAway(t *testing.T) {
	for _, finished := range []bool{true, false} {
		b, ctx := newFixture(t), t.Context()
		s := b.open()
		away := join(t, s, "claude", "")
		if finished {
			must[Updated](t)(away.Status(ctx, StatusArgs{Status: "finished"}))
		}
		b.clock.pass(25 * time.Hour)
		cursor := join(t, s, "cursor", "dev")
		if _, err := cursor.Handoff(ctx, HandoffArgs{ToAgent: "cursor", Message: "go on"}); err == nil || !strings.Contains(err.Error(), "no other cursor is here") {
			t.Errorf("to its own type: %v", err)
		}
		handed := must[HandedOver](t)(cursor.Handoff(ctx, HandoffArgs{ToAgent: "claude", Message: "go on"}))
		if handed.To != "claude" || !strings.Contains(handed.Note, away.Self()) {
			t.Errorf("finished %v: %s", finished, handed.Text())
		}
		to := away
		if finished {
			to = join(t, s, "claude", "another")
		}
		if got := read(t, to); len(got.Handoffs) != 1 {
			t.Errorf("finished %v: %s", finished, got.Text())
		}
	}
}

// A handoff names the facts of the sender's session, five at most.
func TestHandoffNamesFactsOfTheSession(t *testing.T) {
	b, ctx := newFixture(t), t.Context()
	var asked time.Time
	b.opts.Facts = func(_ context.Context, _ string, since time.Time) (list []string, _ error) {
		asked = since
		for i := range 9 {
			list = append(list, fmt.Sprint("a/", i))
		}
		return list, nil
	}
	s := b.open()
	from, to := join(t, s, "cursor", "dev"), join(t, s, "claude", "")
	b.clock.pass(time.Hour)
	if err := s.live.Leave(from.Self()); err != nil {
		t.Fatal(err)
	}
	again := s.As(Actor{Agent: from.Self()}) // its next session
	must[Registered](t)(again.Register(ctx, Registration{AgentType: "cursor"}))
	began := b.clock.Now()
	b.clock.pass(time.Hour)
	must[HandedOver](t)(again.Handoff(ctx, HandoffArgs{ToAgent: to.Self(), Message: "go on"}))
	if !asked.Equal(began) {
		t.Errorf("facts since %s were asked for, the session began at %s", asked, began)
	}
	if got := read(t, to).Handoffs[0].Facts; strings.Join(got, " ") != "a/0 a/1 a/2 a/3 a/4" {
		t.Error(got)
	}
}
