package verdict

import (
	"strings"
	"testing"
	"time"

	"leanctx/internal/proctest"
)

// A rewording says the same in other words that the rules know.
var rewordings = [][2]string{
	{"Request timeout is 500 ms", "request timeout is 0.5 s"},
	{"Request timeout is 500ms", "request timeout is 500 milliseconds."},
	{"Upload limit: 10 MB", "Upload limit 10MB"},
	{"Upload limit is 10,000,000 bytes", "Upload limit is 10 MB"},
	{"Cache is 2 GiB", "Cache is 2048 MiB"},
	{"Session lives for 90 minutes", "Session lives for 1h30m"},
	{"Session lives for 1 hour 30 minutes", "Session lives for 90 min"},
	{"Tokens expire after one day", "Tokens expire after 24 hours"},
	{"Keep coverage above 80%", "Keep coverage above 80 percent"},
	{"Error budget is 0.5 %", "error budget is 0.5 per cent"},
	{"Budget is $5,000", "Budget is 5000 USD"},
	{"We run three replicas", "We run 3 replicas"},
	{"We run twenty-five workers", "we run 25 workers"},
	{"Batch size is a hundred", "Batch size is 100"},
	{"Batches hold two dozen rows", "Batches hold 24 rows"},
	{"Limit 10,000 requests", "limit 10 000 requests"},
	{"Limit 10_000 requests", "Limit 10'000 requests"},
	{"Limit 10k requests", "Limit ten thousand requests"},
	{"1.5 million rows", "1,500,000 rows"},
	{"Supports Linux, macOS and Windows", "Supports Windows, Linux, and macOS"},
	{"Databases: MySQL, PostgreSQL, SQLite", "Databases: SQLite, MySQL and PostgreSQL"},
	{"Uses Redis and Postgres", "uses Postgres and Redis"},
	{"Redis and Postgres are required", "Postgres and Redis are required"},
	{"Node 20, Postgres 16, Redis 7", "Redis 7, Node 20, Postgres 16"},
	{"Never commit keys, tokens or passwords", "Never commit tokens, passwords or keys"},
	{"port: 8080", "port 8080"},
	{"port=8080", "port: 8080"},
	{"port = 8080", "port:8080"},
	{"Log level is `debug`", "Log level is debug"},
	{`Log level is "debug"`, "Log level is 'debug'"},
	{"Log level is “debug”", "Log level is debug"},
	{"PostgreSQL (version 16)", "PostgreSQL version 16"},
	{"Go >= 1.22", "Go ≥1.22"},
	{"The colour of the licence badge", "color of license badge"},
	{"Normalise and serialise the catalogue", "normalize and serialize the catalog"},
	{"Behaviour of cancelled jobs", "behavior of canceled jobs"},
	{"Don't cache errors", "Do not cache errors"},
	{"It's deployed weekly; we can't roll back", "It is deployed weekly; we cannot roll back"},
	{"Use a token in the header", "use token in header"},
	{"JWT RS256", "  jwt \n RS256. "},
	{"Das Tor ist groß", "das Tor ist GROSS"},
	{"テストを書く。", "テストを書く"},
	{"a 30-second timeout", "30 second timeout"},
	{"rate is 10 MB/s", "rate is 10000 kB/s"},
	{"link of 100 Mbps", "link of 100 Mbit/s"},
	{"Released v1.4.0", "Released 1.4.0"},
	{"Go v1.22", "Go version 1.22"},
	{"Request timeout is 30s", "Request timeout is half a minute"},
	{"Tokens expire after an hour", "Tokens expire after 60 minutes"},
	{"Listens on :8080", "listens on port 8080"},
	{"Uses PostgreSQL 16", "PostgreSQL 16"},
	{"We use tabs", "tabs"},
	{"enabled", "true"}, {"on", "yes"}, {"Off.", "disabled"},
}

