package app

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Calls are booked under the id of the agent that made them, however it was
// named; those under a name that nobody has are nobody's.
func TestCallsAreBookedUnderIDs(t *testing.T) {
	home(t)
	register := func(kind, role string) string {
		_, out, _ := do(t, "", "agent", "register", kind, role)
		return strings.Fields(strings.TrimPrefix(out[strings.Index(out, "Registered: "):], "Registered: "))[0]
	}
	id := register("cursor", "dev")
	register("claude", "dev")
	register("claude", "docs")
	for _, agent := range []string{id, "cursor", "curs", "claude", "nobody", "nobody-0000"} {
		do(t, "", "agent", "post", "x", "--agent", agent)
	}
	do(t, "", "knowledge", "remember", "v", "-c", "a", "-k", "k", "--agent", "cursor")
	_, out, errs := do(t, "", "cost", "json")
	var doc struct {
		Agent []struct {
			Name  string
			Calls int
		} `json:"by_agent"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v: %s%s", err, out, errs)
	}
	got := map[string]int{}
	for _, a := range doc.Agent {
		got[a.Name] = a.Calls
	}
	// The shell's own: three registrations, a type of two agents, two names.
	if d := cmp.Diff(map[string]int{id: 4, "": 6}, got); d != "" {
		t.Error(d)
	}
}
