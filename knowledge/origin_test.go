package knowledge_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tiktoken-go/tokenizer/codec"
	. "leanctx/knowledge"
)

// A line of an answer says since when and by whom, unless the caller recorded it today.
func TestAnswersSayWhoAndSinceWhen(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "infra", Key: "cdn", Value: "akamai", ValidFrom: "2026-01-02"})
	expect := func(what string, q Question, asked *Store, want string) {
		t.Helper()
		r := must[Recalled](t)(asked.Recall(t.Context(), q))
		if d := cmp.Diff(want, r.Text()); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	room := Question{Category: "infra"}
	expect("the caller's own of today", room, s.Store, "Facts [infra] (showing 1/1):\n  [infra/cdn]: akamai (conf: 80%) since 2026-01-02 by cursor-a3f8")
	other := s.As(Actor{Agent: "codex-1acc"})
	expect("another's", room, other, "Facts [infra] (showing 1/1):\n  [infra/cdn]: akamai (conf: 80%) since 2026-01-02 by cursor-a3f8")
	s.days(1)
	expect("the caller's own of yesterday", room, s.Store, "Facts [infra] (showing 1/1):\n  [infra/cdn]: akamai (conf: 80%) since 2026-01-02 by cursor-a3f8")
	expect("of a time", Question{Category: "infra", AsOf: "2026-01-03"}, s.Store, "Facts as of 2026-01-03 (showing 1/1):\n  [infra/cdn]: akamai (conf: 80%) [valid 2026-01-02 → now]")
	s.remember(t, Assertion{Category: "infra", Key: "cdn", Value: "akamai", Source: "user"})
	expect("what a user confirmed", room, s.Store, "Facts [infra] (showing 1/1):\n  [infra/cdn]: akamai (conf: 95%, confirmed 2x) since 2026-01-02 by user")
	must[Learned](t)(Pattern(t.Context(), s.Store, Lesson{Type: "naming", Value: "names are nouns"}))
	s.days(1)
	expect("a pattern is told like any other fact", Question{Category: "pattern"}, s.Store, "Facts [pattern] (showing 1/1):\n  [pattern/naming]: names are nouns (conf: 80%) since 2026-01-16 by cursor-a3f8")
}

// Who and since when cost at most 16 tokens a line, also with a long name.
func TestOriginIsShort(t *testing.T) {
	exact := codec.NewO200kBase()
	for _, agent := range []string{"cursor-a3f8", "claude-code-b7e2", "github-copilot-0c1d", "release manager of the payments team-9f3e", ""} {
		s := testStore(t, nil)
		by := s.As(Actor{Agent: agent})
		must[Remembered](t)(by.Remember(t.Context(), Assertion{Category: "infra", Key: "cdn", Value: "akamai"}))
		s.days(60)
		text := must[Recalled](t)(s.Recall(t.Context(), Question{Category: "infra"})).Text()
		_, origin, ok := strings.Cut(text, "%)")
		if n, err := exact.Count(origin); err != nil || !ok || n > 16 || n < 6 {
			t.Errorf("%q takes %d tokens", origin, n)
		}
	}
}

