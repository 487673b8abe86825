package agents

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"leanctx/agents/diary"

	"leanctx/internal/refusal"
)

const hash = "14958352f5925e3e"

// clock is set by the tests.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// fixture is a data directory, a project and a clock.
type fixture struct {
	t     testing.TB
	dir   string
	root  string
	clock *clock
	opts  Options
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	b := &fixture{t: t, dir: filepath.Join(t.TempDir(), "agents"), root: t.TempDir(), clock: newClock()}
	b.opts = Options{ProjectRoot: b.root, ProjectHash: hash, Now: b.clock.Now}
	return b
}

// open is a process of its own, as far as one can be in this one.
func (b *fixture) open() *Store {
	b.t.Helper()
	s, err := Open(b.dir, &b.opts)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.t.Error(err)
		}
	})
	return s
}

func must[R any](t testing.TB) func(R, error) R {
	return func(r R, err error) R {
		t.Helper()
		if err != nil {
			t.Fatalf("%T: %v", r, err)
		}
		return r
	}
}

// join registers an agent and gives its handle.
func join(t testing.TB, s *Store, kind, role string) *Store {
	t.Helper()
	r := must[Registered](t)(s.As(Actor{}).Register(t.Context(), Registration{AgentType: kind, Role: role}))
	return s.As(Actor{Agent: r.AgentID})
}

func post(t testing.TB, s *Store, p PostArgs) Posted {
	t.Helper()
	return must[Posted](t)(s.Post(t.Context(), p))
}

func read(t testing.TB, s *Store) Messages {
	t.Helper()
	return must[Messages](t)(s.Read(t.Context(), ReadArgs{}))
}

// texts are the messages of a page.
func texts(r Messages) []string {
	out := []string{}
	for _, m := range r.Messages {
		out = append(out, m.Message)
	}
	return out
}

