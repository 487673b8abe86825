package app

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"leanctx/cmd/internal/config"
)

// hooked is an event of a session of a client, and what was said of it.
func hooked(t *testing.T, client, event, session, more string) string {
	t.Helper()
	code, out, errs := do(t, fmt.Sprintf(`{"session_id":%q%s}`, session, more), "hook", client, event)
	if code != 0 || errs != "" {
		t.Fatal(code, errs)
	}
	return out
}

// run is a command that succeeds.
func ran(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := do(t, "", args...)
	if code != 0 {
		t.Fatalf("%q: %d %s", args, code, errs)
	}
	return out
}

// registered is an agent that came in.
func registered(t *testing.T, args ...string) string {
	t.Helper()
	m := regexp.MustCompile(`Registered: (\S+)`).FindStringSubmatch(ran(t, append([]string{"agent", "register"}, args...)...))
	if m == nil {
		t.Fatalf("%q did not register", args)
	}
	return m[1]
}

// What is an agent's own is for the session that it registered in, not for
// another one of the same client.
func TestNeighboursOfTwoSessions(t *testing.T) {
	dir := home(t)
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	const prompt, edit = `,"prompt":"hello there"`, `,"tool_input":{"file_path":"src/a.go"}`
	hooked(t, "claude-code", "session-start", "first", "") // of a project of which nothing is known yet
	a := registered(t, "claude", "one")
	other := registered(t, "cursor", "two")
	ran(t, "--agent", other, "agent", "post", "for you alone", "--to", a, "--private")
	ran(t, "--agent", a, "agent", "claim", "src/a.go")

	for session, unread := range map[string]bool{"first": true, "second": false} {
		if said := hooked(t, "claude-code", "user-prompt", session, prompt); strings.Contains(said, "UNREAD 1 message for "+a) != unread || !unread && said != "" {
			t.Errorf("%s: %s", session, said)
		}
	}
	if said := hooked(t, "claude-code", "post-tool", "first", edit); said != "" {
		t.Errorf("its own claim: %s", said)
	}
	if said := hooked(t, "claude-code", "post-tool", "second", edit); !strings.Contains(said, "CLAIM src/a.go: "+a+" (one) has it for another 10m; ask before you change it") {
		t.Errorf("the claim of the first session: %s", said)
	}
	hooked(t, "claude-code", "session-end", "second", "")
	if diary := ran(t, "agent", "recall-diary", a); strings.Contains(diary, "automatic") {
		t.Errorf("the other session wrote: %s", diary)
	}

	// Of what registers while two are there nobody can tell.
	hooked(t, "claude-code", "session-start", "third", "")
	b := registered(t, "claude", "three")
	ran(t, "--agent", other, "agent", "post", "for you", "--to", b, "--private")
	ran(t, "--agent", b, "agent", "claim", "src/b.go")
	for _, session := range []string{"first", "third"} {
		if said := hooked(t, "claude-code", "user-prompt", session, prompt+`,"x":1`); strings.Contains(said, b) {
			t.Errorf("%s: %s", session, said)
		}
		if said := hooked(t, "claude-code", "post-tool", session, `,"tool_input":{"file_path":"src/b.go"}`); !strings.Contains(said, "has it for another 10m; unless that is you, ask before") {
			t.Errorf("%s: %s", session, said)
		}
	}
	// But the environment may tell.
	t.Setenv(config.AgentVar, b)
	if said := hooked(t, "claude-code", "user-prompt", "third", `,"prompt":"and now"`); !strings.Contains(said, "UNREAD 1 message for "+b) {
		t.Errorf("named: %s", said)
	}
	t.Setenv(config.AgentVar, "")
	hooked(t, "claude-code", "session-end", "first", "")
	if diary := ran(t, "agent", "recall-diary", a); strings.Count(diary, "automatic") != 1 {
		t.Errorf("its own session did not write: %s", diary)
	}
}

// TestARuleAtAFileDoesNotWaitForGit: the configuration of a repository can have git wait for ever.
func TestARuleAtAFileDoesNotWaitForGit(t *testing.T) {
	for _, program := range []string{"git", "mkfifo"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	project := filepath.Join(home(t), "my-app")
	if out, err := exec.Command("git", "init", "-q", project).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	ran(t, "remember", "Never edit src/pump.go without the rig.", "--category", "workflow", "--key", "pump", "--source", "user")
	file := filepath.Join(project, "src", "pump.go")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("package src\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	edit := fmt.Sprintf(`,"cwd":%q,"tool_name":"Edit","tool_input":{"file_path":%q}`, project, file)
	hooked(t, "claude-code", "post-tool", "first", edit)
	config := filepath.Join(project, ".git", "config")
	text, err := os.ReadFile(config)
	if err := errors.Join(err, os.WriteFile(config, append(text, "[include]\n\tpath = pipe\n"...), 0o600), exec.Command("mkfifo", filepath.Join(project, ".git", "pipe")).Run()); err != nil {
		t.Fatal(err)
	}
	said := hooked(t, "claude-code", "pre-tool", "second", edit)
	if !strings.Contains(said, "without the rig") || !strings.Contains(said, "EDITED src/pump.go") || !strings.Contains(said, "perhaps not committed") {
		t.Error(said)
	}
}

// A session that goes on as an agent of an earlier one is told what is its own.
func TestNeighboursOfAResumedAgent(t *testing.T) {
	home(t)
	a := registered(t, "claude", "one")
	other := registered(t, "cursor", "two")
	ran(t, "--agent", other, "agent", "post", "for you alone", "--to", a, "--private")
	ask := func(prompt string) bool {
		return strings.Contains(hooked(t, "claude-code", "user-prompt", "s", fmt.Sprintf(`,"prompt":%q`, prompt)), "UNREAD")
	}
	if ask("hello") {
		t.Error("an agent of before the session is its own")
	}
	if again := registered(t, "claude", "one"); again != a {
		t.Fatal(again)
	}
	if !ask("hello again") {
		t.Error("an agent that was resumed in the session is not its own")
	}
	hooked(t, "claude-code", "session-end", "s", `,"reason":"clear"`)
	hooked(t, "claude-code", "session-start", "cleared", `,"source":"clear"`)
	if said := hooked(t, "claude-code", "user-prompt", "cleared", `,"prompt":"hello"`); !strings.Contains(said, "UNREAD") {
		t.Errorf("a session that was cleared has lost its agent: %s", said)
	}
}
