package app

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
)

// calling makes a call of a session: its hook sees the call before our server does.
func calling(t *testing.T, c client, session, tool, args string) string {
	t.Helper()
	if said := hooked(t, "claude-code", "pre-tool", session, fmt.Sprintf(`,"tool_name":"mcp__lean-ctx__%s","tool_input":%s`, tool, args)); said != "" {
		t.Errorf("before a call of ours: %s", said)
	}
	return c.must(tool, args)
}

// A session is one agent: its hooks and its connection are known to be the same, without registering.
func TestHooksAndConnectionAreOneAgent(t *testing.T) {
	dir := home(t)
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := serving(t)
	a, b := dial(t, s, "2025-11-25"), dial(t, s, "2025-11-25")
	hooked(t, "claude-code", "session-start", "first", "")
	hooked(t, "claude-code", "session-start", "second", "")

	const edit = `,"tool_name":"Edit","tool_input":{"file_path":"src/a.go"}`
	claimed := calling(t, a, "first", "ctx_agent", `{"action":"claim","path":"src/a.go"}`)
	if !strings.Contains(claimed, "by claude-code-") {
		t.Fatalf("a claim without registering: %s", claimed)
	}
	if said := hooked(t, "claude-code", "post-tool", "first", edit); said != "" {
		t.Errorf("its own claim: %s", said)
	}
	if said := hooked(t, "claude-code", "post-tool", "second", edit); !strings.Contains(said, "ask before you change it") || strings.Contains(said, "unless that is you") {
		t.Errorf("another's claim: %s", said)
	}

	calling(t, a, "first", "ctx_knowledge", `{"action":"remember","category":"decision","key":"queue","value":"The queue is Redis streams, never Kafka.","source":"user"}`)
	const ask = `,"prompt":"which queue do we use, Redis streams?"`
	if said := hooked(t, "claude-code", "user-prompt", "first", ask); said != "" {
		t.Errorf("its own fact: %s", said)
	}
	if said := hooked(t, "claude-code", "user-prompt", "second", ask); !strings.Contains(said, "decision/queue") {
		t.Errorf("another's fact: %s", said)
	}

	calling(t, b, "second", "ctx_agent", `{"action":"post","message":"rebase first"}`)
	if said := hooked(t, "claude-code", "user-prompt", "second", `,"prompt":"go on"`); said != "" {
		t.Errorf("its own message: %s", said)
	}
	if said := hooked(t, "claude-code", "user-prompt", "first", `,"prompt":"go on"`); !strings.Contains(said, "UNREAD 1 message for claude-code-") {
		t.Errorf("another's message: %s", said)
	}

	// register adds a role, and another type resumes or begins an agent that has the claims.
	if got := calling(t, a, "first", "ctx_agent", `{"action":"register","agent_type":"claude","role":"writing"}`); !strings.Contains(got, "Registered: claude-") {
		t.Error(got)
	}
	if said := hooked(t, "claude-code", "post-tool", "first", edit+`,"x":1`); said != "" {
		t.Errorf("its own claim under another name: %s", said)
	}
	if got := calling(t, b, "second", "ctx_agent", `{"action":"register","agent_type":"claude-code","role":"reviewing"}`); !strings.Contains(got, "Registered: claude-code-") {
		t.Error(got)
	}
	if list := calling(t, b, "second", "ctx_agent", `{"action":"list"}`); !strings.Contains(list, "Active agents (2)") {
		t.Errorf("two sessions are two agents: %s", list)
	}
}

