package tasks

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"leanctx/internal/args"
	"leanctx/internal/refusal"
)

const hash = "14958352f5925e3e"

// clock is set by hand.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: epoch} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// crowd is the agents of a project, and when each was last heard of.
type crowd struct {
	seen  map[string]time.Time
	clock *clock
}

func (c crowd) Resolve(_ context.Context, name string) (string, string, error) {
	var found []string
	for id := range c.seen {
		switch {
		case id == name, args.AgentType(id) == name:
			return name, "", nil
		case strings.HasPrefix(id, name):
			found = append(found, id)
		}
	}
	if len(found) == 1 {
		return found[0], "", nil
	}
	return "", "", refusal.NotFound("%d agents are %s", len(found), name)
}

func (c crowd) Silent(_ context.Context, id string) (time.Time, bool, error) {
	at, ok := c.seen[id]
	if !ok {
		return time.Time{}, false, refusal.NotFound("no agent %s", id)
	}
	return at, c.clock.now().Sub(at) > time.Hour, nil
}

func open(t testing.TB, dir string, o *Options) *Store {
	t.Helper()
	if o == nil {
		o = &Options{ProjectHash: hash}
	}
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// as is an agent's handle.
func (s *Store) as(agent string) *Store { return s.As(Actor{Agent: agent}) }

// text is what an operation printed, or its error.
func text[R interface{ Text() string }](r R, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return r.Text()
}

// made creates a task and gives its id.
func made(t testing.TB, s *Store, d Draft) string {
	t.Helper()
	r, err := s.Create(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return r.Task.ID
}

func stepped(t testing.TB, s *Store, a Update) {
	t.Helper()
	if _, err := s.Update(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

// everything is all that a store holds of its project, whatever file it is in.
func everything(t testing.TB, s *Store) string {
	t.Helper()
	var b strings.Builder
	list, err := s.List(t.Context(), Query{Limit: refusal.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString(list.Text())
	for _, x := range list.Tasks {
		g, err := s.Get(t.Context(), TaskRef{x.ID})
		if err != nil {
			t.Fatal(err)
		}
		g.now = epoch // ages are not what is compared
		b.WriteString("\n" + g.Text())
	}
	return b.String()
}

// fill puts tasks into a store as they are.
func fill(t testing.TB, s *Store, tasks ...Task) {
	t.Helper()
	_, err := s.log.Update(t.Context(), func(_ *state, now time.Time) ([]event, error) {
		var events []event
		for _, x := range tasks {
			x.Project, x.State = s.opts.ProjectHash, cmp.Or(x.State, Created)
			if x.UpdatedAt.IsZero() {
				x.CreatedAt, x.UpdatedAt = now.UTC(), now.UTC()
			}
			events = append(events, event{Create: &record{Task: x, thread: thread{
				Description: strings.Repeat("all that is needed to do "+x.Title+". ", 10),
				History:     []Transition{{To: Created, By: "cursor-a3f8", At: x.CreatedAt}},
				Messages:    []Message{{By: "cursor-a3f8", At: x.CreatedAt, Text: "look at the log of yesterday"}, {By: "claude-b7e2", At: x.UpdatedAt, Text: "found it"}},
			}}})
		}
		return events, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
