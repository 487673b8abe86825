package agents

import (
	"os"
	"path/filepath"
	"testing"
)

// The registry of the existing program lies in the same directory. It is left
// as it is, and keeps nobody from working.
func TestBesideTheExistingProgram(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "registry.json")
	const theirs = `{"agents":[{"agent_id":"cursor-1-2"}],"scratchpad":[]}`
	if err := os.WriteFile(name, []byte(theirs), 0o600); err != nil {
		t.Fatal(err)
	}
	for want := 1; want <= 2; want++ { // made, then found again
		s, err := Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Register(t.Context(), Registration{AgentType: "cursor", Role: string(rune('a' + want))}); err != nil {
			t.Fatal(err)
		}
		if l, err := s.List(t.Context(), ListArgs{}); err != nil || l.Total != want {
			t.Errorf("%d agents, %v; want %d", l.Total, err, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != theirs {
		t.Errorf("the other registry: %q, %v", got, err)
	}
}
