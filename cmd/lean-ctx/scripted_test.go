package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// played is a real client in a home and a project of its own, in front of a
// model that plays scripts.
type played struct {
	*model
	t             *testing.T
	home, project string
	env           []string
}

// newPlayed skips, loudly, where the client is not to be had.
func newPlayed(t *testing.T, program string, scripts map[string][]line) *played {
	if os.Getenv(realClientsVar) == "" {
		t.Skip("set " + realClientsVar + "=1 to run it against the clients on PATH")
	}
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("SKIPPED: %s is not on PATH", program)
	}
	p := &played{model: newModel(t, scripts), t: t, home: t.TempDir(), project: t.TempDir()}
	t.Cleanup(func() { endAll(t, p.home) })
	p.env = append(os.Environ(), "HOME="+p.home, "XDG_CONFIG_HOME=", "LEAN_CTX_DATA_DIR=", "PWD="+p.project, "NO_PROXY=127.0.0.1")
	for name, text := range map[string]string{"main.go": "package main\n", "auth.go": "package main\n\n// refresh renews a token.\nfunc refresh() {}\n"} {
		if err := os.WriteFile(filepath.Join(p.project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.run("git", "init", "-q")
	return p
}

func (p *played) run(name string, args ...string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Minute) // the first start of some installs packages
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = p.project, p.env
	out, err := c.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// sees checks what the model was shown before it said a line.
func (p *played) sees(script string, n int, want ...string) {
	p.t.Helper()
	body := p.at(p.t, script, n)
	for _, w := range want {
		if !strings.Contains(body, w) {
			p.t.Errorf("before line %d of %s the model does not see %q", n, script, w)
		}
	}
}

// misses checks what it was not shown.
func (p *played) misses(script string, n int, not ...string) {
	p.t.Helper()
	body := p.at(p.t, script, n)
	for _, w := range not {
		if strings.Contains(body, w) {
			p.t.Errorf("before line %d of %s the model sees %q", n, script, w)
		}
	}
}

// seesOnce checks that it was shown a thing, and not twice.
func (p *played) seesOnce(script string, n int, want string) {
	p.t.Helper()
	if got := strings.Count(p.at(p.t, script, n), want); got != 1 {
		p.t.Errorf("before line %d of %s the model sees %q %d times", n, script, want, got)
	}
}

const (
	decided = "Queue jobs run on River, not on cron"
	learned = "Refresh tokens live for thirty days"
	// generated is told beside auth.go alone.
	generated = "auth.go is generated: edit auth.tmpl"
)

// seeded is a project of which something is known.
func (p *played) seeded() {
	p.run("lean-ctx", "knowledge", "remember", decided, "--category", "architecture", "--key", "queue-jobs")
	p.run("lean-ctx", "knowledge", "remind", generated, "--path", "auth.go")
}

// write makes a file of the home.
func (p *played) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// sessions are what a model says in two sessions: whatever the
// client, the second one has to know what the first one learned.
func sessions() map[string][]line {
	return map[string][]line{
		"first": {
			{tool: "ctx_knowledge", input: dict{"action": "remember", "category": "auth", "key": "refresh-ttl", "value": learned}},
			{say: "Remembered."},
		},
		"second": {{say: "For thirty days."}},
	}
}

// twoSessions is what holds in every client. A session begins with the briefing, once. A call
// is answered. A prompt brings the facts about it and no others. The next session knows what
// the first one learned.
func (p *played) twoSessions(client string, say func(prompt string)) {
	p.t.Helper()
	p.seeded()
	p.run("lean-ctx", "connect", client)
	say("script=first and say hello")
	if client == "codex" { // what tells whether its hooks are approved is its own, so both bring it
		p.sees("first", 0, decided)
	} else {
		p.seesOnce("first", 0, decided)
	}
	p.misses("first", 0, learned)
	p.sees("first", 1, "Remembered [auth] refresh-ttl: "+learned)
	say("script=second how long do refresh tokens live?")
	p.sees("second", 0, decided, "refresh-ttl="+learned)
	if client != "opencode" { // its plugins are not asked about prompts
		p.sees("second", 0, "[auth/refresh-ttl] "+learned)
	}
	p.misses("second", 0, "[architecture/queue-jobs]")
}

func TestClaudeCodePlayed(t *testing.T) {
	p := newPlayed(t, "claude", sessions())
	p.env = append(p.env, "ANTHROPIC_BASE_URL="+p.URL, "ANTHROPIC_API_KEY=none", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
	claude := func(prompt string) {
		t.Helper()
		p.run("claude", "-p", prompt, "--allowedTools", "mcp__lean-ctx,Read,Agent")
	}
	p.scripts["files"] = []line{
		{tool: "ctx_agent", input: dict{"action": "register", "agent_type": "claude", "role": "auth"}},
		{tool: "ctx_agent", input: dict{"action": "diary", "message": "Tokens are renewed in one place", "category": "decision"}},
		{tool: "ctx_agent", input: dict{"action": "claim", "path": "auth.go"}},
		{tool: "Read", input: dict{"file_path": filepath.Join(p.project, "main.go")}},
		{tool: "Read", input: dict{"file_path": filepath.Join(p.project, "auth.go")}},
		{tool: "Agent", input: dict{"description": "look at it", "prompt": "script=below and answer", "subagent_type": "general-purpose"}},
		{say: "Read."},
	}
	p.scripts["below"] = []line{{say: "On River."}}
	p.twoSessions("claude-code", claude)
	claude("script=files")
	p.sees("files", 1, "Registered: claude-")
	p.misses("files", 4, generated)
	p.seesOnce("files", 5, generated)
	p.sees("below", 0, decided, learned)
	diary := p.run("lean-ctx", "agent", "recall_diary", "claude")
	if strings.Count(diary, "[automatic]") != 1 || strings.Count(diary, "Tokens are renewed in one place") != 2 || !strings.Contains(diary, "Claims: auth.go") {
		t.Errorf("the diary: %s", diary)
	}
}

// A session that is compacted leaves its entry and is given the briefing again.
func TestClaudeCodeCompacted(t *testing.T) {
	p := newPlayed(t, "claude", map[string][]line{
		"work": {
			{tool: "ctx_agent", input: dict{"action": "register", "agent_type": "claude"}},
			{tool: "ctx_agent", input: dict{"action": "diary", "message": "Tokens are renewed in one place", "category": "decision"}},
			{say: "Done."},
		},
		"after": {{say: "On River."}},
	})
	p.env = append(p.env, "ANTHROPIC_BASE_URL="+p.URL, "ANTHROPIC_API_KEY=none", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
	p.seeded()
	p.run("lean-ctx", "connect", "claude-code")
	p.run("claude", "-p", "script=work", "--allowedTools", "mcp__lean-ctx")
	// The end of the first session makes an entry as well: only what is new since makes another.
	p.run("lean-ctx", "agent", "diary", "Written since", "--agent", regexp.MustCompile(`claude-\w+`).FindString(p.run("lean-ctx", "agent", "list")))
	before := strings.Count(p.run("lean-ctx", "agent", "recall_diary", "claude"), "[automatic]")
	p.run("claude", "-p", "--continue", "/compact")
	if after := strings.Count(p.run("lean-ctx", "agent", "recall_diary", "claude"), "[automatic]"); before != 1 || after != 2 {
		t.Errorf("%d automatic entries before it was compacted, %d after", before, after)
	}
	p.run("claude", "-p", "--continue", "script=after where do queue jobs run?")
	p.sees("after", 0, decided)
}

func TestCodexPlayed(t *testing.T) {
	p := newPlayed(t, "codex", sessions())
	p.write(".codex/config.toml", `model = "gpt-5"
model_provider = "loopback"

[model_providers.loopback]
name = "loopback"
base_url = "`+p.URL+`/v1"
wire_api = "responses"
`)
	p.twoSessions("codex", func(prompt string) {
		t.Helper()
		p.run("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox", prompt)
	})
}

func TestGeminiPlayed(t *testing.T) {
	p := newPlayed(t, "gemini", sessions())
	p.env = append(p.env, "GOOGLE_GEMINI_BASE_URL="+p.URL, "GEMINI_API_KEY=none")
	p.write(".gemini/settings.json", `{"security": {"auth": {"selectedType": "gemini-api-key"}}}`)
	p.twoSessions("gemini", func(prompt string) {
		t.Helper()
		p.run("gemini", "-y", "-m", "gemini-2.5-pro", "--skip-trust", "-p", prompt)
	})
}

func TestCopilotPlayed(t *testing.T) {
	p := newPlayed(t, "copilot", sessions())
	p.env = append(p.env, "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL="+p.URL+"/v1", "COPILOT_PROVIDER_API_KEY=none", "COPILOT_MODEL=gpt-4")
	p.run("lean-ctx", "connect", "vscode") // it reads the hooks of VS Code, too
	p.twoSessions("copilot", func(prompt string) {
		t.Helper()
		p.run("copilot", "--allow-all-tools", "-p", prompt)
	})
}

func TestOpenCodePlayed(t *testing.T) {
	p := newPlayed(t, "opencode", sessions())
	p.env = append(p.env, "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1")
	p.write(".config/opencode/opencode.json", `{
  "model": "loopback/m",
  "provider": {"loopback": {"npm": "@ai-sdk/openai-compatible", "name": "loopback", "models": {"m": {"name": "m"}},
    "options": {"baseURL": "`+p.URL+`/v1", "apiKey": "none"}}}
}
`)
	p.twoSessions("opencode", func(prompt string) {
		t.Helper()
		p.run("opencode", "run", prompt)
	})
	p.scripts["diary"] = []line{
		{tool: "ctx_agent", input: dict{"action": "register", "agent_type": "opencode"}},
		{tool: "ctx_agent", input: dict{"action": "diary", "message": "Tokens are renewed in one place", "category": "decision"}},
		{say: "Done."},
	}
	p.run("opencode", "run", "script=diary")
	if diary := p.run("lean-ctx", "agent", "recall_diary", "opencode"); strings.Count(diary, "[automatic]") != 1 {
		t.Errorf("the diary: %s", diary)
	}
}

// Cline in a terminal shows a model what hooks say of a file, and nothing else of theirs. The
// briefing it must ask for.
func TestClinePlayed(t *testing.T) {
	p := newPlayed(t, "cline", map[string][]line{})
	p.scripts["work"] = []line{
		{tool: "ctx_recall", input: dict{"action": "wakeup"}},
		{tool: "read_files", input: dict{"files": []dict{{"path": filepath.Join(p.project, "auth.go")}}}},
		{say: "Done."},
	}
	p.seeded()
	p.run("lean-ctx", "connect", "cline")
	p.run("cline", "auth", "-p", "openai-compatible", "-k", "none", "-m", "m", "-b", p.URL+"/v1")
	p.run("cline", "-P", "openai-compatible", "-m", "m", "play script=work")
	p.misses("work", 0, decided)
	p.sees("work", 1, decided)
	p.seesOnce("work", 2, generated)
}
