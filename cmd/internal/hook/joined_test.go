package hook

import (
	"strings"
	"testing"
	"time"
)

// What an answer of our server told a subagent is told to it alone: the session that started it has not read the answer.
func TestAnAnswerToASubagentIsItsOwn(t *testing.T) {
	dir := t.TempDir()
	k := &fakeProject{notices: []Notice{{ID: "1", Text: "one", Fact: "f/1"}}}
	call := func(agent, id string) {
		t.Helper()
		runEvent(dir, "claude-code", PreTool, `{"session_id":"s"`+agent+`,"tool_use_id":"`+id+`","tool_name":"mcp__lean-ctx__ctx_recall","tool_input":{"query":"push"}}`, k)
		j, certain, ok := SessionOf(dir, "p", ToolCall{Client: "claude-code", ID: id, Thread: "s", At: time.Now()})
		if !ok || !certain {
			t.Fatal(j, certain, ok)
		}
		j.Note(dir, "p", []string{ToldAs("1", "f", "1")}, time.Now())
	}
	asked := func(prompt string) string {
		return runEvent(dir, "claude-code", UserPrompt, `{"session_id":"s","prompt":"`+prompt+`"}`, k)
	}
	call(`,"agent_id":"sub1"`, "toolu_1")
	if got := asked("may I push?"); !strings.Contains(got, "one") {
		t.Errorf("what the subagent read counts as told to the session: %q", got)
	}
	dir = t.TempDir()
	call("", "toolu_2")
	if got := asked("may I push?"); got != "" {
		t.Error(got)
	}
}