// What repeats the key says no more than the rest.
func TestKeyIsNotPartOfTheValue(t *testing.T) {
	for _, tt := range []struct {
		key, old, now string
		want          Kind
	}{
		{"request-timeout", "30s", "Request timeout: 30 seconds", Equal},
		{"requestTimeout", "the request timeout is 30 s", "30s", Equal},
		{"port", "port 8080", ":8080", Equal},
		{"port", "port=8080", "8080", Equal},
		{"telemetry", "telemetry is enabled", "true", Equal},
		{"telemetry", "telemetry is enabled", "telemetry: off", Different},
		{"telemetry", "no telemetry", "telemetry", Different},
		{"telemetry", "enabled", "enabled in production", Refined},
		{"primary", "primary db1", "db1", Different}, // a word of order counts
		{"port", "8080", "9090", Different},
		{"timeout", "timeout, 30 s", "30 s", Different},
	} {
		if got := Compare(tt.key, tt.old, tt.now); got != tt.want {
			t.Errorf("key %q, %q, %q: %v, want %v", tt.key, tt.old, tt.now, got, tt.want)
		}
	}
}

// What looks alike and is a change is no confirmation, in whichever order it is said.
func TestChangeIsNotTakenForARewording(t *testing.T) {
	for _, tt := range [][3]string{
		{"tabs-vs-spaces", "tabs everywhere", "spaces everywhere"}, // one word of the key tells which
		{"staging-prod-hosts", "staging is db1", "prod is db1"},
		{"read-write-mode", "read only", "write only"},
		{"telemetry-disabled", "disabled", "false"}, // the key denies
		{"disable-telemetry", "enabled", "true"},
		{"telemetry-off", "off", "false"},
		{"limits", "Soft and hard limit: 100 and 200", "Soft and hard limit: 200 and 100"}, // one to one
		{"db", "Dev and prod databases: sqlite and postgres", "Dev and prod databases: postgres and sqlite"},
		{"db", "dev/prod use sqlite and postgres", "dev/prod use postgres and sqlite"},
		{"soft-and-hard-limit", "100 and 200", "200 and 100"},
		{"color", "255, 0, 0", "0, 0, 255"},
		{"backoff", "delays of 1 s, 5 s, 30 s", "delays of 30 s, 5 s, 1 s"},
		{"deploy", "not (weekend and holiday)", "not weekend and holiday"},
		{"total", "a - (b - c)", "a - b - c"},
		{"release-tag", "v1.4.0", "1.4.0"}, // what somebody types
		{"timeout-format", "30s", "30 seconds"},
		{"test-command", `go test -run "A B"`, "go test -run A B"},
		{"unpack", "tar xf x.tar -C out", "tar xf x.tar -c out"},
	} {
		if Compare(tt[0], tt[1], tt[2]) != Different || Compare(tt[0], tt[2], tt[1]) != Different {
			t.Errorf("key %q: %q and %q are not told apart", tt[0], tt[1], tt[2])
		}
	}
	for _, tt := range [][3]string{
		{"test-command", "`go test ./...`", "go test ./..."},
		{"test-command", "We use `make check`.", "make check"},
		{"ports", "80, 443 and 8080", "443, 8080 and 80"},
		{"telemetry", "enabled", "true"},
		{"APIKey-owner", "API key owner is Alice", "Alice"},
	} {
		if Compare(tt[0], tt[1], tt[2]) != Equal {
			t.Errorf("key %q: %q and %q are not the same", tt[0], tt[1], tt[2])
		}
	}
}

func TestEndOfABugIsNoContradiction(t *testing.T) {
	bug := "Login crashes on an empty password"
	for now, want := range map[string]bool{
		bug + ", fixed in #412":           true,
		"Fixed: login crashed on a token": false,
		"fixed in #412":                   true,
		"Done":                            true,
		bug + ", not fixed":               false,
		"not fixed in #412":               false,
		"Search crashes, fixed in #412":   false,
		"fixed 20 Hz":                     false,
		"closed source":                   false,
	} {
		if got := Canonical("login", bug).ResolvedBy(Canonical("login", now)); got != want {
			t.Errorf("%q: %v, want %v", now, got, want)
		}
	}
	if Canonical("", "fixed in #400").ResolvedBy(Canonical("", "fixed in #412")) {
		t.Error("what was resolved is resolved again")
	}
}

