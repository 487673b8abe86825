package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leanctx/cmd/internal/config"
)

// TestOddSessions: of one that has no name, that works outside of the project, or that works without a pause.
func TestOddSessions(t *testing.T) {
	dir := home(t)
	ran(t, "remember", "Never edit src/pump.go without the rig.", "--category", "workflow", "--key", "pump", "--source", "user")
	const said, prompt = "without the rig", `,"prompt":"may I edit src/pump.go without the rig?"`
	for range 2 { // what an unnamed session was told is not known
		if got := hooked(t, "claude-code", "user-prompt", "", prompt); !strings.Contains(got, said) {
			t.Errorf("without a name: %s", got)
		}
	}
	project := filepath.Join(dir, "my-app")
	edit := func(file string) string {
		return fmt.Sprintf(`,"cwd":%q,"tool_name":"Edit","tool_input":{"file_path":%q}`, project, file)
	}
	for _, file := range []string{filepath.Join(dir, "src", "pump.go"), "../src/pump.go", "/dev/null", ""} {
		if got := hooked(t, "claude-code", "pre-tool", "outside", edit(file)); got != "" {
			t.Errorf("outside, at %s: %s", file, got)
		}
	}
	if got := hooked(t, "claude-code", "pre-tool", "inside", edit("src/pump.go")); !strings.Contains(got, said) {
		t.Errorf("inside: %s", got)
	}
	size := func() (n int64) {
		logs, err := filepath.Glob(filepath.Join(dir, "data", "logs", "briefings", "*"))
		if err != nil || len(logs) != 1 {
			t.Fatal(logs, err)
		}
		info, err := os.Stat(logs[0])
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	hooked(t, "claude-code", "post-tool", "busy", edit("src/a.go"))
	before := size()
	for i := range 1000 { // in a minute: they leave no line each
		if got := hooked(t, "claude-code", []string{"pre-tool", "post-tool"}[i%2], "busy", edit("src/a.go")); got != "" {
			t.Fatalf("call %d: %s", i, got)
		}
	}
	if grown := size() - before; grown > 4<<10 {
		t.Errorf("the log grew by %d bytes", grown)
	}
	t.Setenv(config.HooksVar, "off")
	if got := hooked(t, "claude-code", "user-prompt", "off", prompt); got != "" {
		t.Errorf("hooks are off: %s", got)
	}
}

// TestAValueThatStoodInManySessionsIsTakenBackInEach: each hears it once, also one that is resumed.
func TestAValueThatStoodInManySessionsIsTakenBackInEach(t *testing.T) {
	home(t)
	ran(t, "remember", "v2 runs on Fly in Oslo.", "--category", "plan", "--key", "host", "--source", "user")
	for i := range 20 {
		if got := hooked(t, "claude-code", "session-start", fmt.Sprint("s", i), `,"source":"startup"`); !strings.Contains(got, "Fly in Oslo") {
			t.Fatal(got)
		}
	}
	ran(t, "knowledge", "remove", "plan", "host", "--source", "user", "--yes")
	const gone = "CHANGED since you were told: [plan/host]"
	for i := range 20 {
		session := fmt.Sprint("s", i)
		first := hooked(t, "claude-code", "user-prompt", session, `,"prompt":"go on"`)
		if i%5 == 0 {
			first += hooked(t, "claude-code", "session-start", session, `,"source":"resume"`)
		}
		if second := hooked(t, "claude-code", "user-prompt", session, `,"prompt":"and on"`); strings.Count(first, gone) != 1 || strings.Contains(second, gone) {
			t.Errorf("%s: %s\nthen %s", session, first, second)
		}
	}
}
