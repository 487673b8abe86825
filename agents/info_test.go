package agents

import "testing"

// Who only looks sees claims, waiting handoffs and all messages but the private ones, and
// takes none of them from anybody.
func TestInfoShowsTheWork(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	one, two := join(t, b.open(), "cursor", "auth"), join(t, b.open(), "claude", "review")
	post(t, one, PostArgs{Message: "for all"})
	post(t, one, PostArgs{Message: "for claude", ToAgent: "claude"})
	post(t, one, PostArgs{Message: "secret", ToAgent: "claude", Private: true})
	must[Claimed](t)(one.Claim(ctx, ClaimArgs{Path: "src/auth.ts"}))
	for range 2 {
		i := must[Info](t)(s.As(Actor{}).Info(ctx, NoArgs{}))
		if len(i.Held) != 1 || i.Held[0].Path != "src/auth.ts" {
			t.Errorf("claims: %+v", i.Held)
		}
		if len(i.Recent) != 2 || i.Recent[0].Message != "for claude" || i.Recent[1].Message != "for all" {
			t.Errorf("messages: %+v", i.Recent)
		}
	}
	if n := must[Info](t)(two.Info(ctx, NoArgs{})).Unread; n != 3 {
		t.Errorf("unread: %d", n)
	}
	must[HandedOver](t)(one.Handoff(ctx, HandoffArgs{ToAgent: two.Self(), Message: "review is left"}))
	if i := must[Info](t)(s.As(Actor{}).Info(ctx, NoArgs{})); len(i.Work) != 1 || i.Work[0].Summary != "review is left" || i.Work[0].To != two.Self() || len(i.Work[0].Claims) != 1 {
		t.Errorf("handoffs: %+v", i.Work)
	}
}
