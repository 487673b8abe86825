package knowledge_test

import (
	"context"
	"errors"
	"fmt"
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
	own    map[string][]string
	next   map[string]string // by agent or client
	states map[string]string
	broken error
}

func (o office) Tasks(_ context.Context, agent, client string) (Tasks, error) {
	return Tasks{Last: o.task, Own: o.own[agent], Next: o.next[agent+client]}, o.broken
}

func (o office) Presence(_ context.Context, agent string) ([]string, int, error) {
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
	for _, a := range []NewReminder{{Value: "tell the users", Task: "t-1:Completed"}, {Value: "too early", Task: "t-1:Working"}, {Value: "nobody knows it", Task: "t-9:Completed"}} {
		if _, err := Remind(t.Context(), s.Store, a); err != nil {
			t.Fatal(err)
		}
	}
	got := wakeupText(t, s.As(Actor{Agent: "cursor-a3f8"}))
	want := "WAKE-UP BRIEFING:\nLAST_TASK:Fix the \\| login\nREMINDERS:tell the users (by cursor-a3f8)\nAGENTS:claude-b7e2(review),cursor-a3f8(dev)\nUNREAD:3"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := wakeupText(t, s.As(Actor{Agent: "claude-b7e2"})); strings.Contains(got, "UNREAD") {
		t.Errorf("an agent without messages is told of some:\n%s", got)
	}
}

// A briefing names the caller's open tasks and the one that next would give, within its
// budget, and says nothing where there are none.
func TestBriefingTellsTheCallersTasks(t *testing.T) {
	many := make([]string, 9)
	for i := range many {
		many[i] = fmt.Sprintf(`t-%06d "Part %d of the move" [Created]`, i, i)
	}
	s := testStore(t, &Options{Coworkers: office{
		own:  map[string][]string{"cursor-a3f8": {`t-b7e204 "Add | limits" [Working]`}, "codex-1acc": many},
		next: map[string]string{"claude-b7e2": `t-c41d22 "Write the notes"`, "gemini": `t-c41d22 "Write the notes"`},
	}})
	for _, tt := range []struct{ agent, client, want string }{
		{"cursor-a3f8", "", `TASKS:t-b7e204 "Add \| limits" [Working]`},
		{"claude-b7e2", "", `NEXT_TASK:t-c41d22 "Write the notes"`},
		{"", "gemini", `NEXT_TASK:t-c41d22 "Write the notes"`},
		{"", "codex", ""},
		{"codex-1acc", "", "TASKS:" + strings.Join(many[:5], "|") + "|+4 more"},
	} {
		b := must[briefing.Selection](t)(briefing.Start(t.Context(), s.As(Actor{Agent: tt.agent}), tt.client, briefing.News{}))
		if b.Body() != tt.want {
			t.Errorf("%s %s:\n%s\nwant\n%s", tt.agent, tt.client, b.Body(), tt.want)
		}
	}
	for budget := range 30 {
		b := must[briefing.Selection](t)(briefing.Wakeup(t.Context(), s.As(Actor{Agent: "codex-1acc"}), briefing.Query{Budget: 10 * budget}))
		if len(b.Text()) > 40*budget && budget > 4 || len(b.Tasks)+b.MoreTasks != 9 {
			t.Errorf("budget %d: %d bytes\n%s", 10*budget, len(b.Text()), b.Text())
		}
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