func TestLeavingOutSaysNothingElse(t *testing.T) {
	for _, tt := range []struct {
		old, now string
		want     bool
	}{
		{"PostgreSQL 16 on RDS", "PostgreSQL 16", true},
		{"PostgreSQL 16 on RDS", "PostgreSQL 15", false},
		{"Supports Linux and macOS", "Supports Linux", false},
		{"PostgreSQL 16", "PostgreSQL 16 on RDS", false},
	} {
		if got := Canonical("", tt.old).SaysMoreThan(Canonical("", tt.now)); got != tt.want {
			t.Errorf("%q, %q: %v, want %v", tt.old, tt.now, got, tt.want)
		}
	}
}

func TestRewordingIsEqual(t *testing.T) {
	for _, p := range rewordings {
		if got := Compare("", p[0], p[1]); got != Equal {
			t.Errorf("%q, %q: %v\n%v\n%v", p[0], p[1], got, Canonical("", p[0]).atoms, Canonical("", p[1]).atoms)
		}
		if a, b := Canonical("", p[0]).Hash(), Canonical("", p[1]).Hash(); a != b {
			t.Errorf("%q, %q: hashes %x, %x", p[0], p[1], a, b)
		}
	}
}

// A refinement says all that the old value says, and more.
var refinements = [][2]string{
	{"PostgreSQL 16", "PostgreSQL 16 on RDS"},
	{"PostgreSQL 16", "Database is PostgreSQL 16 with pgvector"},
	{"JWT", "JWT RS256"},
	{"Uses JWT for auth", "Uses JWT RS256 for auth"},
	{"Uses JWT for auth", "Auth service: uses JWT for auth, rotated weekly"},
	{"Deploys run on Fridays", "Deploys run on Fridays at 10:00 UTC"},
	{"Request timeout 30 s", "Request timeout is 30 seconds for reads"},
	{"Retry 3 times", "Retry three times with 100 ms backoff"},
	{"Supports Linux", "Supports Linux and macOS"},
	{"Supports Linux, macOS and Windows", "Supports FreeBSD, Windows, macOS and Linux"},
	{"The API is written in Go", "The public API is written in Go 1.22"},
	{"Never force-push", "Never force-push to main"},
	{"Do not log secrets", "Do not log secrets, tokens and passwords"},
	{"Tests run in CI", "Tests run in CI on every push"},
	{"Cache TTL 5 minutes", "Redis cache TTL is 5 minutes"},
	{"Owner: Ada", "Owner: Ada and Tom"},
	{"Primary region eu-central-1", "Primary region eu-central-1, standby eu-west-1"},
	{"Uses PostgreSQL", "Uses PostgreSQL instead of MySQL"},
	{"Builds with Go", "Builds with Go without CGO"},
	{"Max 10 connections", "Max 10 idle connections per host"},
	{"Errors go to Sentry", "Errors and panics go to Sentry; alerts go to the on-call"},
	{"Use tabs", "Use tabs in Go files"},
	{"Uses Redis cluster", "Uses Redis 7 cluster"},
	{"userId is a UUID", "userId is a UUID v7"},
}

func TestRefinementIsRefined(t *testing.T) {
	for _, p := range refinements {
		if got := Compare("", p[0], p[1]); got != Refined {
			t.Errorf("%q, %q: %v", p[0], p[1], got)
		}
		if got := Compare("", p[1], p[0]); got != Different {
			t.Errorf("back from %q to %q: %v", p[1], p[0], got)
		}
	}
}

