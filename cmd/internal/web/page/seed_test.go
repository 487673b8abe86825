package page_test

import (
	"bytes"
	"strings"
	"sync"
)

// seed tells a small project's story through commands: facts in time, disputes, agents,
// tasks and a plan. codex runs a command as another client's agent.
func seed(lc func(...string) string, codex func(string, ...string)) {
	remember := func(category, key, value string, more ...string) {
		lc(append([]string{"knowledge", "remember", value, "-c", category, "-k", key}, more...)...)
	}
	for _, f := range [][4]string{
		{"architecture", "auth", "JWT RS256 in httpOnly cookies", "2026-03-16"},
		{"architecture", "database", "MySQL 8 on RDS", "2025-06-01"},
		{"architecture", "cache", "Redis 7, only for sessions and rate limits", "2026-01-10"},
		{"architecture", "queue", "SQS; each consumer is idempotent by message id", "2026-02-02"},
		{"architecture", "api", "REST with OpenAPI 3.1; breaking changes get a new major path", "2026-02-20"},
		{"convention", "errors", "Wrap errors with %w and the name of the operation", "2026-01-20"},
		{"convention", "tests", "Table tests beside the code; no sleeps", "2026-04-01"},
		{"workflow", "deploy", "Merge to main deploys to staging; production by tag", "2026-02-14"},
		{"workflow", "migrations", "Goose, forward only; each one is tried on a copy of production", "2026-05-05"},
		{"security", "passwords", "argon2id, 64 MiB, 3 passes", "2026-03-15"},
		{"security", "tokens", "Access tokens live 15 minutes, refresh tokens 30 days", "2026-06-12"},
		{"dependency", "node", "24 LTS", "2026-01-14"},
		{"team", "owner-auth", "Jonas", "2026-02-12"},
		{"status", "billing-migration", "Invoices of 2024 are moved, 2023 is running", "2026-11-02"},
	} {
		remember(f[0], f[1], f[2], "--valid-from", f[3], "--confidence", "0.95")
	}
	remember("architecture", "auth", "JWT RS256 in httpOnly cookies", "--confidence", "0.95")
	remember("architecture", "auth", "OAuth2 + PKCE", "--valid-from", "2026-09-20", "--confidence", "0.9", "--source", "src/auth.ts:12", "--questions", "how do users sign in")
	remember("architecture", "database", "PostgreSQL 16 on RDS, one writer and two readers", "--valid-from", "2026-02-18")
	remember("architecture", "database", "PostgreSQL 17 on RDS, one writer and two readers", "--valid-from", "2027-01-10")
	remember("architecture", "database", "PostgreSQL 16.4 on RDS, one writer and two readers", "--correct")
	remember("security", "passwords", "argon2id, 64 MiB, 3 passes", "--source", "user", "--pinned")
	remember("workflow", "deploy", "Merge to main deploys to staging; production by tag", "--source", "user")
	for _, f := range [][3]string{
		{"security", "passwords", "bcrypt with cost 12"}, {"workflow", "deploy", "Every merge to main deploys to production at once"}, {"dependency", "node", "22 LTS"},
	} {
		codex("1", "knowledge", "remember", f[2], "-c", f[0], "-k", f[1], "--confidence", "0.3")
	}
	remember("convention", "retry-policy", "Clients retry failed requests three times with jitter")
	remember("workflow", "retries", "Clients retry failed requests three times, with a jitter")
	lc("knowledge", "relate", "architecture", "auth", "security/tokens", "--kind", "depends_on")
	lc("knowledge", "relate", "architecture", "auth", "architecture/cache", "--kind", "depends_on")
	lc("knowledge", "relate", "architecture", "api", "architecture/auth", "--kind", "depends_on")
	id := func(kind, role string) string {
		return strings.Fields(lc("agent", "register", kind, "--role", role))[1]
	}
	cursor, reviewer := id("cursor", "implementing OAuth2"), id("codex", "review")
	lc("agent", "claim", "src/auth.ts", "--ttl", "2h", "--agent", cursor)
	lc("agent", "post", "auth is half migrated, rebase before you touch src/auth.ts", "--category", "warning", "--agent", cursor)
	lc("agent", "post", "Found an N+1 query in loadInvoices", "--category", "finding", "--agent", reviewer)
	lc("agent", "status", "active", "--message", "writing the PKCE tests", "--agent", cursor)
	task := strings.Fields(lc("task", "create", "Fix auth middleware", "--to-agent", "codex", "--agent", cursor))[2]
	lc("task", "update", task, "Working", "--agent", reviewer)
	lc("task", "create", "Move to OAuth2", "--agent", cursor)
}

// lockedBuffer is written to by a process while a test reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