// A file that another session has changed and not committed is named to who opens it, and to nobody else.
func TestEditsLeaveATrace(t *testing.T) {
	dir := home(t)
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	repo := filepath.Join(dir, "repo")
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=T", "-c", "user.email=t@example.com"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v %s", args, err, out)
		}
	}
	if err := os.Mkdir(repo, 0o700); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	file := filepath.Join(repo, "mux.go")
	if err := os.WriteFile(file, []byte("package mux\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(repo)
	t.Setenv(config.ProjectVar, repo)
	ran(t, "remember", "Requests are routed in mux.go.", "-c", "architecture", "-k", "routing")
	edit := fmt.Sprintf(`,"tool_name":"Edit","tool_input":{"file_path":%q}`, file)
	read := fmt.Sprintf(`,"tool_name":"Read","tool_input":{"file_path":%q}`, file)
	for range 3 {
		if said := hooked(t, "claude-code", "post-tool", "first", edit); strings.Contains(said, "EDITED") {
			t.Errorf("its own edit: %s", said)
		}
	}
	if said := hooked(t, "claude-code", "pre-tool", "second", edit); !regexp.MustCompile(`EDITED mux.go: claude-code-[0-9a-f]{6} 0s ago, not committed`).MatchString(said) {
		t.Errorf("another's edit: %s", said)
	}
	if said := hooked(t, "claude-code", "post-tool", "second", read); strings.Contains(said, "EDITED") {
		t.Errorf("it was told already: %s", said)
	}
	git("add", "mux.go")
	git("commit", "-q", "-m", "mux")
	if said := hooked(t, "claude-code", "pre-tool", "third", edit); strings.Contains(said, "EDITED") {
		t.Errorf("it is committed: %s", said)
	}
}

// A briefing is given once: where the hook of a client gives it, the instructions do not. They speak of other agents only
// where there are some.
func TestInstructionsLeaveOutWhatNobodyNeeds(t *testing.T) {
	home(t)
	ran(t, "remember", "Requests are routed in mux.go.", "-c", "architecture", "-k", "routing")
	s := serving(t)
	if got := dial(t, s, "2025-11-25").InitializeResult().Instructions; !strings.Contains(got, "routing=Requests") || strings.Contains(got, "ctx_agent") {
		t.Errorf("an agent alone, without hooks: %s", got)
	}
	hooked(t, "opencode", "session-start", "first", "")
	if got := dial(t, s, "2025-11-25").InitializeResult().Instructions; !strings.Contains(got, "routing=Requests") {
		t.Errorf("the hook of another client: %s", got)
	}
	tester := mcpCalls{account: &account{stores: s}}
	ctx := op.WithCaller(t.Context(), op.Caller{Name: "opencode", Session: "connection"})
	if got := tester.briefing(ctx); got != "" {
		t.Errorf("the hook gave it: %s", got)
	}
	registered(t, "claude", "one")
	if got := dial(t, s, "2025-11-25").InitializeResult().Instructions; !strings.Contains(got, "ctx_agent") {
		t.Errorf("another agent is here: %s", got)
	}
}

// A session that was told a value by a hook, a briefing or an answer hears once that somebody else has changed it.
func TestChangesOfWhatWasTold(t *testing.T) {
	dir := home(t)
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := serving(t)
	a, b := dial(t, s, "2025-11-25"), dial(t, s, "2025-11-25")
	value := func(c client, session, key, value string) {
		t.Helper()
		calling(t, c, session, "ctx_knowledge", fmt.Sprintf(`{"action":"remember","category":"plan","key":%q,"value":%q,"source":"user"}`, key, value))
	}
	for key, text := range map[string]string{"cut": "The v2 branch is cut on 2026-12-15.", "host": "v2 runs on Fly in Oslo.", "owner": "Ann owns the v2 rollout.", "beta": "The beta ends on 2027-02-01.", "gone": "Beta users get a mug."} {
		value(b, "other", key, text)
	}
	const next = `,"prompt":"go on"`
	turn := 0
	says := func(session, want string) {
		t.Helper()
		turn++
		said := hooked(t, "claude-code", "user-prompt", session, fmt.Sprintf(`,"prompt":"step %d"`, turn))
		if want == "" && strings.Contains(said, "CHANGED") || !strings.Contains(said, want) {
			t.Errorf("%s: want %q, said %s", session, want, said)
		}
		next := hooked(t, "claude-code", "user-prompt", session, fmt.Sprintf(`,"prompt":"and on %d"`, turn))
		if strings.Contains(next, "CHANGED") {
			t.Errorf("%s: twice: %s", session, next)
		}
	}
	hooked(t, "claude-code", "session-start", "briefed", "") // all of them
	calling(t, a, "asked", "ctx_recall", `{"action":"recall","category":"plan","key":"host"}`)
	says("briefed", "")
	value(b, "other", "cut", "The v2 branch is cut on 2027-01-20.")
	says("briefed", "CHANGED since you were told: [plan/cut] The v2 branch is cut on 2026-12-15. → The v2 branch is cut on 2027-01-20. (claude-code-")
	says("asked", "")
	says("other", "")
	value(b, "other", "host", "v2 runs on Hetzner in Oslo.")
	says("asked", "[plan/host] v2 runs on Fly in Oslo. → v2 runs on Hetzner in Oslo.")
	says("briefed", "v2 runs on Hetzner")
	value(b, "other", "host", "v2 runs on OVH in Oslo.")
	says("briefed", "Hetzner in Oslo. → v2 runs on OVH") // what it was told last
	value(b, "other", "owner", "Bo owns the v2 rollout.")
	value(b, "other", "owner", "Ann owns the v2 rollout.")
	says("briefed", "") // it changed back before the session heard of it
	value(a, "briefed", "beta", "The beta ends on 2027-03-01.")
	says("briefed", "") // it did so itself
	calling(t, b, "other", "ctx_knowledge", `{"action":"remove","category":"plan","key":"gone"}`)
	if said := hooked(t, "claude-code", "session-start", "briefed", `,"source":"resume"`); !strings.Contains(said, "[plan/gone] Beta users get a mug. is disputed (d-") {
		t.Errorf("resumed: %s", said)
	}
	says("briefed", "")
	ran(t, "knowledge", "remember", "Secret beta", "-c", "plan", "-k", "secret")
	hooked(t, "claude-code", "session-start", "third", "")
	ran(t, "knowledge", "remember", "Open beta", "-c", "plan", "-k", "secret")
	ran(t, "knowledge", "remove", "plan", "secret", "--erase", "--yes")
	if said := hooked(t, "claude-code", "user-prompt", "third", next); strings.Contains(said, "Secret beta") {
		t.Errorf("an erased value: %s", said)
	}
}

// Who changes their mind is told the fact about the same matter with its name, also when it was told before.
func TestChangeOfMindNamesTheFact(t *testing.T) {
	dir := home(t)
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := dial(t, serving(t), "2025-11-25")
	c.must("ctx_knowledge", `{"action":"remember","category":"decision","key":"v2-hosts","value":"v2 drops the hosts file and reads DNS alone.","source":"user"}`)
	c.must("ctx_knowledge", `{"action":"remember","category":"workflow","key":"deploys","value":"We deploy on Fridays after the soak test.","source":"user"}`)
	c.must("ctx_knowledge", `{"action":"remember","category":"team","key":"office","value":"The office is in Oslo, third floor.","source":"user"}`)
	hooked(t, "claude-code", "session-start", "s", "")
	said := hooked(t, "claude-code", "user-prompt", "s", `,"prompt":"change of plan: v2 keeps the hosts file after all"`)
	if !strings.Contains(said, "[decision/v2-hosts]") || !strings.Contains(said, "If this changed: remember with this key.") || strings.Contains(said, "office") {
		t.Errorf("a change of mind: %s", said)
	}
	said = hooked(t, "claude-code", "user-prompt", "s", `,"prompt":"from now on we deploy on Mondays, after the soak test"`)
	if !strings.Contains(said, "[workflow/deploys]") || strings.Contains(said, "hosts") {
		t.Errorf("another one: %s", said)
	}
	for _, prompt := range []string{"does v2 drop the hosts file?", "read the hosts file of v2", "should v2 keep the hosts file instead?"} {
		if said := hooked(t, "claude-code", "user-prompt", "s", fmt.Sprintf(`,"prompt":%q`, prompt)); strings.Contains(said, "If this changed") {
			t.Errorf("%s: no change: %s", prompt, said)
		}
	}
}
