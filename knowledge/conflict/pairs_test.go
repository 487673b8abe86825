package conflict

// pair is two facts of one project under different keys, the older one first. The
// pairs stand in the order in which they were written. The rules were made while
// looking at the even ones alone; the odd ones are held out.
type pair struct {
	old, new Statement
	conflict bool
}

func p(oldKey, old, newKey, new string, conflict bool) pair {
	return pair{Statement{oldKey, old}, Statement{newKey, new}, conflict}
}

var pairs = []pair{
	// They cannot both hold.
	p("architecture/db", "MySQL 8", "decision/database", "PostgreSQL 16", true),
	p("architecture/storage", "Orders are stored in MySQL", "decision/order-store", "PostgreSQL holds the orders", true),
	p("team/billing", "Tom owns the billing service", "ownership/billing-service", "Ada is the owner of billing", true),
	p("team/search-lead", "Search is led by Mira", "people/search", "Jonas leads search", true),
	p("config/telemetry", "telemetry is enabled by default", "privacy/tracking", "Telemetry is off by default", true),
	p("security/sso", "SSO is required for all staff", "auth/single-sign-on", "SSO is optional for staff", true),
	p("dependency/bleve", "v2.5.3", "search/engine", "we pin bleve 2.6.0", true),
	p("build/go", "Go 1.22", "ci/toolchain", "CI builds with Go 1.24", true),
	p("workflow/ci", "CI runs on Jenkins", "decision/pipeline", "We moved from Jenkins to GitHub Actions", true),
	p("frontend/state", "Redux keeps the client state", "decision/client-state", "Zustand replaces Redux", true),
	p("api/timeout", "API requests time out after 30 s", "config/request-timeout", "the timeout of API requests is 10 seconds", true),
	p("limits/upload", "Uploads are limited to 10 MB", "storage/max-upload", "maximum upload size: 25 MB", true),
	p("deploy/region", "production runs in eu-central-1", "infra/production", "Production is in us-east-1", true),
	p("infra/host", "hosted on AWS ECS", "deployment/platform", "we host on Google Cloud Run", true),
	p("legal/license", "MIT license", "release/licence", "Licensed under Apache-2.0", true),
	p("style/indent", "indent with tabs", "convention/indentation", "Indentation: two spaces", true),
	p("js/package-manager", "npm", "tooling/packages", "use pnpm as the package manager", true),
	p("python/deps", "dependencies are managed with Poetry", "tooling/python", "Python dependencies: uv", true),
	p("auth/tokens", "Access tokens live 15 minutes", "security/access-token", "access token lifetime is 1 hour", true),
	p("workflow/merge", "Squash merges are forbidden", "convention/merging", "squash merges are allowed", true),
	p("db/migrations", "Migrations run automatically on deploy", "ops/migration", "migrations never run automatically", true),
	p("git/branch", "the default branch is master", "workflow/default-branch", "default branch: main", true),
	p("test/runner", "unit tests run with Jest", "tooling/unit-tests", "Vitest runs the unit tests", true),
	p("queue/broker", "RabbitMQ is the message broker", "architecture/messaging", "message broker: Kafka", true),
	p("api/style", "The public API is REST", "architecture/public-api", "GraphQL is our public API", true),
	p("cache/sessions", "Sessions are cached in Memcached", "architecture/session-cache", "Redis caches sessions", true),
	p("service/port", "the gateway listens on port 8080", "config/gateway", "gateway port: 9090", true),
	p("logging/format", "Logs are plain text", "observability/logs", "logs are written as JSON", true),
	p("release/cadence", "releases happen every two weeks", "process/release", "We release monthly", true),
	p("mobile/minimum", "minimum iOS version is 15", "ios/support", "we support iOS 17 and newer, the minimum version is 17", true),
	// They can.
	p("architecture/db", "PostgreSQL 16", "ops/db-backup", "PostgreSQL is backed up nightly at 03:00", false),
	p("architecture/orders", "Orders are stored in PostgreSQL", "architecture/analytics", "Analytics events go to ClickHouse", false),
	p("team/billing", "Tom owns billing", "team/search", "Ada owns search", false),
	p("team/oncall", "Mira is on call this week", "team/lead", "Jonas leads the platform team", false),
	p("config/telemetry", "telemetry is disabled", "config/crash-reports", "crash reports are enabled", false),
	p("security/sso", "SSO is required for staff", "security/mfa", "MFA is optional for customers", false),
	p("dependency/bleve", "bleve v2.6.1", "dependency/cobra", "cobra v1.10.0", false),
	p("build/go", "Go 1.24", "build/node", "Node 22", false),
	p("workflow/ci", "CI runs on GitHub Actions", "workflow/cd", "Argo CD deploys to the cluster", false),
	p("frontend/framework", "React 19", "backend/framework", "Django 5", false),
	p("api/timeout", "API requests time out after 30 s", "db/timeout", "database queries time out after 5 s", false),
	p("limits/upload", "Uploads are limited to 10 MB", "limits/rate", "100 requests a minute for each client", false),
	p("deploy/staging", "staging runs in eu-west-1", "deploy/production", "production runs in eu-central-1", false),
	p("infra/host", "the API is hosted on AWS ECS", "infra/cdn", "Cloudflare is the CDN", false),
	p("legal/license", "MIT license", "legal/docs", "The documentation is under CC BY 4.0", false),
	p("style/go", "Go code is indented with tabs", "style/yaml", "YAML is indented with two spaces", false),
	p("js/package-manager", "pnpm", "js/bundler", "Vite", false),
	p("python/deps", "dependencies are managed with uv", "python/format", "ruff formats Python code", false),
	p("auth/access", "Access tokens live 15 minutes", "auth/refresh", "Refresh tokens live 30 days", false),
	p("workflow/merge", "Squash merges are allowed", "workflow/force-push", "Force pushes are forbidden", false),
	p("db/migrations", "Migrations run automatically on deploy", "db/seeds", "Seed data is never loaded in production", false),
	p("git/branch", "the default branch is main", "git/release-branch", "releases are cut from branches named release/x.y", false),
	p("test/unit", "unit tests run with Vitest", "test/e2e", "Playwright runs the end-to-end tests", false),
	p("queue/broker", "Kafka is the message broker", "queue/retention", "Kafka keeps messages for 7 days", false),
	p("api/public", "The public API is GraphQL", "api/internal", "Services talk gRPC among themselves", false),
	p("cache/sessions", "Redis caches sessions", "cache/assets", "Assets are cached by the CDN for a day", false),
	p("service/gateway", "the gateway listens on port 8080", "service/metrics", "metrics are served on port 9090", false),
	p("logging/format", "logs are written as JSON", "logging/level", "the log level in production is info", false),
	p("release/cadence", "We release monthly", "release/freeze", "no releases in December", false),
	p("mobile/ios", "minimum iOS version is 17", "mobile/android", "minimum Android version is 12", false),
	p("auth/hash", "Passwords are hashed with Argon2id", "auth/tokens", "JWTs are signed with RS256", false),
	p("frontend/css", "Tailwind is used for styles", "frontend/icons", "Icons come from Lucide", false),
	p("ops/alerts", "alerts go to PagerDuty", "ops/dashboards", "Grafana shows the dashboards", false),
	p("team/standup", "standup is at 9:30", "team/retro", "the retro is on Fridays at 14:00", false),
	p("api/pagination", "lists are paginated with cursors", "api/limit", "a page holds 50 items", false),
	p("config/locale", "the default locale is en-GB", "config/timezone", "timestamps are stored in UTC", false),
}
