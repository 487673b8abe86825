package agents

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A renewal that names no time never takes any away, and what is handed over
// lasts until its receiver has seen it.
func TestRenew(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	a, c := join(t, s, "cursor", ""), join(t, s, "claude", "")
	claim := func(by *Store, path, ttl string) string {
		t.Helper()
		return plain(must[Claimed](t)(by.Claim(ctx, ClaimArgs{Path: path, TTL: ttl})).Text(), a, c)
	}
	expect(t, "first", claim(a, "x", "1h30m"), "Claimed: x (by cursor-A for 1h, token 1)")
	b.clock.pass(time.Minute)
	expect(t, "without a time", claim(a, "x", ""), "Renewed: x (by cursor-A for 1h, token 1)")
	expect(t, "left", must[Synced](t)(a.Sync(ctx, NoArgs{})).Claims[0].Until.Sub(b.clock.Now()), 89*time.Minute)
	expect(t, "with one", claim(a, "x", "2m"), "Renewed: x (by cursor-A for 2m, token 1)")
	expect(t, "without a time, of little", claim(a, "x", ""), "Renewed: x (by cursor-A for 10m, token 1)")
	claim(a, "x", "15s")
	claim(a, "y", "2h")
	must[HandedOver](t)(a.Handoff(ctx, HandoffArgs{ToAgent: c.Self(), Message: "go on"}))
	for i, want := range []time.Duration{10 * time.Minute, 2 * time.Hour} {
		got := must[Synced](t)(c.Sync(ctx, NoArgs{})).Claims[i]
		expect(t, got.Path+" handed over", got.Until.Sub(b.clock.Now()), want)
	}
}

// A process whose clock is wrong harms nobody else's claims for long.
func TestClocksJump(t *testing.T) {
	b := newFixture(t)
	sane := b.open()
	wrong := newClock()
	b.opts.Now = wrong.Now
	odd := b.open()
	ctx := t.Context()
	a, c := join(t, sane, "cursor", "a"), join(t, sane, "claude", "")
	x := odd.As(Actor{Agent: join(t, odd, "codex", "").Self()})
	held := func(by *Store, path string) bool {
		t.Helper()
		_, err := by.Claim(ctx, ClaimArgs{Path: path})
		_, ok := errors.AsType[*HeldError](err)
		if err != nil && !ok {
			t.Fatal(err)
		}
		return ok
	}
	must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: "a"}))
	post(t, a, PostArgs{Message: "before", TTL: "1h"})
	wrong.pass(365 * 24 * time.Hour)
	post(t, x, PostArgs{Message: "the whole registry is a year ahead now"})
	must[Claimed](t)(x.Claim(ctx, ClaimArgs{Path: "x"}))
	expect(t, "a's claim, by c", held(c, "a"), true)
	expect(t, "the claim of the wrong clock, by c", held(c, "x"), false)
	must[Claimed](t)(c.Claim(ctx, ClaimArgs{Path: "c"}))
	expect(t, "who is here", must[Presence](t)(c.Presence(ctx)).Agents, []Coworker{{c.Self(), ""}, {a.Self(), "a"}})
	expect(t, "what c reads", texts(read(t, c)), []string{"before", "the whole registry is a year ahead now"})
	b.clock.pass(11 * time.Minute)
	expect(t, "a's claim, by c, later", held(c, "a"), false)
	expect(t, "c's claim, by a, later", held(a, "c"), false)

	must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: "z"}))
	b.clock.pass(-30 * time.Minute) // set right by the network
	expect(t, "a claim before the clock was set back", held(c, "z"), true)
	b.clock.pass(41 * time.Minute)
	expect(t, "and when its time is over", held(c, "z"), false)
}

// No single clock has broadcasts dropped that others have not read.
func TestWrongClockDropsNothing(t *testing.T) {
	b := newFixture(t)
	s := b.open()
	a, c := join(t, s, "cursor", ""), join(t, s, "claude", "")
	wrong := newClock()
	b.opts.Now = wrong.Now
	odd := join(t, b.open(), "codex", "")
	wrong.pass(365 * 24 * time.Hour)
	for range 2 * tidyFrom / 256 {
		for _, from := range []*Store{a, odd} {
			err := from.update(t.Context(), func(p *project, now time.Time) (events []event, _ error) {
				for i := range 256 {
					x := &message{Number: p.messages.last + uint64(i) + 1, From: from.Self(), Category: "status", Text: "m", At: now}
					events = append(events, event{By: x.From, Post: x})
				}
				return events, nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	expect(t, "unread", must[Presence](t)(c.Presence(t.Context())).Unread, 4*tidyFrom)
}

// Tokens grow with every lease, of whatever path, and over restarts.
func TestTokensGrow(t *testing.T) {
	b := newFixture(t)
	ctx := t.Context()
	var last uint64
	for i := range 6 {
		s := b.open()
		a := join(t, s, "cursor", "")
		for _, path := range []string{"a", "b"} {
			c := must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: path, TTL: "1m"}))
			if c.Token <= last || c.Renewed {
				t.Errorf("%+v after %d", c, last)
			}
			last = c.Token
			must[Released](t)(a.Release(ctx, ReleaseArgs{Path: path}))
		}
		if i%2 == 1 {
			if err := s.Compact(ctx); err != nil {
				t.Fatal(err)
			}
		}
		b.clock.pass(time.Hour)
	}
}

// Finishing lets go of everything; a lease of one that is gone ends by itself.
func TestClaimsEnd(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	a, c := join(t, s, "cursor", ""), join(t, s, "claude", "")
	must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: "a"}))
	must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: "b", TTL: "2h"}))
	u := must[Updated](t)(a.Status(ctx, StatusArgs{Status: "finished"}))
	expect(t, "released", u.Released, []string{"a", "b"})
	must[Claimed](t)(c.Claim(ctx, ClaimArgs{Path: "b"}))
	b.clock.pass(10 * time.Minute)
	expect(t, "claims", len(must[Synced](t)(c.Sync(ctx, NoArgs{})).Claims), 0)
	if _, err := c.Release(ctx, ReleaseArgs{Path: "b"}); err != nil {
		t.Errorf("release of one's own that expired: %v", err)
	}
}