func expect(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// plain replaces the ids that registration made up.
func plain(text string, agents ...*Store) string {
	for i, a := range agents {
		id := a.Self()
		text = strings.ReplaceAll(text, id, id[:strings.LastIndexByte(id, '-')]+"-"+string(rune('A'+i)))
	}
	return text
}

// The morning of two agents, every line to the letter.
func TestStory(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	r := must[Registered](t)(s.Register(ctx, Registration{AgentType: "Cursor", Role: "implementing auth module"}))
	if !regexp.MustCompile(`^Registered: cursor-[0-9a-f]{4} \(role: implementing auth module\)$`).MatchString(r.Text()) {
		t.Errorf("register: %q", r.Text())
	}
	one := s.As(Actor{Agent: r.AgentID})
	two := join(t, b.open(), "claude", "review")
	say := func(what, got, want string) {
		t.Helper()
		expect(t, what, plain(got, one, two), want)
	}
	say("diary", must[diary.Noted](t)(one.Diary(ctx, Note{Message: "Found N+1 query in user loading", Category: "discovery", Context: "auth"})).Text(),
		"Diary entry [discovery] added: Found N+1 query in user loading")
	b.clock.pass(2 * time.Minute)
	say("diary", must[diary.Noted](t)(one.Diary(ctx, Note{Message: "Switched to batch loading with DataLoader", Category: "decision"})).Text(),
		"Diary entry [decision] added: Switched to batch loading with DataLoader")
	b.clock.pass(5 * time.Minute)
	say("recall_diary", must[diary.Recalled](t)(two.RecallDiary(ctx, DiaryQuery{AgentID: r.AgentID})).Text(), `Diary [cursor-A] (2 entries):
  [DECIDED] Switched to batch loading with DataLoader (5m ago)
  [FOUND] Found N+1 query in user loading [auth] (7m ago)`)
	say("diaries", must[diary.Listed](t)(two.Diaries(ctx, ListArgs{})).Text(), "Agent Diaries (1):\n  cursor-A: 2 entries (5m ago)")
	say("post", post(t, one, PostArgs{Message: "auth is half migrated", Category: "finding"}).Text(), "Posted [finding] to all agents: auth is half migrated")
	say("read", read(t, two).Text(), "New messages (1):\n  [finding] from cursor-A (0s ago): auth is half migrated")
	say("read again", read(t, two).Text(), "No new messages.")
	say("claim", must[Claimed](t)(one.Claim(ctx, ClaimArgs{Path: "src/auth.ts"})).Text(), "Claimed: src/auth.ts (by cursor-A for 10m, token 1)")
	b.clock.pass(3 * time.Minute)
	_, err := two.Claim(ctx, ClaimArgs{Path: "./src/auth.ts"})
	say("refused", err.Error(), "src/auth.ts is claimed by cursor-A (implementing auth module) for another 7m: ask its holder, or wait")
	say("renewed", must[Claimed](t)(one.Claim(ctx, ClaimArgs{Path: "src/auth.ts", TTL: "1h"})).Text(), "Renewed: src/auth.ts (by cursor-A for 1h, token 1)")
	say("list", must[Agents](t)(two.List(ctx, ListArgs{})).Text(), `Active agents (2):
  cursor-A [cursor] role=implementing auth module status=active (last active: 0s ago)
  claude-B [claude] role=review status=active (last active: 3m ago) ← you`)
	say("handoff", must[HandedOver](t)(one.Handoff(ctx, HandoffArgs{ToAgent: "claude", Message: "tests are green,\nreview is left"})).Text(),
		"Handoff complete: cursor-A → claude-B\n  Summary: tests are green,\\nreview is left\n  Moved: 0 tasks, 1 claim (src/auth.ts)")
	b.clock.pass(90 * time.Second)
	say("sync", must[Synced](t)(two.Sync(ctx, NoArgs{})).Text(), `Multi-Agent Sync Status:
  Active agents: 2
    cursor-A [cursor] role=implementing auth module status=idle — handed off to claude-B (last active: 1m ago)
    claude-B [claude] role=review status=active (last active: 4m ago) ← you
  Claims: 1
    src/auth.ts by claude-B, 59m left (token 2)
  Your open tasks: 0
  Unread messages: 0
Handoff from cursor-A (implementing auth module) (1m ago): tests are green,
      review is left
  Claims: src/auth.ts (token 2)
  Diary:
    [DECIDED] Switched to batch loading with DataLoader (9m ago)
    [FOUND] Found N+1 query in user loading [auth] (11m ago)`)
	say("the bundle comes once", read(t, two).Text(), "No new messages.")
	say("release", must[Released](t)(two.Release(ctx, ReleaseArgs{Path: "src/auth.ts"})).Text(), "Released: src/auth.ts")
	say("info", must[Info](t)(two.Info(ctx, NoArgs{})).Text(), `Agent Registry: 2 agents, 2 active
  Scratchpad: 1 message
  Claims: 0
  Handoffs waiting: 0
  You: claude-B [claude] role=review status=active (last active: 0s ago), 0 unread messages`)
	say("status", must[Updated](t)(one.Status(ctx, StatusArgs{Status: "finished", Message: "done for today"})).Text(), "Status updated: cursor-A → finished (done for today)")
	say("list", must[Agents](t)(two.List(ctx, ListArgs{})).Text(), "Active agents (1):\n  claude-B [claude] role=review status=active (last active: 0s ago) ← you")
	expect(t, "presence", must[Presence](t)(two.Presence(ctx)), Presence{Agents: []Coworker{{two.Self(), "review"}}})
}

// What one process wrote another finds, also after the registry was compacted.
func TestRestart(t *testing.T) {
	b := newFixture(t)
	for _, compact := range []bool{false, true} {
		s := b.open()
		a := join(t, s, "cursor", "dev")
		c := join(t, s, "claude", "")
		post(t, a, PostArgs{Message: "one"})
		post(t, a, PostArgs{Message: "two", ToAgent: c.Self(), Private: true, TTL: "1h"})
		post(t, a, PostArgs{Message: "three", ToAgent: "claude", Category: "finding"})
		must[Claimed](t)(a.Claim(t.Context(), ClaimArgs{Path: "x"}))
		must[HandedOver](t)(a.Handoff(t.Context(), HandoffArgs{ToAgent: c.Self(), Message: "go on"}))
		if compact {
			if err := s.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		again := b.open()
		var before, after *state
		for to, store := range map[**state]*Store{&before: s, &after: again} {
			_ = store.log.View(t.Context(), func(st *state, _ journalHead) error { *to = st.clone(); return nil })
		}
		expect(t, "state", dump(t, after), dump(t, before))
		got := read(t, again.As(Actor{Agent: c.Self()}))
		expect(t, "read", texts(got), []string{"one", "two", "three"})
		expect(t, "bundles", len(got.Handoffs), 1)
		must[Updated](t)(c.Status(t.Context(), StatusArgs{Status: "finished"}))
	}
}

// A revision changes with each change of the project, by whatever process, and with no change
// of another project.
func TestRevision(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	last := uint64(0)
	changed := func(what string, want bool) {
		t.Helper()
		now := must[uint64](t)(s.Revision(ctx))
		expect(t, what, now != last, want)
		last = now
	}
	changed("at first", false)
	a := join(t, b.open(), "cursor", "")
	changed("an agent", true)
	post(t, a, PostArgs{Message: "one"})
	changed("a message", true)
	must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: "f"}))
	changed("a claim", true)
	b.opts.ProjectHash = "00000000000000ff"
	join(t, b.open(), "cursor", "")
	changed("another project", false)
}