// Contradictions: both cannot hold at once.
var contradictions = [][2]string{
	{"PostgreSQL 15", "PostgreSQL 16"},
	{"Database is MySQL", "Database is PostgreSQL"},
	{"Deploy on Fridays", "Never deploy on Fridays"},
	{"Deploy on Fridays", "Deploy on Fridays is forbidden"},
	{"Cache responses", "Do not cache responses"},
	{"Push to main", "Push to main is not allowed"},
	{"Uses JWT, not OAuth, for auth", "Uses OAuth, not JWT, for auth"},
	{"Timeout is 15 minutes", "Timeout is 30 minutes"},
	{"Port is 8080", "Port is 9090, admin port is 8080"},
	{"Primary is db1", "Primary is db2, standby is db1"},
	{"Primary is db1 and db2 is replica", "Primary is db2 and db1 is replica"},
	{"Alice reviews Bob and Carol reviews Dave", "Alice reviews Carol and Bob reviews Dave"},
	{"Owner is Tom", "Owner is Ada, Tom was owner"},
	{"Uses MySQL", "Used MySQL until May"},
	{"Uses MySQL", "Migrated from MySQL to PostgreSQL"},
	{"Limit is 100", "Limit raised from 100 to 200"},
	{"Limit is 100", "Limit is 100 to 200"},
	{"Uses Redis", "Uses Redis or Memcached"},
	{"Tests are required", "Tests are no longer required"},
	{"Telemetry enabled", "Telemetry disabled"},
	{"Run lint before build", "Run build before lint"},
	{"Prefer tabs over spaces", "Prefer spaces over tabs"},
	{"Uses MySQL", "Uses PostgreSQL instead of MySQL"},
	{"Uses MySQL", "Uses MySQL only in tests"},
	{"backup hosts are db1, db2, and db3 is primary", "backup hosts are db1, db3, and db2 is primary"},
	{"Feature X is supported", "Feature X is deprecated"},
	{"PostgreSQL 16", "PostgreSQL 16 → 17"},
	{"Session lives for 1 h", "Session lives for 1 h 30 min"},
	{"Batch of 10", "Batch of 10 thousand"},
	{"Blocked by the API", "Blocked by the API, fixed"},
	{"The Rocky Horror Show", "The Rocky Horror Picture Show"},
	{"Tom owns billing, search, Ada owns mail, docs", "Tom owns billing, docs, Ada owns mail, search"},
}

// tricky pairs look alike and are not equal.
var tricky = [][2]string{
	{"userId", "userid"}, {"src/Auth.go", "src/auth.go"}, {"Max_Size", "max_size"}, {"OAuth2", "oauth2"}, {"$HOME", "$Home"},
	{"C", "C#"}, {"C", "C++"}, {"100", "100%"}, {"v1.2", "v1,2"}, {"a b", "ab"}, {"wait..", "wait"},
	{"Go 1.20", "Go 1.2"}, {"v2", "2"}, {"1.0", "1"}, {"007", "7"}, {"v1.2.3", "v1.2.4"}, {"bleve v2.6.1", "bleve v2.6.10"},
	{"10 MB", "10 MiB"}, {"10 MB", "10 Mb"}, {"5m", "5M"}, {"500 ms", "500 s"}, {"500 ms", "500"}, {"5 m", "5 minutes"},
	{"$5", "€5"}, {"50%", "0.5"}, {"-5", "5"}, {"+5", "5"}, {"~5", "5"}, {">5", "<5"}, {">5", ">=5"}, {"5-10", "5 10"}, {"5x", "5"},
	{"may cache", "must cache"}, {"use Redis", "used Redis"}, {"is public", "was public"}, {"never cache", "not cache"},
	{"team A owns it", "team owns it"}, {"plan a", "plan"}, {"a + b", "+ b"},
	{`separator is ","`, `separator is ";"`}, {`quote with "'"`, "quote with '\"'"}, {"foo()", "foo"}, {"arr[0]", "arr[1]"},
	{"a and (b or c)", "(a and b) or c"}, {"no, deploy on Friday", "no deploy on Friday"},
	{"lint, test, then deploy", "test, lint, then deploy"}, {"default Postgres, MySQL, SQLite", "default MySQL, Postgres, SQLite"},
	{"Postgres, Redis and Kafka 3.6", "Redis, Kafka and Postgres 3.6"},
	{"staging and prod use SQLite and Postgres", "staging and prod use Postgres and SQLite"},
	{"A reports to Bob and Carol to Dave", "A reports to Carol and Bob to Dave"},
	{"from A to B, C and D", "from A to C, B and D"}, {"ports 1, 2, 2", "ports 1, 2"}, {"a, b or c", "a, b and c"},
	{"localhost:8080", "localhost:8081"}, {"2026-01-15", "2026-01-16"}, {"10:30", "10:31"}, {"ab1", "ab2"},
	{"x" + strings.Repeat("y", 300) + "1", "x" + strings.Repeat("y", 300) + "2"},
	{"99999999999999999999 GB", "99999999999999999998 GB"}, {"18446744073709551615 weeks", "18446744073709551614 weeks"},
	{"v1.4.0", "v1.4"}, {"v2", "version 3"}, {"half a minute", "half a year"}, {"half a minute", "a minute"}, {":8080", ":8081"}, {"true", "false"},
	{"on", "off"}, {"true", "not true"}, {"enabled", "disabled"}, {"used tabs", "tabs"}, {"a second region", "1 s region"}, {"plan A day", "plan 1 day"},
	{"is not public", "public"}, {"uses", "use"},
	{"not", "no"}, {"\xff", "\xfe"}, {"cache \x00 a", "cache \x00 b"}, {"wait:", "wait"},
}

