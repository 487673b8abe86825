package knowledge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/advice"
)

// Health lists ten of the faded facts: first those about which it would cost most to be wrong. A
// fact that many stand behind comes before one that one agent said, a decision before an
// observation. A fact that is often read comes before one that nobody asks for, a faded one
// before one nearly sure.
func TestHealthListsTheCostliestFirst(t *testing.T) {
	s := testStore(t, nil)
	say := func(agent, category, key string) {
		t.Helper()
		a := Assertion{Category: category, Key: key, Value: key + " is so", Confidence: new(.6)}
		if _, err := s.As(Actor{Agent: agent}).Remember(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 8 {
		say("codex-1acc", "status", fmt.Sprintf("step %d", i)) // nobody else says so, and nobody asks
	}
	say("codex-1acc", "architecture", "db")
	for _, agent := range []string{"codex-1acc", "cursor-a3f8", "claude-b7e2"} {
		say(agent, "architecture", "auth")
	}
	say("codex-1acc", "architecture", "cache")
	for range 12 {
		s.recall(t, Question{Category: "architecture", Key: "cache"})
	}
	s.days(200)
	say("codex-1acc", "architecture", "queue")
	s.days(800)
	s.remember(t, Assertion{Category: "user", Key: "rule", Value: "ask first", Source: "user", Pinned: new(true)}) // does not fade

	r := must[advice.Report](t)(advice.Health(t.Context(), s.Store, Examining{}))
	var got []string
	for _, f := range r.Stale {
		got = append(got, f.Category+"/"+f.Key)
	}
	want := []string{
		"architecture/auth",  // three authors
		"architecture/cache", // read
		"architecture/db",
		"architecture/queue", // confirmed later
		"status/step 0", "status/step 1", "status/step 2", "status/step 3", "status/step 4", "status/step 5",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	lines := strings.Split(r.Text(), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "Stale ") {
			if line != "Stale (effective confidence under 50%): 12, check first what matters most" || lines[i+1] != "  [architecture/auth] auth is so (9%, last confirmed 2026-01-15)" || !strings.HasPrefix(lines[i+11], "Without questions:") {
				t.Errorf("%q", lines[i:])
			}
		}
	}
}

// Health says how the text index is. It makes none where there is none: that would analyse every fact.
func TestHealthMakesNoIndex(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "architecture", Key: "db", Value: "PostgreSQL 16"})
	s.open(t, nil)
	r := must[advice.Report](t)(advice.Health(t.Context(), s.Store, Examining{}))
	if made := s.Condition().Index.Pending; made != 0 || r.Index != "in memory, 1 fact" {
		t.Errorf("%d facts were analysed; index: %s", made, r.Index)
	}
}

// What stands in place of the index is named: everything works without one, and slower.
func TestWhatKeepsTheIndexAwayIsNamed(t *testing.T) {
	for name, put := range map[string]func(string) error{
		"a file":       func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) },
		"a link":       func(path string) error { return os.Symlink(filepath.Join(filepath.Dir(path), "nowhere"), path) },
		"nothing":      func(string) error { return nil },
		"an empty one": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		s := testStore(t, nil)
		s.remember(t, Assertion{Category: "arch", Key: "db", Value: "PostgreSQL 16"})
		path := filepath.Join(s.dir, "index")
		if err := put(path); err != nil {
			t.Logf("%s: %v", name, err)
			continue
		}
		r, err := advice.Health(t.Context(), s.Store, Examining{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		said := strings.Join(s.Notices(), "\n")
		if want := name[:2] == "a "; (r.IndexBlocked != "") != want || strings.Contains(r.Index, "alone") != want || strings.Contains(said, "move that away") != want || want && !strings.Contains(said, path) {
			t.Errorf("%s: %q, %q, %q", name, r.IndexBlocked, r.Index, said)
		}
	}
}
