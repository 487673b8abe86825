package app

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// synced is what a sync says, as far as these tests want it.
type synced struct {
	Claims []struct {
		Path    string
		AgentID string `json:"agent_id"`
	}
	Tasks    []string
	Handoffs []struct {
		From   string `json:"from_agent"`
		Tasks  []string
		Claims []struct{ Path string }
	}
}

// Three processes; one is killed in the middle of a handoff, at another moment
// each time. Whatever the moment: all tasks are one agent's or the other's, so are all claims,
// and the receiver is told once. Only a kill between the two commits leaves the claims behind.
func TestKilledInAHandoff(t *testing.T) {
	home(t)
	receiver, _ := start(t)
	witness, _ := start(t)
	claude := receiver.register("claude", "docs")
	witness.register("reviewer", "")
	moved := 0
	const rounds, work = 12, 3
	for round := range rounds {
		giver, process := start(t)
		cursor := giver.register("cursor", fmt.Sprint("round ", round))
		var tasks, paths []string
		for i := range work {
			var made struct{ Task struct{ ID string } }
			giver.into(&made, "ctx_task", fmt.Sprintf(`{"action":"create","title":"round %d, task %d","to_agent":%q}`, round, i, cursor))
			path := fmt.Sprintf("r%d/%d.go", round, i)
			giver.must("ctx_agent", fmt.Sprintf(`{"action":"claim","path":%q}`, path))
			tasks, paths = append(tasks, made.Task.ID), append(paths, path)
		}
		slices.Sort(tasks)
		answered := make(chan bool, 1)
		go func() {
			text, err := giver.try("ctx_agent", fmt.Sprintf(`{"action":"handoff","to_agent":%q,"message":"round %d is half done"}`, claude, round))
			answered <- err == nil && !strings.HasPrefix(text, "!")
		}()
		<-time.After(time.Duration(round) * 700 * time.Microsecond)
		if err := process.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		done := <-answered

		var got synced
		receiver.into(&got, "ctx_agent", `{"action":"sync"}`)
		holders, assignees := held(got, paths), map[string]int{}
		for _, id := range tasks {
			var x struct{ Assignee string }
			witness.into(&x, "ctx_task", fmt.Sprintf(`{"action":"get","task_id":%q}`, id))
			assignees[x.Assignee]++
		}
		switch {
		case len(got.Handoffs) == 1:
			moved++
			slices.Sort(got.Handoffs[0].Tasks)
			if h := got.Handoffs[0]; h.From != cursor || !slices.Equal(h.Tasks, tasks) || len(h.Claims) != work || holders[claude] != work || assignees[claude] != work {
				t.Errorf("round %d: half a handoff: %+v, claims %v, tasks %v", round, h, holders, assignees)
			}
		case len(got.Handoffs) > 1, done:
			t.Errorf("round %d: answered: %v, handoffs: %+v", round, done, got.Handoffs)
		case holders[cursor] != work || assignees[cursor] != work && assignees[claude] != work:
			t.Errorf("round %d: nothing was handed over, but claims %v, tasks %v", round, holders, assignees)
		}
		if again := receiver.must("ctx_agent", `{"action":"read"}`); strings.Contains(again, "Handoff from") {
			t.Errorf("round %d: told twice: %s", round, again)
		}
	}
	t.Logf("%d of %d handoffs were done when their process was killed", moved, rounds)
}

// held counts the claims on paths by their holders.
func held(s synced, paths []string) map[string]int {
	out := map[string]int{}
	for _, c := range s.Claims {
		if slices.Contains(paths, c.Path) {
			out[c.AgentID]++
		}
	}
	return out
}

// Three servers at once lose no count, commands are counted beside them, and
// percentages add up to about 100.
func TestServersCountTogether(t *testing.T) {
	home(t)
	do(t, "", "knowledge", "remember", "JWT RS256", "-c", "a", "-k", "auth")
	const servers, calls = 3, 40
	var all sync.WaitGroup
	for i := range servers {
		all.Go(func() {
			c, _ := start(t)
			id := c.register("worker", fmt.Sprint(i))
			for n := range calls - 1 {
				if _, err := c.try("ctx_recall", fmt.Sprintf(`{"action":"recall","query":"auth %d","agent":%q}`, n, id)); err != nil {
					t.Error(err)
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	code, out, errs := do(t, "", "cost", "json")
	var doc struct {
		Total struct{ Calls, TokensIn int }
		Agent []struct {
			Name    string
			Percent float64
			Calls   int
		} `json:"by_agent"`
		Tool []struct {
			Name    string
			Percent float64
			Calls   int
		} `json:"by_tool"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatalf("%d %s: %v", code, errs, err)
	}
	if want := servers*calls + 1; doc.Total.Calls != want {
		t.Errorf("%d calls are counted, not %d: %s", doc.Total.Calls, want, out)
	}
	agents, tools, recalled := 0.0, 0.0, 0
	for _, a := range doc.Agent {
		agents += a.Percent
	}
	for _, x := range doc.Tool {
		tools += x.Percent
		if x.Name == "ctx_recall" {
			recalled = x.Calls
		}
	}
	if recalled != servers*(calls-1) || math.Abs(agents-100) > 1 || math.Abs(tools-100) > 1 {
		t.Errorf("%d recalls, %v%% and %v%%", recalled, agents, tools)
	}
	if code, out, _ := do(t, "", "cost", "report"); code != 0 || !strings.HasPrefix(out, "COST ATTRIBUTION REPORT\n  Total tokens: ") {
		t.Errorf("got %s", out)
	}
}