func TestContradictionIsDifferent(t *testing.T) {
	for _, p := range contradictions {
		if got := Compare("", p[0], p[1]); got != Different {
			t.Errorf("%q, %q: %v", p[0], p[1], got)
		}
	}
}

func TestTrickyPairIsNotEqual(t *testing.T) {
	for _, p := range tricky {
		if Compare("", p[0], p[1]) == Equal || Compare("", p[1], p[0]) == Equal {
			t.Errorf("%q, %q: equal", p[0], p[1])
		}
		if Canonical("", p[0]).Hash() == Canonical("", p[1]).Hash() {
			t.Errorf("%q, %q: one hash", p[0], p[1])
		}
	}
}

func TestKeySpeaksOfOrder(t *testing.T) {
	old, now := "lint, build, test", "build, test, lint"
	for key, want := range map[string]Kind{
		"checks": Equal, "": Equal, "deploy-order": Different, "releaseSteps": Different, "ci_pipeline": Different, "STAGES": Different,
	} {
		if got := Compare(key, old, now); got != want {
			t.Errorf("key %q: %v, want %v", key, got, want)
		}
	}
}

// TestLargeValue compares 64 KiB of one thing with 64 KiB of prose, in the same run. What was
// quadratic took a thousand times as long and more.
func TestLargeValue(t *testing.T) {
	const size = 64 << 10
	least := func(unit string, enough time.Duration) time.Duration {
		v := strings.Repeat(unit, size/len(unit))
		return proctest.Best(enough, func() {
			for _, w := range []string{v + " x", "x " + v, v[:len(v)/2]} {
				Compare("", v, w)
			}
		})
	}
	floor := least("The session token of the auth service is kept in Redis for 30 minutes, see src/auth/token_store.go. ", 0)
	for _, unit := range []string{"a", "9", "(", ")", "\"", "a, ", "a,", "no ", "the ", "a and ", "1 ", "100 ", "one ", "[", "]", "}", "-", "'", ".", ", ", "A", "日", "é ", "x=1 ", "1h ", "running ", "aaa ", "\xff", "1,000,", "it's "} {
		took := least(unit, 50*floor)
		t.Logf("%-10q %8v (%.1f times prose)", unit, took.Round(10*time.Microsecond), float64(took)/float64(floor))
		if took > 50*floor {
			t.Errorf("%q repeated: %v, prose %v", unit, took, floor)
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	for name, p := range map[string][2]string{
		"equal":     {"Supports Linux, macOS and Windows; the request timeout is 500 ms", "Supports Windows, Linux and macOS; request timeout is 0.5 s"},
		"refined":   {"Uses JWT with RS256 for all service authentication", "Uses JWT with RS256 for all service authentication, keys are rotated weekly by the platform team"},
		"different": {"Sessions are stored in Redis for fifteen minutes and renewed on use", "Sessions are kept in PostgreSQL for 30 minutes and never renewed"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Compare("auth", p[0], p[1])
			}
		})
	}
}
