package app

import (
	"strings"
	"testing"
)

// A call that stored nothing tells nothing: what others said under that name is still told.
func TestAFailedCallTellsNothing(t *testing.T) {
	home(t)
	ran(t, "knowledge", "remember", "never push to main", "--category", "workflow", "--key", "push", "--source", "user")
	const prompt = `,"prompt":"may I push to main now?"`
	if said := hooked(t, "claude-code", "user-prompt", "first", prompt); !strings.Contains(said, "workflow/push") {
		t.Fatal(said)
	}
	hooked(t, "claude-code", "post-tool", "second", `,"tool_name":"mcp__lean-ctx__ctx_knowledge","tool_input":{"action":"remember","category":"workflow","key":"push","value":""}`)
	if said := hooked(t, "claude-code", "user-prompt", "second", prompt); !strings.Contains(said, "workflow/push") {
		t.Errorf("after a call that failed: %q", said)
	}
}
