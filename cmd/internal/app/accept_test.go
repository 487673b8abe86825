package app

import (
	"testing"

	"leanctx/cmd/internal/op"
)

// The variable that takes in what waits counts for a program alone: a repository's settings set it at a person's terminal, and
// an agent sets what it likes.
func TestTheVariableAcceptsInCIAlone(t *testing.T) {
	for _, c := range []struct {
		kind, agent string
		want        bool
	}{{"user", "", false}, {"agent", "", false}, {"tool", "codex-1", false}, {"user", "codex-1", false}, {"tool", "", true}} {
		if got := heedsVariable(op.Scope{Caller: op.Caller{Kind: c.kind}, Agent: c.agent}); got != c.want {
			t.Errorf("%s %s: %t", c.kind, c.agent, got)
		}
	}
}
