package knowledge_test

import (
	"context"
	"strings"
	"testing"
	"time"

	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
)

// A briefing tells what others recorded since the caller's last session, the newest
// first; not in the rooms again, unless it is pinned; and within the budget.
func TestBriefingTellsNews(t *testing.T) {
	last := time.Time{}
	s := testStore(t, &Options{LastSession: func(context.Context, Actor) (time.Time, error) { return last, nil }})
	codex := s.As(Actor{Agent: "codex-1acc"})
	say := func(by *Store, key, value string, pinned bool) {
		t.Helper()
		must[Remembered](t)(by.Remember(t.Context(), Assertion{Category: "infra", Key: key, Value: value, Pinned: new(pinned)}))
		s.now = s.now.Add(time.Minute)
	}
	say(codex, "cdn", "akamai", false)
	last = s.now.Add(-time.Second)
	say(s.Store, "own", "mine", false)
	say(codex, "dns", "route 53 | FACTS:x=y", false)
	say(codex, "rule", "ask first", true)
	say(codex, "cdn", "fastly", false)
	const news = "NEW:infra/cdn=fastly (codex-1acc)|infra/rule=ask first (codex-1acc)|infra/dns=route 53 \\| FACTS:x=y (codex-1acc)"
	for _, tt := range []struct {
		q    briefing.Query
		want string
	}{
		{briefing.Query{Since: "last"}, "INFRA:rule=ask first★★★|own=mine★★★\n" + news},
		{briefing.Query{Since: "2026-01-15T09:00:00Z"}, "INFRA:rule=ask first★★★|own=mine★★★\n" + news},
		{briefing.Query{Since: "0d"}, "INFRA:rule=ask first★★★|cdn=fastly★★★|dns=route 53 \\| FACTS:x=y★★★|own=mine★★★"},
		{briefing.Query{}, "INFRA:rule=ask first★★★|cdn=fastly★★★|dns=route 53 \\| FACTS:x=y★★★|own=mine★★★"},
	} {
		b := must[briefing.Selection](t)(briefing.Wakeup(t.Context(), s.Store, tt.q))
		if got := b.Body(); got != tt.want {
			t.Errorf("%+v:\n%s\nwant\n%s", tt.q, got, tt.want)
		}
	}
	if b := must[briefing.Selection](t)(briefing.Wakeup(t.Context(), codex, briefing.Query{Since: "last"})); len(b.News) != 1 || !strings.HasPrefix(b.News[0], "infra/own=mine") {
		t.Errorf("for the one who recorded it: %q", b.News)
	}
	for i := range 40 {
		say(codex, "port "+strings.Repeat("x", i), strings.Repeat("a long text ", 30), false)
	}
	for budget := range 60 {
		b := must[briefing.Selection](t)(briefing.Wakeup(t.Context(), s.Store, briefing.Query{Since: "last", Budget: 10 * budget}))
		if text := b.Text(); budget > 1 && len(text) > 40*budget {
			t.Errorf("budget %d: %d bytes\n%s", 10*budget, len(text), text)
		}
		if len(b.News)+b.MoreNews != 43 || len(b.News) > 8 {
			t.Errorf("%d new and %d more", len(b.News), b.MoreNews)
		}
	}
	if _, err := briefing.Wakeup(t.Context(), s.Store, briefing.Query{Since: "recently"}); err == nil {
		t.Error("a since that is no time is taken")
	}
}
