package app

import (
	"strings"
	"testing"
)

// A team whose stream is of a format from before the first release is refused. A machine follows the
// hint: it leaves with what it has, and joins under another name.
func TestTeamOfAnEarlierFormat(t *testing.T) {
	m := newMachines(t)
	m.on("a", 0, "team", "join", m.url, "--name", "old")
	m.on("a", 0, "remember", "auth/token", "Uses JWT")
	js := m.jetstream()
	s, err := js.Stream(t.Context(), "old")
	if err != nil {
		t.Fatal(err)
	}
	c := s.CachedInfo().Config
	c.Metadata["lean-ctx"] = "2"
	if _, err := js.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, errs := m.on("a", 12, "remember", "auth/other", "Uses PASETO"); !strings.Contains(errs, "leave the team and join under another name") {
		t.Error(errs)
	}
	m.says("a", "The newest commits of others may be missing", "team", "leave")
	m.says("a", "1 fact published", "team", "join", m.url, "--name", "new")
	m.says("a", "Uses JWT", "recall", "token")
}
