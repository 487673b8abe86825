package agents

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"leanctx/agents/diary"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Who is resumed, and who is new.
func TestRegister(t *testing.T) {
	b := newFixture(t)
	ctx := t.Context()
	s := b.open()
	register := func(s *Store, kind, role string) Registered {
		t.Helper()
		return must[Registered](t)(s.Register(ctx, Registration{AgentType: kind, Role: role}))
	}
	first := register(s, "Claude-Code", "dev")
	if !regexp.MustCompile(`^claude-code-[0-9a-f]{4}$`).MatchString(first.AgentID) {
		t.Errorf("id %s", first.AgentID)
	}
	if other := register(s, "claude-code", "dev"); other.AgentID == first.AgentID || other.Resumed {
		t.Errorf("a second agent in one process: %+v", other)
	}
	other := b.open()
	if x := register(other, "claude-code", "dev"); x.Resumed {
		t.Errorf("a living connection's agent was resumed: %+v", x)
	}
	post(t, other.As(Actor{}), PostArgs{Message: "m"})
	if err := s.live.Close(); err != nil {
		t.Fatal(err)
	}
	b.clock.pass(2 * time.Hour)
	for what, c := range map[string]struct {
		kind, role string
		resumed    bool
	}{
		"another role": {"claude-code", "review", false},
		"another type": {"claude", "dev", false},
		"no role":      {"claude-code", "", false},
		"the same":     {"claude-code", " DEV ", true},
	} {
		if r := register(other, c.kind, c.role); r.Resumed != c.resumed {
			t.Errorf("%s: %+v", what, r)
		}
	}
	named := must[Registered](t)(other.As(Actor{Agent: first.AgentID}).Register(ctx, Registration{AgentType: "claude-code"}))
	expect(t, "named", named.Text(), "Registered: "+first.AgentID+" (role: dev)\n  Resumed, last active "+prose.Ago(b.clock.Now(), named.LastActive)+", 1 unread message")
}

// An agent that is resumed by its name is held before anything is written: nobody takes it for a
// free one meanwhile.
func TestNamedAgentIsHeldWhileItRegisters(t *testing.T) {
	b := newFixture(t)
	first := b.open()
	named := must[Registered](t)(first.Register(t.Context(), Registration{AgentType: "claude"})).AgentID
	if err := first.live.Close(); err != nil {
		t.Fatal(err)
	}
	other := b.open()
	looks := 0
	b.opts.Fault = func(string, string) error {
		looks++
		if free, err := other.live.Hold(named, ""); free || err != nil {
			t.Errorf("%s is free to others while it is resumed: %v", named, err)
		}
		return nil
	}
	s := b.open().As(Actor{Agent: named})
	if r := must[Registered](t)(s.Register(t.Context(), Registration{AgentType: "claude"})); r.AgentID != named || looks == 0 {
		t.Errorf("%+v after %d looks", r, looks)
	}
}

// A connection that registered is that agent; others in the process are not.
func TestConnections(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	c1, c2 := s.As(Actor{Session: "c1"}), s.As(Actor{Session: "c2"})
	r1 := must[Registered](t)(c1.Register(ctx, Registration{AgentType: "claude"}))
	r2 := must[Registered](t)(c2.Register(ctx, Registration{AgentType: "claude"}))
	if r1.AgentID == r2.AgentID {
		t.Fatal("two connections are one agent")
	}
	must[diary.Noted](t)(c1.Diary(ctx, Note{Message: "mine"}))
	expect(t, "c1", must[diary.Recalled](t)(c1.RecallDiary(ctx, DiaryQuery{})).AgentID, r1.AgentID)
	expect(t, "c1 as another", must[diary.Recalled](t)(s.As(Actor{Session: "c1", Agent: r2.AgentID}).RecallDiary(ctx, DiaryQuery{})).AgentID, r2.AgentID)
	if _, err := s.As(Actor{Session: "c3"}).Read(ctx, ReadArgs{}); err == nil {
		t.Error("a connection that never registered reads")
	}
	if _, err := s.Read(ctx, ReadArgs{}); err == nil {
		t.Error("no connection reads")
	}
	sub := must[Registered](t)(c1.Register(ctx, Registration{AgentType: "claude", Role: "tests"}))
	expect(t, "the last one counts", c1.Self(), sub.AgentID)
	if err := s.Leave("c1"); err != nil {
		t.Fatal(err)
	}
	again := must[Registered](t)(s.As(Actor{Session: "c4"}).Register(ctx, Registration{AgentType: "claude"}))
	expect(t, "resumed after its connection ended", again.AgentID, r1.AgentID)
}

