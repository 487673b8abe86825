package knowledge_test

import (
	"strings"
	"testing"

	. "leanctx/knowledge"
)

// What one agent says, and what another one says later under the same key. The pairs are
// others than those of package verdict.
var secondWords = map[string][][3]string{
	"reworded": {
		{"http timeout", "The HTTP timeout is 2 minutes", "HTTP timeout is 120 s"},
		{"upload", "Uploads are limited to 25 MB", "uploads are limited to 25MB."},
		{"workers", "We run twelve workers", "we run 12 workers"},
		{"rows", "A page shows 1,000 rows", "a page shows 1000 rows"},
		{"os", "Supported: macOS, Linux, Windows", "Supported: Linux, Windows and macOS"},
		{"port", "port: 5432", "port 5432"},
		{"go", "Go >= 1.26", "Go ≥ 1.26"},
		{"errors", "Don't retry on 4xx", "Do not retry on 4xx"},
		{"licence", "The licence is Apache-2.0", "The license is Apache-2.0"},
		{"colour", "Brand colour is teal", "brand color is teal"},
		{"coverage", "Coverage must stay above 75%", "coverage must stay above 75 percent"},
		{"branch", "Default branch is `main`", "default branch is main"},
		{"level", `Log level is "info"`, "Log level is info"},
		{"db", "PostgreSQL (version 16)", "PostgreSQL version 16"},
		{"cache", "Entries live for 1 hour", "entries live for 60 minutes"},
		{"memory", "Limit is 1 GiB", "limit is 1024 MiB"},
		{"price", "The plan costs $20", "the plan costs 20 USD"},
		{"deploy", "It's deployed from the main branch", "It is deployed from main branch"},
		{"queue", "Retries and dead letters go to NATS", "retries and dead letters go to NATS."},
		{"header", "Send the token in a header", "Send token in header"},
	},
	"refined": {
		{"db", "PostgreSQL 16", "PostgreSQL 16 on Hetzner"},
		{"auth", "JWT", "JWT signed with RS256"},
		{"tests", "Tests run in CI", "Tests run in CI with the race detector"},
		{"style", "Use tabs", "Use tabs, also in SQL files"},
		{"queue", "Jobs go through NATS", "Jobs go through NATS JetStream"},
		{"push", "Never push to main", "Never push to main without a review"},
		{"cache", "Cache is Redis 7", "Cache is Redis 7 with 2 GB of memory"},
		{"owner", "Ada owns billing", "Ada owns billing and invoices"},
		{"deploy", "Deploys run on Tuesdays", "Deploys run on Tuesdays at 09:00"},
		{"logs", "Logs go to Loki", "Logs go to Loki and are kept for 30 days"},
		{"retry", "Retry 5 times", "Retry 5 times with jitter"},
		{"build", "Build with make release", "Build with make release VERSION=x"},
		{"timeout", "Request timeout is 10 s", "Request timeout is 10 s for uploads too"},
		{"regions", "Runs in eu-central-1", "Runs in eu-central-1 and us-east-1"},
		{"linter", "golangci-lint", "golangci-lint v2 with the staticcheck rules"},
		{"secrets", "Secrets are in Vault", "Secrets are in Vault under kv/app"},
		{"api", "The API is REST", "The API is REST with JSON bodies"},
		{"migrations", "Migrations are written in SQL", "Migrations are written in SQL and run by goose"},
		{"mail", "Mail is sent by Postmark", "Transactional mail is sent by Postmark"},
		{"frontend", "The frontend is Svelte", "The frontend is Svelte 5 with TypeScript"},
	},
	"contradicted": {
		{"db", "MySQL 8", "PostgreSQL 16"},
		{"port", "The server listens on 8080", "The server listens on 9090"},
		{"deploy day", "Deploy on Fridays", "Never deploy on Fridays"},
		{"owner", "Tom owns billing", "Ada owns billing"},
		{"telemetry", "Telemetry is enabled", "Telemetry is disabled"},
		{"timeout", "Requests time out after 30 s", "Requests time out after 30 ms"},
		{"auth", "Sessions are kept in Redis", "Sessions are kept in signed cookies"},
		{"review", "A change needs one review", "A change needs two reviews"},
		{"indent", "Indent with tabs", "Indent with spaces"},
		{"registry", "Images are pushed to GHCR", "Images are pushed to ECR"},
		{"go version", "Go 1.25", "Go 1.26"},
		{"cache", "Responses are cached", "Responses are not cached"},
		{"region", "Primary region is Frankfurt", "Primary region is Dublin"},
		{"retention", "Logs are kept for 14 days", "Logs are kept for 90 days"},
		{"order", "Run lint before tests", "Run tests before lint"},
		{"licence", "The code is MIT", "The code is AGPL"},
		{"limit", "At most 100 requests a minute", "At most 1000 requests a minute"},
		{"merge", "Squash merges only", "Squash merges are forbidden"},
		{"replicas", "Three replicas", "Five replicas"},
		{"leader", "db1 is the primary and db2 the standby", "db2 is the primary and db1 the standby"},
	},
}

