package agents

import (
	"errors"
	"strings"
	"testing"

	"leanctx/internal/refusal"
)

// Every mistake is refused by name, and changes nothing.
func TestBadInput(t *testing.T) {
	const token = "ghp_Zk41RtQ7xVb93LmWc5Ys8HdPf2NjGa6UeT0q"
	b := newFixture(t)
	s, ctx := b.open(), t.Context()
	talkers(t, s, 2)
	a := s.As(Actor{Agent: "talker-0000"})
	must[Claimed](t)(a.Claim(ctx, ClaimArgs{Path: "taken.go"}))
	other := s.As(Actor{Agent: "talker-0001"})
	must[Updated](t)(join(t, s, "gone", "").Status(ctx, StatusArgs{Status: "finished"}))
	big := strings.Repeat("x", 1<<20)
	register := func(kind, role string) error {
		_, err := s.Register(ctx, Registration{AgentType: kind, Role: role})
		return err
	}
	posting := func(p PostArgs) error {
		if p.Message == "" {
			p.Message = "m"
		}
		_, err := a.Post(ctx, p)
		return err
	}
	claim := func(w ClaimArgs) error { _, err := other.Claim(ctx, w); return err }
	hand := func(to, message string) error {
		_, err := a.Handoff(ctx, HandoffArgs{ToAgent: to, Message: message})
		return err
	}
	diary := func(n Note) error { _, err := a.Diary(ctx, n); return err }
	status := func(x StatusArgs) error { _, err := a.Status(ctx, x); return err }
	before := dumpOf(t, s)
	for _, c := range []struct {
		what     string
		err      error
		argument string // of an ArgumentError, else it is a NotFoundError
		says     string
	}{
		{"no type", register("", ""), "agent_type", "needs agent_type"},
		{"a type that is a path", register("../cursor", ""), "agent_type", "letters"},
		{"a type with emoji", register("cursor🚀", ""), "agent_type", "letters"},
		{"a type of 300 characters", register(big[:300], ""), "agent_type", "300 bytes"},
		{"a type that is an id", register("talker-0000", ""), "agent_type", "has the form of an agent's id"},
		{"a long role", register("cursor", big[:300]), "role", "300 characters"},
		{"nobody speaks", second(s.Read(ctx, ReadArgs{})), "agent", "register"},
		{"an unknown agent speaks", second(s.As(Actor{Agent: "cursor-9999"}).Read(ctx, ReadArgs{})), "", "cursor-9999"},
		{"an id with ../", second(s.As(Actor{Agent: "../../etc/passwd"}).Diary(ctx, Note{Message: "m"})), "", "../../etc/passwd"},
		{"an id of 300 characters", second(s.As(Actor{Agent: big[:300]}).Sync(ctx, NoArgs{})), "", "xxx…"},
		{"an id of emoji", second(s.As(Actor{Agent: "🚀🚀🚀"}).Claim(ctx, ClaimArgs{Path: "f"})), "", "🚀"},
		{"resume of nobody", second(s.As(Actor{Agent: "cursor-9999"}).Register(ctx, Registration{AgentType: "cursor"})), "", "cursor-9999"},
		{"resume as another type", second(a.Register(ctx, Registration{AgentType: "cursor"})), "agent_type", "is of type talker, not cursor: register without agent for another one"},
		{"an empty message", posting(PostArgs{Message: " \n"}), "message", "needs message"},
		{"a message of 1 MB", posting(PostArgs{Message: big}), "message", "1048576 bytes"},
		{"to an id of nobody", posting(PostArgs{ToAgent: "windsurf-a3f8"}), "", "No agent found: windsurf-a3f8"},
		{"to an ambiguous beginning", posting(PostArgs{ToAgent: "talker-000"}), "to_agent", "talker-0000 or talker-0001"},
		{"private to a type of nobody", posting(PostArgs{ToAgent: "windsurf", Private: true}), "", "no windsurf is here yet"},
		{"to a path", posting(PostArgs{ToAgent: "../" + big[:300]}), "", "No agent found"},
		{"to oneself", posting(PostArgs{ToAgent: "talker-0000"}), "to_agent", "is you"},
		{"private to everybody", posting(PostArgs{Private: true}), "to_agent", "private"},
		{"a bad category", posting(PostArgs{Category: "[x]\n"}), "category", "letters"},
		{"a ttl without unit", posting(PostArgs{TTL: "10"}), "ttl", "90s"},
		{"a ttl of half a unit", posting(PostArgs{TTL: "1h30"}), "ttl", "not a duration"},
		{"a ttl of units", posting(PostArgs{TTL: "hm"}), "ttl", "not a duration"},
		{"a category that is a secret", posting(PostArgs{Category: token}), "category", "looks like a secret (github"},
		{"a type that is a secret", register(token, ""), "agent_type", "looks like a secret (github"},
		{"a path that is a secret", claim(ClaimArgs{Path: "src/" + token}), "path", "looks like a secret (github"},
		{"a lease of more than a day", claim(ClaimArgs{Path: "f", TTL: "23h61m"}), "ttl", "not between 1s and 1d"},
		{"a ttl below zero", posting(PostArgs{TTL: "-5m"}), "ttl", "not a duration"},
		{"a ttl for ever", posting(PostArgs{TTL: "999999999w"}), "ttl", "not between"},
		{"a negative limit", second(a.Read(ctx, ReadArgs{Limit: -1})), "limit", "negative"},
		{"an unknown status", status(StatusArgs{Status: "sleeping"}), "status", "none of active, idle, finished"},
		{"no status", status(StatusArgs{}), "status", "needs status"},
		{"an unknown entry type", diary(Note{Message: "m", Category: "rumour"}), "category", "none of discovery"},
		{"an entry of 1 MB", diary(Note{Message: big}), "message", "1048576 bytes"},
		{"nobody's diary", second(a.RecallDiary(ctx, DiaryQuery{AgentID: "cursor-9999"})), "", "cursor-9999"},
		{"a type's diary", second(a.RecallDiary(ctx, DiaryQuery{AgentID: "talker"})), "agent_id", "talker-0000 or talker-0001"},
		{"a path that is a url with a password", claim(ClaimArgs{Path: "https://bob:hunter2secret@example.com/x"}), "path", "looks like a secret"},
		{"no path", claim(ClaimArgs{Path: " "}), "path", "needs path"},
		{"a path out of the project", claim(ClaimArgs{Path: "../etc/passwd"}), "path", "outside the project"},
		{"an absolute path outside", claim(ClaimArgs{Path: "/etc/passwd"}), "path", "outside the project"},
		{"a path with a zero byte", claim(ClaimArgs{Path: "a\x00b"}), "path", "not a valid file name"},
		{"a path that is not UTF-8", claim(ClaimArgs{Path: "a\xff"}), "path", "not a valid file name"},
		{"a path of 1 MB", claim(ClaimArgs{Path: big}), "path", "1048576 bytes"},
		{"a lease of a week", claim(ClaimArgs{Path: "f", TTL: "1w"}), "ttl", "not between 1s and 1d"},
		{"a lease of nothing", claim(ClaimArgs{Path: "f", TTL: "0s"}), "ttl", "not between"},
		{"release of nothing", second(other.Release(ctx, ReleaseArgs{Path: "f"})), "", "No claim found: f"},
		{"handoff to an id of nobody", hand("windsurf-a3f8", "m"), "", "No agent found: windsurf-a3f8"},
		{"handoff without receiver", hand("", "m"), "to_agent", "needs to_agent"},
		{"handoff without summary", hand("talker-0001", ""), "message", "needs message"},
		{"handoff to oneself", hand("talker-0000", "m"), "to_agent", "is you"},
		{"handoff to one that finished", hand("gon", "m"), "to_agent", "has finished"},
	} {
		a, isArgument := errors.AsType[*refusal.ArgumentError](c.err)
		_, isNotFound := errors.AsType[*refusal.NotFoundError](c.err)
		switch {
		case c.argument != "" && (!isArgument || a.Argument != c.argument), c.argument == "" && !isNotFound:
			t.Errorf("%s: %T of %q: %v", c.what, c.err, c.argument, c.err)
		case !strings.Contains(c.err.Error(), c.says):
			t.Errorf("%s: %v, want %q", c.what, c.err, c.says)
		case strings.Contains(c.err.Error(), token):
			t.Errorf("%s: the error repeats the secret: %v", c.what, c.err)
		case len(c.err.Error()) > 400:
			t.Errorf("%s: the error has %d bytes", c.what, len(c.err.Error()))
		}
	}
	expect(t, "state", dumpOf(t, s), before)
	if _, held := errors.AsType[*HeldError](claim(ClaimArgs{Path: "taken.go"})); !held {
		t.Error("a claim of what is taken")
	}
	if _, held := errors.AsType[*HeldError](second(other.Release(ctx, ReleaseArgs{Path: "taken.go"}))); !held {
		t.Error("release of another's claim")
	}
}

func second[R any](_ R, err error) error { return err }

func dumpOf(t testing.TB, s *Store) (text string) {
	t.Helper()
	err := s.log.View(t.Context(), func(st *state, _ journalHead) error { text = dump(t, st); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return text
}
