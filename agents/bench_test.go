package agents

import (
	"fmt"
	"os"
	"testing"
	"time"

	"leanctx/internal/refusal"
)

// crowd fills a project with agents and messages in a few commits. A third of the messages is
// for everybody, a third for one agent, a third for a type.
func crowd(t testing.TB, b *fixture, agents, messages int) *Store {
	t.Helper()
	s := b.open()
	name := func(i int) string { return fmt.Sprintf("cursor-%04x", i) }
	kind := func(i int) string { return fmt.Sprintf("kind%d", i%10) }
	err := s.update(t.Context(), func(p *project, now time.Time) (events []event, _ error) {
		for i := range agents {
			a := &agent{ID: name(i), Type: kind(i), Role: "implementing the auth module", Status: statusActive, Registered: now, Active: now}
			events = append(events, event{By: a.ID, Agent: a})
		}
		return events, nil
	})
	for from := 0; from < messages && err == nil; from += 1000 {
		err = s.update(t.Context(), func(p *project, now time.Time) (events []event, _ error) {
			for i := from; i < min(from+1000, messages); i++ {
				x := &message{Number: uint64(i + 1), From: name(i % agents), Category: "status", At: now,
					Text: fmt.Sprintf("message %d: the login page has lost its colours, somebody should look at it before noon", i)}
				switch i % 3 {
				case 1:
					x.To = name((i * 7) % agents)
				case 2:
					x.ToType = kind(i)
				}
				events = append(events, event{By: x.From, Post: x})
			}
			return events, nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.As(Actor{Agent: name(agents / 2)})
}

const benchAgents, benchMessages = 1000, 100_000

func BenchmarkCrowd(b *testing.B) {
	bd := newFixture(b)
	bd.opts.Now = time.Now
	s := crowd(b, bd, benchAgents, benchMessages)
	if err := s.Compact(b.Context()); err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			must[Agents](b)(s.List(ctx, ListArgs{}))
		}
	})
	b.Run("presence", func(b *testing.B) {
		for b.Loop() {
			must[Presence](b)(s.Presence(ctx))
		}
	})
	b.Run("sync", func(b *testing.B) {
		for b.Loop() {
			must[Synced](b)(s.Sync(ctx, NoArgs{}))
		}
	})
	b.Run("read 50 of many", func(b *testing.B) {
		for b.Loop() {
			must[Messages](b)(s.Read(ctx, ReadArgs{}))
		}
	})
	b.Run("read 50 new", func(b *testing.B) {
		for must[Messages](b)(s.Read(ctx, ReadArgs{Limit: refusal.MaxLimit})).Unread > 0 {
		}
		from := s.As(Actor{Agent: "cursor-0001"})
		for b.Loop() {
			b.StopTimer()
			for range 50 {
				post(b, from, PostArgs{Message: "one more", ToAgent: s.Self()})
			}
			b.StartTimer()
			if n := len(must[Messages](b)(s.Read(ctx, ReadArgs{})).Messages); n != 50 {
				b.Fatal(n)
			}
		}
	})
	b.Run("post", func(b *testing.B) {
		for b.Loop() {
			must[Posted](b)(s.Post(ctx, PostArgs{Message: "one more"}))
		}
	})
	b.Run("claim", func(b *testing.B) {
		for b.Loop() {
			must[Claimed](b)(s.Claim(ctx, ClaimArgs{Path: "src/auth.ts"}))
		}
	})
	if err := s.Compact(ctx); err != nil {
		b.Fatal(err)
	}
	b.Run("cold", func(b *testing.B) { cold(b, bd, s.Self()) })
}

// cold is what it costs a command to open the registry and count what an agent
// has not read.
func cold(b *testing.B, bd *fixture, me string) {
	for b.Loop() {
		s, err := Open(bd.dir, &bd.opts)
		if err != nil {
			b.Fatal(err)
		}
		must[Presence](b)(s.As(Actor{Agent: me}).Presence(b.Context()))
		_ = s.Close()
	}
}

// What a command pays when everybody has read everything.
func BenchmarkColdAllRead(b *testing.B) {
	bd := newFixture(b)
	bd.opts.Now = time.Now
	s := crowd(b, bd, benchAgents, 0)
	post(b, s, PostArgs{Message: "hello"})
	if err := s.Compact(b.Context()); err != nil {
		b.Fatal(err)
	}
	cold(b, bd, s.Self())
}

// A post and its reading by another process, beside the two fsyncs that it is.
func BenchmarkPostRead(b *testing.B) {
	b.Run("floor: two fsyncs", func(b *testing.B) {
		f, err := os.Create(b.TempDir() + "/f")
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		line := make([]byte, 250)
		for b.Loop() {
			for range 2 {
				if _, err := f.Write(line); err != nil {
					b.Fatal(err)
				}
				if err := f.Sync(); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("post and read", func(b *testing.B) {
		bd := newFixture(b)
		bd.opts.Now = time.Now
		from, to := join(b, bd.open(), "cursor", ""), join(b, bd.open(), "claude", "")
		for b.Loop() {
			post(b, from, PostArgs{Message: "the login page has lost its colours"})
			if len(read(b, to).Messages) != 1 {
				b.Fatal("not read")
			}
		}
	})
}