// Another agent's word raises an alarm where it contradicts the first one. It raises none where
// it says the same in other words, or more of it.
func TestAlarmsOverAnotherAuthorsWord(t *testing.T) {
	type count struct{ confirmed, refined, alarms int }
	got := map[string]count{}
	for kind, pairs := range secondWords {
		if len(pairs) != 20 {
			t.Fatalf("%d pairs %s", len(pairs), kind)
		}
		s := testStore(t, nil)
		first, second := s.As(Actor{Agent: "cursor-a3f8"}), s.As(Actor{Agent: "codex-1acc"})
		c := count{}
		for _, p := range pairs {
			must[Remembered](t)(first.Remember(t.Context(), Assertion{Category: "project", Key: p[0], Value: p[1]}))
			s.days(1)
			r := must[Remembered](t)(second.Remember(t.Context(), Assertion{Category: "project", Key: p[0], Value: p[2]}))
			alarm := strings.Contains(r.Text(), "CONTRADICTION DETECTED")
			switch {
			case alarm:
				c.alarms++
			case r.Outcome == Confirmed:
				c.confirmed++
			case r.Outcome == Refined:
				c.refined++
			}
			if want := map[string]bool{"reworded": r.Outcome == Confirmed, "refined": r.Outcome == Refined, "contradicted": alarm}; !want[kind] {
				t.Logf("%s, but %s: %q, %q", kind, r.Outcome, p[1], p[2])
			}
		}
		got[kind] = c
	}
	t.Logf("%+v", got)
	if c := got["reworded"]; c.confirmed < 18 || c.alarms > 0 {
		t.Errorf("20 rewordings: %+v", c)
	}
	if c := got["refined"]; c.refined < 17 || c.alarms > 0 {
		t.Errorf("20 refinements: %+v", c)
	}
	if c := got["contradicted"]; c.alarms < 19 {
		t.Errorf("20 contradictions: %+v", c)
	}
}

// Another agent that reports the end of a bug, or leaves a detail out, contradicts nobody. What
// it said before stands in the answer.
func TestEndOfABugRaisesNoAlarm(t *testing.T) {
	for _, tt := range []struct {
		now   string
		alarm bool
	}{
		{"Login crashes on an empty password, fixed in #412", false},
		{"fixed in #412", false},
		{"Login crashes", false},
		{"Login crashes on an empty user name", true},
		{"not fixed in #412", true},
	} {
		s := testStore(t, nil)
		must[Remembered](t)(s.As(Actor{Agent: "cursor-a3f8"}).Remember(t.Context(), Assertion{Category: "bug", Key: "login", Value: "Login crashes on an empty password"}))
		r := must[Remembered](t)(s.As(Actor{Agent: "codex-1acc"}).Remember(t.Context(), Assertion{Category: "bug", Key: "login", Value: tt.now}))
		if text := r.Text(); strings.Contains(text, "CONTRADICTION") != tt.alarm || !strings.Contains(text, "Login crashes on an empty password") {
			t.Errorf("%q: alarm %v wanted:\n%s", tt.now, tt.alarm, text)
		}
	}
}
