package knowledge_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "leanctx/knowledge"
	"leanctx/knowledge/advice"
)

// A likely conflict under another key is named when the second fact is stored. So it is seconds
// after the first one, in a process that has just begun, and beside a stored index. Health finds
// it too, and recall marks what is named as replaced, until somebody judges the two.
func TestConflictsUnderOtherKeys(t *testing.T) {
	for name, between := range map[string]func(t *testing.T, s *story){
		"at once":     func(*testing.T, *story) {},
		"a new start": func(t *testing.T, s *story) { s.open(t, nil) },
		"with an index": func(t *testing.T, s *story) {
			if err := s.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.open(t, nil)
		},
	} {
		s := testStore(t, nil)
		say := func(category, key, value string) string {
			t.Helper()
			s.now = s.now.Add(2 * time.Second)
			return s.remember(t, Assertion{Category: category, Key: key, Value: value}).Text()
		}
		say("workflow", "ci", "CI runs on Jenkins")
		say("architecture", "db", "MySQL 8")
		say("config", "telemetry", "telemetry is enabled by default")
		between(t, s)
		for _, x := range []struct{ category, key, value, want string }{
			{"decision", "pipeline", "We moved from Jenkins to GitHub Actions", "\n  Replaced, it seems: [workflow/ci] CI runs on Jenkins. Settle it: "},
			{"decision", "database", "PostgreSQL 16", "\n  Possible conflict: [architecture/db] MySQL 8. Settle it: "},
			{"privacy", "tracking", "Telemetry is off", "\n  Possible conflict: [config/telemetry] telemetry is enabled by default. Settle it: "},
			{"workflow", "review", "two people review each change", ""},
		} {
			if got := say(x.category, x.key, x.value); !strings.Contains(got, x.want) || x.want == "" && strings.Contains(got, "Settle it") {
				t.Errorf("%s: %s", name, got)
			}
		}
		health := func() string {
			t.Helper()
			r, err := advice.Health(t.Context(), s.Store, Examining{})
			if err != nil {
				t.Fatal(err)
			}
			return r.Text()
		}
		if got := health(); !strings.Contains(got, "Possible conflicts under two names: 3 ") ||
			!strings.Contains(got, "\n  [decision/pipeline] 'We moved from Jenkins to GitHub Actions' seems to replace [workflow/ci] 'CI runs on Jenkins'") {
			t.Errorf("%s: %s", name, got)
		}
		const mark = " [maybe outdated: decision/pipeline]"
		for _, q := range []Question{{Query: "what does CI run on, Jenkins?"}, {Category: "workflow", Key: "ci"}} {
			if got := s.recall(t, q).Text(); !strings.Contains(got, mark) {
				t.Errorf("%s: %s", name, got)
			}
		}
		if _, err := advice.Judge(t.Context(), s.Store, advice.Verdict{Category: "decision", Key: "pipeline", Target: "workflow/ci", Verdict: "compatible"}); err != nil {
			t.Fatal(err)
		}
		if got := health() + s.recall(t, Question{Category: "workflow", Key: "ci"}).Text(); strings.Contains(got, "seems to replace") || strings.Contains(got, mark) {
			t.Errorf("%s, judged: %s", name, got)
		}
	}
}

// Of many who write at once the last is told of conflicts.
func TestLastOfManyWritersIsTold(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "architecture", Key: "db", Value: "MySQL 8"})
	var told atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			r, err := s.Remember(t.Context(), Assertion{Category: fmt.Sprint("decision ", i), Key: "database", Value: "PostgreSQL 16"})
			if err != nil {
				t.Error(err)
			}
			if strings.Contains(r.Text(), "architecture/db") {
				told.Add(1)
			}
		})
	}
	wg.Wait()
	if told.Load() == 0 {
		t.Error("nobody was told of the conflict")
	}
}

// A yes or a port that two facts have says nothing about either.
func TestBareValueIsNotNamedAsSimilar(t *testing.T) {
	s := testStore(t, nil)
	for i, value := range []string{"true", "8080", ":8080", "30 s", "none", "v1.4.0", "2026-01-15"} {
		for _, key := range []string{"first", "second"} {
			if got := s.remember(t, Assertion{Category: fmt.Sprint("room ", i), Key: key, Value: value}).Text(); strings.Contains(got, "Similar") {
				t.Error(got)
			}
		}
	}
	same := func() string {
		r := must[advice.Report](t)(advice.Health(t.Context(), s.Store, Examining{})).Text()
		_, r, _ = strings.Cut(r, "Same value under two names: ")
		return r
	}
	if got := same(); !strings.HasPrefix(got, "0\n") {
		t.Error(got)
	}
	s.remember(t, Assertion{Category: "stack", Key: "database", Value: "PostgreSQL"})
	if got := s.remember(t, Assertion{Category: "stack", Key: "db", Value: "PostgreSQL"}).Text(); !strings.Contains(got, "Similar: [stack/database] PostgreSQL") {
		t.Error(got)
	}
	if got := same(); !strings.HasPrefix(got, "1\n") {
		t.Error(got)
	}
}

// The nearest fact under another key is named where it is the same sentence but for a day, a verb or a denial: with the call
// that replaces it. What only looks alike is not named.
func TestNearestUnderAnotherKey(t *testing.T) {
	s := testStore(t, nil)
	for _, x := range []struct{ category, key, value, want string }{
		{"decision", "drop-x", "We drop X support in v2.", ""},
		{"decision", "keep-x", "We keep X support in v2.", "\n  near: [decision/drop-x] We drop X support in v2.. If this replaces it: action=remember category=decision key=drop-x value=\"We keep X support in v2.\""},
		{"plan", "v2-cut", "The v2 branch is cut on 2026-12-15.", ""},
		{"release", "branch-date", "The v2 branch is cut on 2027-01-20.", "\n  near: [plan/v2-cut] "},
		{"workflow", "deploy", "We deploy on Fridays after the soak test", ""},
		{"process", "deploy-day", "We deploy on Mondays after the soak test", "\n  near: [workflow/deploy] "},
		{"team", "heron", "Marta looks after the heron service on Mondays.", ""},
		{"team", "kestrel", "Marta looks after the kestrel service on Mondays.", ""},
	} {
		s.now = s.now.Add(2 * time.Second)
		got := s.remember(t, Assertion{Category: x.category, Key: x.key, Value: x.value}).Text()
		if x.want == "" && strings.Contains(got, "\n") || !strings.Contains(got, x.want) {
			t.Errorf("%s", got)
		}
	}
}
