package agents

import (
	"context"
	"errors"
	"testing"
	"time"
)

// promised is an office whose handoff was killed when its promise was on disk
// and nothing had moved yet.
func promised(t *testing.T) (*Store, *desk) {
	t.Helper()
	b := office(t)
	d, err := openDesk(b.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.log.Close() })
	b.opts.Tasks = d
	s := b.open()
	err = s.update(t.Context(), func(p *project, now time.Time) ([]event, error) {
		return []event{{By: sender, Handoff: &handoffRecord{ID: "h-1", Number: 1, From: sender, To: receiver, State: handoffPending, Summary: "go on", At: now}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, d
}

// An interrupted handoff is completed by whatever anybody does next, before
// that is done.
func TestInterruptedHandoffIsCompleted(t *testing.T) {
	ignore := func(_ any, err error) error { return err }
	for name, do := range map[string]func(ctx context.Context, from, to *Store) error{
		"settle": func(ctx context.Context, from, _ *Store) error { return from.Settle(ctx) },
		"list":   func(ctx context.Context, from, _ *Store) error { return ignore(from.List(ctx, ListArgs{})) },
		"info":   func(ctx context.Context, _, to *Store) error { return ignore(to.Info(ctx, NoArgs{})) },
		"post":   func(ctx context.Context, from, _ *Store) error { return ignore(from.Post(ctx, PostArgs{Message: "x"})) },
		"status": func(ctx context.Context, from, _ *Store) error {
			return ignore(from.Status(ctx, StatusArgs{Status: "finished"}))
		},
		"receiver claims": func(ctx context.Context, _, to *Store) error { return ignore(to.Claim(ctx, ClaimArgs{Path: "a.go"})) },
		"sender claims": func(ctx context.Context, from, _ *Store) error {
			_, err := from.Claim(ctx, ClaimArgs{Path: "a.go"})
			if _, held := errors.AsType[*HeldError](err); !held {
				t.Errorf("the sender claims what it handed over: %v", err)
			}
			return nil
		},
		"sender releases": func(ctx context.Context, from, _ *Store) error {
			_, err := from.Release(ctx, ReleaseArgs{Path: "a.go"})
			if _, held := errors.AsType[*HeldError](err); !held {
				t.Errorf("the sender releases what it handed over: %v", err)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, d := promised(t)
			if err := do(t.Context(), s.As(Actor{Agent: sender}), s.As(Actor{Agent: receiver})); err != nil {
				t.Fatal(err)
			}
			left, err := d.OpenTasks(t.Context(), sender)
			if err != nil || len(left) > 0 {
				t.Errorf("tasks left with the sender: %v, %v", left, err)
			}
			_ = s.view(t.Context(), func(p *project, _ time.Time) error {
				expect(t, "claims", len(p.leases.Of(receiver)), 2)
				expect(t, "bundles", len(p.handoffs.waiting(receiver, "")), 1)
				return nil
			})
		})
	}
}

// Looking when nothing is pending writes nothing, and what cannot be completed
// is told.
func TestSettle(t *testing.T) {
	b := newFixture(t)
	s := b.open()
	if err := s.Settle(t.Context()); err != nil {
		t.Error(err)
	}
	s, d := promised(t)
	if err := d.log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Settle(t.Context()); err == nil {
		t.Error("it was completed without the tasks' store")
	}
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
