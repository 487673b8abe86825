package knowledge_test

import (
	"context"
	"strings"
	"testing"
	"time"

	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
)

// A briefing tells what others recorded since the caller's last session, the newest first. It
// does not repeat that in the rooms, unless it is pinned. It stays within the budget.
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
	const news = "NEW:infra/cdn=fastly, was 'akamai' (codex-1acc)|infra/rule=ask first (codex-1acc)|infra/dns=route 53 \\| FACTS:x=y (codex-1acc)"
	for _, tt := range []struct {
		q    briefing.Query
		want string
	}{
		{briefing.Query{Since: "last"}, "INFRA:rule=ask first★★★|own=mine★★★\n" + news},
		{briefing.Query{Since: "2026-01-15T09:00:00Z"}, "INFRA:rule=ask first★★★|own=mine★★★\n" + strings.Replace(news, ", was 'akamai'", "", 1)}, // it was told neither
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

// A briefing tells too what others took back, what ended and what has another name; a
// command that reads the index tells the same.
func TestBriefingTellsWhatIsGone(t *testing.T) {
	s := testStore(t, nil)
	codex := s.As(Actor{Agent: "codex-1acc"})
	for _, key := range []string{"cdn", "dns", "mail", "cache", "queue", "own", "again", "secret"} {
		a := Assertion{Category: "infra", Key: key, Value: "old " + key}
		if key == "mail" {
			a.ValidUntil = "2026-01-20"
		}
		must[Remembered](t)(codex.Remember(t.Context(), a))
	}
	must[Remembered](t)(codex.Remember(t.Context(), Assertion{Category: "infra", Key: "gone before", Value: "long ago"}))
	must[Withdrawn](t)(codex.Remove(t.Context(), Withdrawal{Category: "infra", Key: "gone before"}))
	s.days(2)
	since := s.now.Format(time.RFC3339)
	s.now = s.now.Add(time.Minute)
	after := func(do func()) { do(); s.now = s.now.Add(time.Minute) }
	remove := func(by *Store, w Withdrawal) func() {
		return func() { w.Category = "infra"; must[Withdrawn](t)(by.Remove(t.Context(), w)) }
	}
	after(remove(codex, Withdrawal{Key: "cdn"}))
	after(remove(codex, Withdrawal{Key: "dns"}))
	after(remove(s.Store, Withdrawal{Key: "own"}))
	after(remove(codex, Withdrawal{Key: "again"}))
	after(func() {
		must[Remembered](t)(s.Remember(t.Context(), Assertion{Category: "infra", Key: "again", Value: "new again"}))
	})
	after(func() {
		must[Renamed](t)(Rename(t.Context(), s.Store, NewName{Category: "infra", Key: "queue", To: "mine"}))
	})
	after(func() {
		must[Renamed](t)(Rename(t.Context(), codex, NewName{Category: "infra", Key: "cache", To: "data/cache | x"}))
	})
	const gone = "infra/dns removed, was 'old dns' (codex-1acc)|infra/cdn removed, was 'old cdn' (codex-1acc)"
	told := func(by *Store) string {
		t.Helper()
		b := must[briefing.Selection](t)(briefing.Wakeup(t.Context(), by, briefing.Query{Since: since}))
		_, news, _ := strings.Cut(b.Body(), "NEW:")
		news, _, _ = strings.Cut(news, "\n")
		return news
	}
	same := func(want string) {
		t.Helper()
		fromBoth(t, s, want, told)
	}
	same(`data/cache \| x renamed from infra/cache (codex-1acc)|` + gone)
	// A day later the last commit does not tell any more who gave the name, and what ends by
	// itself has ended.
	s.days(4)
	must[Remembered](t)(s.Remember(t.Context(), Assertion{Category: "infra", Key: "other", Value: "mine"}))
	same(`infra/mail ended, was 'old mail'|data/cache \| x renamed|infra/mine renamed|` + gone)
	if got := told(codex); strings.Contains(got, "cdn") || !strings.Contains(got, "infra/own removed") {
		t.Errorf("for the one who removed it: %s", got)
	}
}

// fromBoth checks what a store tells from the state in memory, and what a command tells that
// reads the index.
func fromBoth(t *testing.T, s *story, want string, told func(*Store) string) {
	t.Helper()
	if got := told(s.Store); got != want {
		t.Errorf("from memory:\n%s\nwant\n%s", got, want)
	}
	if err := s.SyncIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	cold, err := Open(s.dir, &Options{ProjectRoot: s.Options().ProjectRoot, ProjectHash: s.Options().ProjectHash, Now: func() time.Time { return s.now }})
	if err != nil {
		t.Fatal(err)
	}
	if got := told(cold.As(s.Actor())); got != want {
		t.Errorf("from the index:\n%s\nwant\n%s", got, want)
	}
	if err := cold.Close(); err != nil {
		t.Error(err)
	}
}
