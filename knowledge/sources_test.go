package knowledge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/history"
)

// project is a store whose project has a file.
func projectStore(t *testing.T, text string) (s *story, file string) {
	t.Helper()
	root := t.TempDir()
	s = testStore(t, &Options{ProjectRoot: root, ProjectHash: "14958352f5925e3e"})
	file = filepath.Join(root, "auth.ts")
	write(t, file, text)
	return s, file
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSourceThatChangedIsMarked(t *testing.T) {
	s, file := projectStore(t, "one\nconst alg = 'RS256'\n")
	tokens := Assertion{Category: "auth", Key: "alg", Value: "JWT RS256", Source: "auth.ts:2"}
	r := s.remember(t, tokens)
	if r.Unchecked != "" || strings.Contains(r.Text(), "Source") {
		t.Fatalf("a source that is there: %s", r.Text())
	}
	marked := func(want string) {
		t.Helper()
		mark := ""
		if want != "" {
			mark = " [source " + want + "]"
		}
		for name, q := range map[string]Question{"by words": {Query: "alg"}, "by key": {Category: "auth", Key: "alg"}, "the room": {Category: "auth"}} {
			if a := s.recall(t, q); len(a.Facts) != 1 || a.Facts[0].SourceState != want || strings.Contains(a.Text(), "[source") != (want != "") || !strings.Contains(a.Text(), mark+" since ") {
				t.Errorf("recall %s: %s, want %q", name, a.Text(), mark)
			}
		}
		why, err := history.Why(t.Context(), s.Store, history.Subject{Category: "auth", Key: "alg"})
		if err != nil || why.Versions[0].SourceState != want || strings.Contains(why.Text(), "[source") != (want != "") {
			t.Errorf("why: %v, %s", err, why.Text())
		}
		health, err := advice.Health(t.Context(), s.Store, Examining{})
		if err != nil || strings.Contains(health.Text(), "Sources that no longer match: 1\n  [auth/alg] JWT RS256 (auth.ts:2)"+mark) != (want != "") {
			t.Errorf("health: %v, %s", err, health.Text())
		}
		check, err := advice.Check(t.Context(), s.Store, NoArgs{})
		if err != nil || check.Found() != (want != "") || check.Facts != 1 {
			t.Errorf("check: %v, %s", err, check.Text())
		}
	}
	marked("")
	write(t, file, "a line before, which is none of it\nconst alg = 'RS256'\n")
	marked("")
	write(t, file, "one\nconst alg = 'ES256'\n")
	marked("changed")
	s.remember(t, Assertion{Category: "auth", Key: "alg", Value: "JWT RS256"}) // no source: the file is taken anew
	marked("")
	write(t, file, "one\nconst alg = 'none'\n")
	marked("changed")
	s.remember(t, tokens)
	marked("")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	marked("gone")
	s.remember(t, Assertion{Category: "auth", Key: "alg", Value: "JWT RS256"}) // nothing to take
	marked("gone")

	s.days(1)
	s.remember(t, Assertion{Category: "auth", Key: "alg", Value: "sessions in Redis"})
	if a := s.recall(t, Question{Category: "auth", Key: "alg", AsOf: "2026-01-15"}); a.Facts[0].SourceState != "" {
		t.Errorf("a value that is no longer believed: %s", a.Text())
	}
}

func TestSourceThatIsNotThereIsTold(t *testing.T) {
	s, file := projectStore(t, "one\n")
	for source, want := range map[string]string{
		"nope.ts:3":           "\n  Source nope.ts:3 does not exist: it will not be checked",
		"auth.ts:2":           "\n  Source auth.ts:2 ends at line 1: it will not be checked",
		"../nope.ts":          "\n  Source ../nope.ts is outside the project: it will not be checked",
		"the talk on Tuesday": "",
		"user":                "",
		"tool:auth.ts":        "",
		filepath.Dir(file):    "\n  Source . is a directory: it will not be checked",
	} {
		_, said, _ := strings.Cut(s.remember(t, Assertion{Category: "c", Value: "said in " + source, Source: source}).Text(), ")")
		if !strings.HasPrefix(said, want) || want == "" && strings.Contains(said, "Source") {
			t.Errorf("%s: %q, want %q", source, said, want)
		}
	}
}

// What a file says protects a fact from an agent's word, until the file says
// something else.
func TestFileProtectsAFactWhileItMatches(t *testing.T) {
	s, file := projectStore(t, "port: 8080\n")
	other := &story{Store: s.As(Actor{Agent: "codex-1acc"})}
	port := func(value, source string) Assertion {
		return Assertion{Category: "server", Key: "port", Value: value, Source: source}
	}
	s.remember(t, port("8080", "auth.ts:1"))
	if r := other.remember(t, port("9090", "")); r.Outcome != Disputed {
		t.Errorf("an agent's word against a file that matches: %s", r.Text())
	}
	if w, err := other.Remove(t.Context(), Withdrawal{Category: "server", Key: "port"}); err != nil || w.Dispute == nil {
		t.Errorf("removed against a file that matches: %v, %v", w, err)
	}
	write(t, file, "port: 9090  # moved\n")
	if r := other.remember(t, port("7070", "")); r.Outcome != Superseded {
		t.Errorf("an agent's word after the file changed: %s", r.Text())
	}
	s.remember(t, port("9090", "auth.ts:1"))
	if r := other.remember(t, port("6060", "other.ts:1")); r.Outcome != Disputed {
		t.Errorf("a source that does not exist has a file's authority: %s", r.Text())
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if r := other.remember(t, port("5050", "")); r.Outcome != Superseded {
		t.Errorf("an agent's word after the file went: %s", r.Text())
	}
}

// An entry of a diary is an agent's word too.
func TestFileProtectsAFactFromConsolidation(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "auth.ts"), "tokens are signed by RS256\n")
	const old = "Tokens are signed by RS256"
	list := []Finding{{Ref: "diary:codex-1acc/1", Kind: "decision", Text: old + " and rotated every month", By: "codex-1acc", At: time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC)}}
	s := testStore(t, &Options{ProjectRoot: root, ProjectHash: "14958352f5925e3e", Findings: notes{list: list}})
	key := s.remember(t, Assertion{Category: "decision", Value: old, Source: "auth.ts:1"}).Key
	if _, err := Consolidate(t.Context(), s.Store, Promotion{}); err != nil {
		t.Fatal(err)
	}
	if f := s.only(t, "decision", key); f.Value != old {
		t.Errorf("consolidation replaced what a file says: %s", f.Value)
	}
}

// TestAnAgentsFileMakesNoRuleOfAUserOutdated: whatever file an agent names beside what the user said, and in whichever order.
func TestAnAgentsFileMakesNoRuleOfAUserOutdated(t *testing.T) {
	rule := Assertion{Category: "workflow", Key: "push", Value: "never push to main"}
	users, agents := rule, rule
	users.Source, agents.Source = "user", "auth.ts:1"
	for name, order := range map[string][]Assertion{"after": {users, agents}, "before": {agents, users}, "between": {users, agents, users}} {
		s, file := projectStore(t, "one\n")
		for _, a := range order {
			s.now = s.now.Add(time.Hour)
			s.remember(t, a)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if a := s.recall(t, Question{Query: "may I push to main"}); len(a.Facts) != 1 || a.Facts[0].SourceState != "" {
			t.Errorf("%s: %s", name, a.Text())
		}
		if check, err := advice.Check(t.Context(), s.Store, NoArgs{}); err != nil || check.Found() {
			t.Errorf("%s: %v %s", name, err, check.Text())
		}
	}
}
