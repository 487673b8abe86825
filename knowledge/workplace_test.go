package knowledge_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
)

// office is a workplace that says always the same.
type office struct {
	task   string
	agents []string
	unread map[string]int
	states map[string]string
	broken error
}

func (o office) LastTask(context.Context) (string, error) { return o.task, o.broken }

func (o office) Company(_ context.Context, agent string) ([]string, int, error) {
	return o.agents, o.unread[agent], o.broken
}

func (o office) Reached(_ context.Context, task, state string) (bool, error) {
	return o.states[task] == state, o.broken
}

func TestBriefingTellsWhoIsAtWork(t *testing.T) {
	at := office{
		task: "Fix the | login", agents: []string{"claude-b7e2(review)", "cursor-a3f8(dev)"},
		unread: map[string]int{"cursor-a3f8": 3}, states: map[string]string{"t-1": "Completed"},
	}
	s := testStore(t, &Options{Coworkers: at})
	for _, a := range []Intention{{Value: "tell the users", Task: "t-1:Completed"}, {Value: "too early", Task: "t-1:Working"}, {Value: "nobody knows it", Task: "t-9:Completed"}} {
		if _, err := s.Remind(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	got := wakeupText(t, s.As(Actor{Agent: "cursor-a3f8"}))
	want := "WAKE-UP BRIEFING:\nLAST_TASK:Fix the \\| login\nREMINDERS:tell the users\nAGENTS:claude-b7e2(review),cursor-a3f8(dev)\nUNREAD:3"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := wakeupText(t, s.As(Actor{Agent: "claude-b7e2"})); strings.Contains(got, "UNREAD") {
		t.Errorf("an agent without messages is told of some:\n%s", got)
	}
}

func TestBriefingWithoutItsWorkplace(t *testing.T) {
	s := testStore(t, &Options{Coworkers: office{broken: errors.New("registry.json: corrupt")}})
	if _, err := s.Remember(t.Context(), Assertion{Category: "a", Key: "k", Value: "v"}); err != nil {
		t.Fatal(err)
	}
	if got := wakeupText(t, s.Store); !strings.Contains(got, "A:k=v") {
		t.Errorf("the facts are missing:\n%s", got)
	}
	if got := strings.Join(s.Notices(), "\n"); !strings.Contains(got, "registry.json: corrupt") {
		t.Errorf("nobody is told why: %q", got)
	}
}

func wakeupText(t *testing.T, s *Store) string {
	t.Helper()
	b, err := briefing.Wakeup(t.Context(), s, briefing.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return b.Text()
}