// Silence: an agent leaves the list after 24 hours, and comes back with its
// next word; its diary never goes.
func TestSilence(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	a, c := join(t, s, "cursor", "dev"), join(t, s, "claude", "")
	must[diary.Noted](t)(a.Diary(ctx, Note{Message: "m"}))
	silent := func(name string) bool {
		t.Helper()
		_, is, err := c.Silent(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	listed := func() int { return must[Agents](t)(s.List(ctx, ListArgs{})).Total }
	b.clock.pass(24*time.Hour - time.Minute)
	expect(t, "listed", listed(), 2)
	must[Agents](t)(c.List(ctx, ListArgs{})) // a look is a sign of life
	b.clock.pass(time.Minute)
	expect(t, "listed after a day", listed(), 1)
	expect(t, "silent", []bool{silent(a.Self()), silent("cursor"), silent(c.Self())}, []bool{true, true, false})
	expect(t, "diary", must[diary.Recalled](t)(c.RecallDiary(ctx, DiaryQuery{AgentID: a.Self()})).Total, 1)
	expect(t, "note", plain(post(t, c, PostArgs{Message: "m", ToAgent: a.Self()}).Text(), a), "Posted [status] to cursor-A: m (cursor-A was last seen 1d ago)")
	expect(t, "read", texts(read(t, a)), []string{"m"})
	expect(t, "back", []any{listed(), silent("cursor")}, []any{2, false})
	must[Updated](t)(a.Status(ctx, StatusArgs{Status: "Finished"}))
	expect(t, "finished", []any{listed(), silent(a.Self())}, []any{1, true})
	r := must[Registered](t)(b.open().Register(ctx, Registration{AgentType: "cursor", Role: "dev"}))
	expect(t, "resumed", []any{r.AgentID, listed()}, []any{a.Self(), 2})
	for _, x := range must[Agents](t)(s.List(ctx, ListArgs{})).Agents {
		expect(t, "came again", x.Joined.After(x.Registered), x.AgentID == r.AgentID)
	}
}

func TestResolve(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	talkers(t, s, 2)
	a := join(t, s, "my-agent", "")
	for name, want := range map[string]string{
		"talker-0000": "talker-0000", "TALKER-0001 ": "talker-0001", "talker": "talker", "my-": a.Self(), "my-agent": "my-agent",
	} {
		if got, _, err := s.Resolve(ctx, name); got != want || err != nil {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	_, _, err := s.Resolve(ctx, "talk")
	if x, ok := errors.AsType[*refusal.ArgumentError](err); !ok || !strings.Contains(x.Problem, "talker-0000 or talker-0001") {
		t.Errorf("ambiguous: %v", err)
	}
	for name, want := range map[string]string{"talker": "", "windsurf": "no windsurf is here yet: it waits"} {
		if got, note, err := s.Resolve(ctx, name); got != name || note != want || err != nil {
			t.Errorf("%q: %q, %q, %v", name, got, note, err)
		}
	}
	for _, name := range []string{"", "talker-00000", "nobody-a3f8", "*", "wind surf", "../x"} {
		if _, _, err := s.Resolve(ctx, name); err == nil {
			t.Errorf("%q was found", name)
		}
	}
}

// Findings are what consolidation wants, each with a name for good.
func TestFindings(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	a := join(t, s, "cursor", "")
	for _, kind := range []string{"discovery", "decided", "progress", "BLOCKED"} {
		must[diary.Noted](t)(a.Diary(ctx, Note{Message: "diary " + kind, Category: kind}))
		b.clock.pass(time.Minute)
	}
	since := b.clock.Now()
	post(t, a, PostArgs{Message: "posted", Category: "finding"})
	post(t, a, PostArgs{Message: "chatter"})
	b.clock.pass(time.Minute)
	must[diary.Noted](t)(a.Diary(ctx, Note{Message: "diary insight", Category: "insight"}))
	read(t, join(t, s, "claude", "")) // what was read counts too
	if err := s.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	lines := func(since time.Time) (out []string) {
		for _, f := range must[[]Finding](t)(b.open().Findings(ctx, since)) {
			out = append(out, plain(fmt.Sprintf("%s %s %s %s", f.Kind, f.Ref, f.By, f.Text), a))
		}
		return out
	}
	late := []string{"finding message:1 cursor-A posted", "insight diary:cursor-A/5 cursor-A diary insight"}
	expect(t, "since", lines(since), late)
	expect(t, "all", lines(time.Time{}), append([]string{
		"discovery diary:cursor-A/1 cursor-A diary discovery", "decision diary:cursor-A/2 cursor-A diary decided", "progress diary:cursor-A/3 cursor-A diary progress", "blocker diary:cursor-A/4 cursor-A diary BLOCKED",
	}, late...))
}

// A thousand entries are kept, and shown the newest first.
func TestDiaries(t *testing.T) {
	b := newFixture(t)
	b.opts.LongLived = true
	s, ctx := b.open(), t.Context()
	a := join(t, s, "cursor", "")
	for i := range pick(150, 1000) {
		must[diary.Noted](t)(a.Diary(ctx, Note{Message: fmt.Sprint("entry ", i+1)}))
	}
	r := must[diary.Recalled](t)(b.open().As(Actor{Agent: a.Self()}).RecallDiary(ctx, DiaryQuery{Limit: 2}))
	n := pick(150, 1000)
	expect(t, "recalled", r.Text(), fmt.Sprintf("Diary [%s] (%d entries):\n  [DONE] entry %d (0s ago)\n  [DONE] entry %d (0s ago)\n  … %d more (limit=2)", a.Self(), n, n, n-1, n-2))
	for i := range 16 {
		must[diary.Noted](t)(join(t, s, fmt.Sprintf("t%d", i), "").Diary(ctx, Note{Message: "m"}))
		b.clock.pass(time.Minute)
	}
	shelf := must[diary.Listed](t)(s.Diaries(ctx, ListArgs{Limit: 1}))
	expect(t, "total", shelf.Total, 17)
	if lines := strings.Split(shelf.Text(), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[1], "  t15-") || !strings.HasSuffix(lines[1], ": 1 entry (1m ago)") {
		t.Errorf("shelf:\n%s", shelf.Text())
	}
	expect(t, "a diary with nothing in it", must[diary.Recalled](t)(s.RecallDiary(ctx, DiaryQuery{AgentID: join(t, s, "empty", "").Self()})).Total, 0)
}

// Many goroutines on one handle each are many agents.
func TestGoroutines(t *testing.T) {
	b := newFixture(t)
	b.opts.Now, b.opts.LongLived = time.Now, true
	s := b.open()
	talkers(t, s, 8)
	var wg sync.WaitGroup
	read := make([]map[string]int, 8)
	for n := range read {
		me := s.As(Actor{Agent: fmt.Sprintf("talker-%04x", n)})
		read[n] = map[string]int{}
		wg.Go(func() {
			for i := range 20 {
				if _, err := me.Post(context.Background(), PostArgs{Message: said(n, i)}); err != nil {
					t.Error(err)
				}
				if _, err := me.Diary(context.Background(), Note{Message: said(n, i)}); err != nil {
					t.Error(err)
				}
				for range 2 {
					r, err := me.Read(context.Background(), ReadArgs{Limit: 7})
					if err != nil {
						t.Error(err)
					}
					for _, m := range r.Messages {
						read[n][m.Message]++
					}
				}
			}
		})
	}
	wg.Wait()
	for n := range read {
		me := s.As(Actor{Agent: fmt.Sprintf("talker-%04x", n)})
		r := must[Messages](t)(me.Read(t.Context(), ReadArgs{Limit: refusal.MaxLimit}))
		for _, m := range r.Messages {
			read[n][m.Message]++
		}
		for text, times := range read[n] {
			if times != 1 {
				t.Errorf("%d read %q %d times", n, text, times)
			}
		}
		expect(t, "read", len(read[n]), 7*20)
	}
}

// What a model says of itself in its own words.
func TestStatusSpellings(t *testing.T) {
	s := newFixture(t).open()
	me := join(t, s, "claude", "")
	for word, want := range map[string]string{
		"working": "active", "in_progress": "active", "in progress": "active",
		"waiting": "idle", "done": "finished", "Complete": "finished",
	} {
		if u, err := me.Status(t.Context(), StatusArgs{Status: word}); err != nil || u.Status != want {
			t.Errorf("%q: %q, want %s: %v", word, u.Status, want, err)
		}
	}
	for _, word := range []string{"busy", "Blocked", " paused "} { // they say something else
		if u, err := me.Status(t.Context(), StatusArgs{Status: word}); err == nil {
			t.Errorf("%q was turned into %s", word, u.Status)
		}
	}
}

// An agent that works on after the clock was set back is listed, gets its messages, and can claim.
func TestClockSetBack(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	a, c := join(t, s, "cursor", ""), join(t, s, "claude", "")
	post(t, a, PostArgs{Message: "before"})
	must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: "src", TTL: "1d"}))
	b.clock.pass(-3 * 24 * time.Hour)
	for _, one := range []*Store{a, c} {
		if err := one.Touch(ctx); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, "listed", must[Agents](t)(s.List(ctx, ListArgs{})).Total, 2)
	post(t, a, PostArgs{Message: "after"})
	expect(t, "read", texts(read(t, c)), []string{"before", "after"})
	expect(t, "a newcomer reads", len(read(t, join(t, s, "codex", "")).Messages), 2)
	must[Claimed](t)(c.Claim(ctx, ClaimArgs{Path: "src"})) // a claim from so far ahead is void
}

// The diaries of a type whose agents have all finished are still found: the answer has their ids.
func TestDiaryOfFinishedAgents(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	one, two := join(t, s, "claude", "a"), join(t, s, "claude", "b")
	for _, x := range []*Store{one, two} {
		must[Updated](t)(x.Status(ctx, StatusArgs{Status: "finished"}))
	}
	_, err := s.RecallDiary(ctx, DiaryQuery{AgentID: "claude"})
	if err == nil || !strings.Contains(err.Error(), one.Self()) || !strings.Contains(err.Error(), two.Self()) {
		t.Error(err)
	}
}

// An agent of an earlier version, whose type has the form of an id, is resumed as any other.
func TestResumeTypeLikeAnID(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	const id, kind = "gpt-2025-a3f8", "gpt-2025"
	if err := s.update(ctx, func(_ *project, now time.Time) ([]event, error) {
		return []event{{By: id, Agent: &agent{ID: id, Type: kind, Status: statusFinished, Registered: now, Active: now}}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, caller := range []Actor{{}, {Agent: id}} {
		expect(t, "resumed", must[Registered](t)(s.As(caller).Register(ctx, Registration{AgentType: kind})).AgentID, id)
		must[Updated](t)(s.As(Actor{Agent: id}).Status(ctx, StatusArgs{Status: "finished"}))
	}
}