func TestNothingIsMadeBeforeTheFirstWrite(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	must[Agents](t)(s.List(ctx, ListArgs{}))
	must[Info](t)(s.Info(ctx, NoArgs{}))
	must[Synced](t)(s.Sync(ctx, NoArgs{}))
	must[diary.Listed](t)(s.Diaries(ctx, ListArgs{}))
	must[[]Finding](t)(s.Findings(ctx, time.Time{}))
	if _, err := s.Read(ctx, ReadArgs{}); err == nil {
		t.Error("read by nobody")
	}
	if _, err := os.Stat(b.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v: it was made", err)
	}
}

// Every text is redacted before it is stored, anywhere.
func TestSecrets(t *testing.T) {
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	const secret = "ghp_Zk41RtQ7xVb93LmWc5Ys8HdPf2NjGa6UeT0q"
	r := must[Registered](t)(s.As(Actor{Client: "c " + secret}).Register(ctx, Registration{AgentType: "cursor", Role: "uses " + secret}))
	a := s.As(Actor{Agent: r.AgentID})
	other := join(t, s, "claude", "")
	post(t, s.As(Actor{Client: "c " + secret}), PostArgs{Message: "hello"})
	p := post(t, a, PostArgs{Message: "token " + secret})
	expect(t, "post says so", cmp.Compare(len(p.Redacted), 0), 1)
	must[diary.Noted](t)(a.Diary(ctx, Note{Message: "d " + secret, Context: secret}))
	must[Updated](t)(a.Status(ctx, StatusArgs{Message: "s " + secret}))
	must[HandedOver](t)(a.Handoff(ctx, HandoffArgs{ToAgent: other.Self(), Message: "h " + secret}))
	if err := s.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	_ = filepath.WalkDir(b.dir, func(path string, d os.DirEntry, err error) error {
		if data, _ := os.ReadFile(path); err != nil || strings.Contains(string(data), secret) {
			t.Errorf("%s: %v, holds the secret", path, err)
		}
		return nil
	})
}

// One registry file serves all projects, and a handle sees one of them.
func TestProjectsAreApart(t *testing.T) {
	b := newFixture(t)
	here := b.open()
	b.opts.ProjectHash, b.opts.ProjectRoot = "aaaaaaaaaaaaaaaa", t.TempDir()
	there := b.open()
	ctx := context.Background()
	a, x := join(t, here, "cursor", "dev"), join(t, there, "cursor", "dev")
	if a.Self() == x.Self() {
		t.Fatal("another project's agent was resumed")
	}
	post(t, x, PostArgs{Message: "there", Category: "finding"})
	must[diary.Noted](t)(x.Diary(ctx, Note{Message: "there", Category: "decision"}))
	must[Claimed](t)(x.Claim(ctx, ClaimArgs{Path: "f"}))
	expect(t, "read", texts(read(t, a)), []string{})
	must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: "f"}))
	expect(t, "list", must[Agents](t)(a.List(ctx, ListArgs{})).Total, 1)
	expect(t, "diaries", must[diary.Listed](t)(a.Diaries(ctx, ListArgs{})).Total, 0)
	expect(t, "findings", len(must[[]Finding](t)(a.Findings(ctx, time.Time{}))), 0)
	stranger := x.Self()
	for what, do := range map[string]func() error{
		"post":    func() error { _, err := a.Post(ctx, PostArgs{Message: "m", ToAgent: stranger}); return err },
		"diary":   func() error { _, err := a.RecallDiary(ctx, DiaryQuery{AgentID: stranger}); return err },
		"handoff": func() error { _, err := a.Handoff(ctx, HandoffArgs{ToAgent: stranger, Message: "m"}); return err },
		"resolve": func() error { _, _, err := a.Resolve(ctx, stranger); return err },
		"self":    func() error { _, err := here.As(Actor{Agent: stranger}).Read(ctx, ReadArgs{}); return err },
		"resume": func() error {
			_, err := here.As(Actor{Agent: stranger}).Register(ctx, Registration{AgentType: "cursor"})
			return err
		},
	} {
		if _, ok := errors.AsType[*refusal.NotFoundError](do()); !ok {
			t.Errorf("%s: %v, want not found", what, do())
		}
	}
}
