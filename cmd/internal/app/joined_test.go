package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// calling makes a call of a session: its hook sees the call before our server does.
func calling(t *testing.T, c client, session, tool, args string) string {
	t.Helper()
	if said := hooked(t, "claude-code", "pre-tool", session, fmt.Sprintf(`,"tool_name":"mcp__lean-ctx__%s","tool_input":%s`, tool, args)); said != "" {
		t.Errorf("before a call of ours: %s", said)
	}
	return c.must(tool, args)
}

// A session is one agent: its hooks and its connection are known to be the same, without registering.
func TestHooksAndConnectionAreOneAgent(t *testing.T) {
	dir := home(t)
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := serving(t)
	a, b := dial(t, s, "2025-11-25"), dial(t, s, "2025-11-25")
	hooked(t, "claude-code", "session-start", "first", "")
	hooked(t, "claude-code", "session-start", "second", "")

	const edit = `,"tool_name":"Edit","tool_input":{"file_path":"src/a.go"}`
	claimed := calling(t, a, "first", "ctx_agent", `{"action":"claim","path":"src/a.go"}`)
	if !strings.Contains(claimed, "by claude-code-") {
		t.Fatalf("a claim without registering: %s", claimed)
	}
	if said := hooked(t, "claude-code", "post-tool", "first", edit); said != "" {
		t.Errorf("its own claim: %s", said)
	}
	if said := hooked(t, "claude-code", "post-tool", "second", edit); !strings.Contains(said, "ask before you change it") || strings.Contains(said, "unless that is you") {
		t.Errorf("another's claim: %s", said)
	}

	calling(t, a, "first", "ctx_knowledge", `{"action":"remember","category":"decision","key":"queue","value":"The queue is Redis streams, never Kafka.","source":"user"}`)
	const ask = `,"prompt":"which queue do we use, Redis streams?"`
	if said := hooked(t, "claude-code", "user-prompt", "first", ask); said != "" {
		t.Errorf("its own fact: %s", said)
	}
	if said := hooked(t, "claude-code", "user-prompt", "second", ask); !strings.Contains(said, "decision/queue") {
		t.Errorf("another's fact: %s", said)
	}

	calling(t, b, "second", "ctx_agent", `{"action":"post","message":"rebase first"}`)
	if said := hooked(t, "claude-code", "user-prompt", "second", `,"prompt":"go on"`); said != "" {
		t.Errorf("its own message: %s", said)
	}
	if said := hooked(t, "claude-code", "user-prompt", "first", `,"prompt":"go on"`); !strings.Contains(said, "UNREAD 1 message for claude-code-") {
		t.Errorf("another's message: %s", said)
	}

	// register adds a role, and another type resumes or begins an agent that has the claims.
	if got := calling(t, a, "first", "ctx_agent", `{"action":"register","agent_type":"claude","role":"writing"}`); !strings.Contains(got, "Registered: claude-") {
		t.Error(got)
	}
	if said := hooked(t, "claude-code", "post-tool", "first", edit+`,"x":1`); said != "" {
		t.Errorf("its own claim under another name: %s", said)
	}
	if got := calling(t, b, "second", "ctx_agent", `{"action":"register","agent_type":"claude-code","role":"reviewing"}`); !strings.Contains(got, "Registered: claude-code-") {
		t.Error(got)
	}
	if list := calling(t, b, "second", "ctx_agent", `{"action":"list"}`); !strings.Contains(list, "Active agents (2)") {
		t.Errorf("two sessions are two agents: %s", list)
	}
}
