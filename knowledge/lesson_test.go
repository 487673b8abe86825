package knowledge_test

import (
	"strings"
	"testing"

	. "leanctx/knowledge"
	"leanctx/knowledge/history"
	"leanctx/knowledge/listing"
)

// by is the store for somebody else.
func (s *story) by(agent, kind string) *Store { return s.As(Actor{Agent: agent, Kind: kind}) }

// Conventions that contradict each other do not stand side by side: the later one takes the place of
// the other, with an alarm, and what a user said stays against an agent.
func TestPatternsContradict(t *testing.T) {
	s := testStore(t, nil)
	tabs := Lesson{Type: "indent", Value: "use tabs"}
	must[Learned](t)(Pattern(t.Context(), s.by("codex-1acc", KindAgent), tabs))
	r := must[Learned](t)(Pattern(t.Context(), s.by("cursor-a3f8", KindAgent), Lesson{Type: "indent", Value: "use spaces"}))
	if r.Outcome != Superseded || r.Contradiction == nil || !strings.Contains(r.Text(), "⚠ CONTRADICTION DETECTED: Fact [pattern/indent] changed:") {
		t.Errorf("%s", r.Text())
	}
	user := s.by("", KindUser)
	must[Learned](t)(Pattern(t.Context(), user, tabs))
	r = must[Learned](t)(Pattern(t.Context(), s.by("codex-1acc", KindAgent), Lesson{Type: "indent", Value: "use two spaces"}))
	if r.Outcome != Disputed || !r.Warned() || !strings.HasPrefix(r.Text(), "Disputed [pattern] indent: still 'use tabs' (user") {
		t.Errorf("%s", r.Text())
	}
	if f := s.only(t, "pattern", "indent"); f.Value != "use tabs" || !f.Disputed {
		t.Errorf("%+v", f)
	}
	must[Learned](t)(Pattern(t.Context(), user, Lesson{Type: "indent", Value: "two in YAML", Also: true}))
	if r := s.recall(t, Question{Category: "pattern", Key: "indent"}); len(r.Facts) != 2 {
		t.Errorf("%s", r.Text())
	}
}

// Examples stand beside the value: they confirm it, and are found with it.
func TestPatternExamples(t *testing.T) {
	s := testStore(t, nil)
	must[Learned](t)(Pattern(t.Context(), s.Store, Lesson{Type: "tests", Value: "tests are tables", Examples: []string{"cmp.Diff"}}))
	r := must[Learned](t)(Pattern(t.Context(), s.Store, Lesson{Type: "tests", Value: "tests are tables", Examples: []string{"zebrafish"}}))
	if r.Outcome != Confirmed {
		t.Errorf("%s", r.Text())
	}
	if f := s.recall(t, Question{Query: "zebrafish"}); len(f.Facts) != 1 || f.Facts[0].Value != "tests are tables (e.g. cmp.Diff, zebrafish)" {
		t.Errorf("%s", f.Text())
	}
	many := make([]string, MaxNames)
	for i := range many {
		many[i] = strings.Repeat("x", i+1)
	}
	if _, err := Pattern(t.Context(), s.Store, Lesson{Type: "tests", Value: "tests are tables", Examples: many}); err == nil {
		t.Error("more examples than a fact may have were taken")
	}
}

// A severity stays unless another is given, and nobody lowers that of somebody of more authority.
func TestSeverityStays(t *testing.T) {
	s := testStore(t, nil)
	record := func(as *Store, resolution, severity string) Learned {
		t.Helper()
		return must[Learned](t)(Gotcha(t.Context(), as, Mistake{Trigger: "force push", Resolution: resolution, Severity: severity}))
	}
	tags := func(want string) {
		t.Helper()
		if f := s.only(t, "gotcha", "force-push"); strings.Join(f.Version.Tags, " ") != want {
			t.Errorf("tags %q, want %q", f.Version.Tags, want)
		}
	}
	user, agent := s.by("", KindUser), s.by("codex-1acc", KindAgent)
	record(agent, "never", "critical")
	record(agent, "never", "")
	tags("critical")
	record(agent, "never", "info")
	tags("info")
	record(user, "never", "critical")
	if r := record(agent, "never", "info"); r.Outcome != Confirmed {
		t.Errorf("%s", r.Text())
	}
	tags("critical")
	record(user, "never, ask Ann", "")
	tags("critical")
	if r := record(agent, "on Fridays", "info"); r.Outcome != Disputed {
		t.Errorf("%s", r.Text())
	}
	tags("critical")
	if f := s.only(t, "gotcha", "force-push"); f.Value != "force push → never, ask Ann" {
		t.Errorf("%+v", f)
	}
	w := must[history.Provenance](t)(history.Why(t.Context(), s.Store, history.Subject{Category: "gotcha", Key: "force-push"}))
	for _, want := range []string{"agent codex-1acc (80%)", "user (95%)", "replaced 'force push → never'", "Disputed: d-"} {
		if !strings.Contains(w.Text(), want) {
			t.Errorf("no %q in %s", want, w.Text())
		}
	}
}

// Gotchas whose keys would be the same are two facts, and the same trigger finds its own.
func TestGotchasOfOneKey(t *testing.T) {
	s := testStore(t, nil)
	for range 2 {
		for _, trigger := range []string{"editing the file of the parser", "editing the file of the printer"} {
			must[Learned](t)(Gotcha(t.Context(), s.Store, Mistake{Trigger: trigger, Resolution: "run both tests"}))
		}
	}
	r := must[listing.StoreStatus](t)(listing.Status(t.Context(), s.Store, Examining{}))
	if r.Gotchas != 2 || r.Versions != 2 {
		t.Errorf("%s", r.Text())
	}
	for _, f := range s.recall(t, Question{Category: "gotcha"}).Facts {
		if f.Confirmations != 2 {
			t.Errorf("%+v", f)
		}
	}
}