// A pattern and a list are refused with what to claim instead, and a path outside the project too.
// A file that exists under such a name can be claimed, as can one whose name has brackets.
func TestClaimsOfPatternsAndLists(t *testing.T) {
	b := newFixture(t)
	a, ctx := join(t, b.open(), "cursor", ""), t.Context()
	for path, want := range map[string]string{
		"src/**":            `claim "src"`,
		"src/a/*.ts":        `claim "src/a"`,
		"**":                `claim "."`,
		"src/?.go":          `claim "src"`,
		"src/{a,b}.ts":      `claim "src"`,
		"a.ts,b.ts":         "each of them",
		"a.ts b.ts":         "each of them",
		"src/a.go  b.ts":    "each of them",
		"a.ts, b.ts":        "each of them",
		"a.ts;b.ts":         "each of them",
		"a.ts\nb.ts":        "each of them",
		"../other/a.ts":     "outside the project",
		"/etc/passwd":       "outside the project",
		"src/../../other/*": "outside the project",
	} {
		if c, err := a.Claim(ctx, ClaimArgs{Path: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v, want %s", path, c.Text(), err, want)
		}
	}
	for _, path := range []string{"app/[id]/page.tsx", "app/{x}.ts", "a b.ts"} {
		must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: path}))
	}
	if runtime.GOOS == "windows" {
		return // no file can have such a name
	}
	for _, name := range []string{"a,b.ts", "what?.md"} {
		if err := os.WriteFile(filepath.Join(b.opts.ProjectRoot, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: name}))
	}
}

// One name in two forms of Unicode is one claim, and a claim on a directory says that it covers all
// that is in it.
func TestClaimsOfOneNameInTwoForms(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	a, c := join(t, s, "cursor", ""), join(t, s, "claude", "")
	const composed, decomposed = "caf\u00e9", "cafe\u0301"
	must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: composed}))
	for _, path := range []string{composed, decomposed, decomposed + "/x.go"} {
		if _, err := c.Claim(ctx, ClaimArgs{Path: path}); err == nil {
			t.Errorf("%q was claimed twice", path)
		}
		if !Covers(composed, path) {
			t.Errorf("%q is not covered", path)
		}
	}
	must[Released](t)(a.Release(ctx, ReleaseArgs{Path: decomposed}))
	if err := os.Mkdir(filepath.Join(b.opts.ProjectRoot, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	got := plain(must[Claimed](t)(c.Claim(ctx, ClaimArgs{Path: "src"})).Text(), a, c)
	expect(t, "a directory", got, "Claimed: src and all that is in it (by claude-B for 10m, token 2)")
}

// TestClaimsAreBounded: everybody is told of claims, so nobody's claims make the answers of others long.
func TestClaimsAreBounded(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	a, c := join(t, s, "cursor", ""), join(t, s, "claude", "")
	long := func(i int) string { return fmt.Sprintf("d%03d/", i) + strings.Repeat("x", 400) }
	for i := range 100 {
		must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: long(i), TTL: "1h"}))
	}
	if _, err := a.Claim(ctx, ClaimArgs{Path: "one-more"}); err == nil || !strings.Contains(err.Error(), "you hold 100 claims") {
		t.Errorf("one more: %v", err)
	}
	must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: long(7)})) // a renewal
	if _, err := c.Claim(ctx, ClaimArgs{Path: strings.Repeat("y/", 300)}); err == nil {
		t.Error("a path of 600 bytes is claimed")
	}
	r := must[Synced](t)(c.Sync(ctx, NoArgs{}))
	expect(t, "claims", []int{r.Claimed, len(r.Claims)}, []int{100, 50})
	if text := r.Text(); len(text) > 20_000 || !strings.Contains(text, "Claims: 100\n") || !strings.Contains(text, "… 50 more") {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
	h := must[HandedOver](t)(a.Handoff(ctx, HandoffArgs{ToAgent: "claude", Message: "all of it"}))
	if text := h.Text(); len(text) > 20_000 {
		t.Errorf("the handoff: %d bytes", len(text))
	}
	if text := must[Synced](t)(c.Sync(ctx, NoArgs{})).Text(); len(text) > 40_000 || !strings.Contains(text, "… 50 more") {
		t.Errorf("the receiver: %d bytes", len(text))
	}
}