// A question that names a fact without a current value, by its exact key or in words, is told
// what became of the fact. A fact that is listed is told with its plan.
func TestWhatBecameOfAFact(t *testing.T) {
	s := testStore(t, nil)
	for _, a := range []Assertion{
		{Category: "architecture", Key: "database", Value: "MySQL 8", Aliases: []string{"rdbms"}},
		{Category: "ops", Key: "freeze window", Value: "no deploys", ValidUntil: "2026-02-01"},
		{Category: "legal", Key: "licence", Value: "Apache-2", ValidFrom: "2026-12-01"},
		{Category: "api", Key: "version", Value: "v3"},
		{Category: "ops", Key: "backups", Value: "nightly, of all tables"},
	} {
		s.remember(t, a)
	}
	s.remember(t, Assertion{Category: "api", Key: "version", Value: "v4", ValidFrom: "2026-12-01"})
	s.remember(t, Assertion{Category: "ops", Key: "rehearsal", Value: "open", ValidUntil: "2026-09-01"})
	s.days(30)
	must[Withdrawn](t)(s.As(Actor{Agent: "codex-1acc"}).Remove(t.Context(), Withdrawal{Category: "architecture", Key: "database"}))
	const (
		removed = "No current fact [architecture/database]: removed 2026-02-14 by codex-1acc (was 'MySQL 8')."
		ended   = "No current fact [ops/freeze window]: ended 2026-02-01 (was 'no deploys')."
		planned = "No current fact [legal/licence]: planned from 2026-12-01: 'Apache-2' by cursor-a3f8."
	)
	for _, tt := range []struct {
		q    Question
		want string
	}{
		{Question{Key: "database"}, removed},
		{Question{Category: "architecture", Key: "database"}, removed},
		{Question{Category: "ops", Key: "database"}, "No facts matching 'database'."},
		{Question{Query: "RDBMS", Mode: "exact"}, removed},
		{Question{Query: "database"}, removed},
		{Question{Query: "which database do we use?"}, removed},
		{Question{Query: "which db do we use?"}, removed},
		{Question{Query: "when is the freeze window?", Category: "ops"}, ended},
		{Question{Key: "licence"}, planned},
		{Question{Query: "what is our licence"}, planned},
		{Question{Query: "the database that the finance department orders its quarterly numbers from"}, "No facts matching "},
		{Question{Query: "MySQL"}, removed},
		{Question{Key: "database", AsOf: "2026-02-20"}, "No facts valid at 2026-02-20."},
		{Question{Query: "database", Prompt: true}, "No facts matching 'database'."},
		{Question{Key: "nothing"}, "No facts matching 'nothing'."},
	} {
		got := s.recall(t, tt.q).Text()
		if !strings.HasPrefix(got, tt.want) || strings.Count(got, "No current fact") != strings.Count(tt.want, "No current") {
			t.Errorf("%+v: %s\nwant %s", tt.q, got, tt.want)
		}
	}
	for key, want := range map[string]string{
		"version":   `\(conf: 80%\) since 2026-01-15 by cursor-a3f8; planned from 2026-12-01: 'v4' by cursor-a3f8$`,
		"rehearsal": `conf: 80%\) since 2026-01-15 by cursor-a3f8; ends 2026-09-01$`,
		"backups":   `since 2026-01-15 by cursor-a3f8$`,
	} {
		if got := s.recall(t, Question{Key: key}).Text(); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: %s", key, got)
		}
	}
	// An answer that is found stands first.
	got := s.recall(t, Question{Query: "database backups", Mode: "lexical"}).Text()
	if !regexp.MustCompile(`^Matching facts[^\n]*\n  \[ops/backups\][^\n]*\n  ` + regexp.QuoteMeta(removed) + `$`).MatchString(got) {
		t.Error(got)
	}
	// What was erased leaves nothing to tell.
	must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "architecture", Key: "database", Erase: true}))
	if got := s.recall(t, Question{Key: "database"}).Text(); got != "No facts matching 'database'." {
		t.Error(got)
	}
}

// A fact is found by a name that it had, until another fact takes that name over.
func TestFormerNameFindsTheFact(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "architecture", Key: "db", Value: "PostgreSQL 16"})
	s.rename(t, NewName{Category: "architecture", Key: "db", To: "architecture/database"})
	s.rename(t, NewName{Category: "architecture", Key: "database", To: "storage/main"})
	for _, q := range []Question{{Category: "architecture", Key: "db"}, {Category: "architecture/db"}, {Category: "Architecture", Key: "database"}} {
		if got := s.recall(t, q).Text(); !strings.Contains(got, "[storage/main]: PostgreSQL 16") {
			t.Errorf("%+v: %s", q, got)
		}
	}
	s.remember(t, Assertion{Category: "architecture", Key: "db", Value: "SQLite, for tests"})
	if got := s.recall(t, Question{Category: "architecture", Key: "db"}).Text(); !strings.Contains(got, "SQLite") || strings.Contains(got, "PostgreSQL") {
		t.Errorf("taken over: %s", got)
	}
}
