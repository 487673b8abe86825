package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The page as a person sees it: the real server on a store of 10,000 facts with disputes,
// agents and hostile values, every view at two widths, light and dark, and the buttons,
// with JavaScript and without. It needs Chromium, Node and the npm registry, and takes a
// minute.
func TestChromium(t *testing.T) {
	if os.Getenv("LEAN_CTX_CHROMIUM") == "" {
		t.Skip("NOT PROVEN: how the page looks and works in a browser. LEAN_CTX_CHROMIUM=1 does it, with Debian's chromium")
	}
	dir := filepath.Join(t.TempDir(), "my-app")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "lean-ctx")
	run := func(in, name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil && cmd.ProcessState.ExitCode() != 4 {
			t.Fatalf("%s %.200q: %v\n%s%s", name, args, err, out, errs.String())
		}
		return string(out)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "leanctx/cmd/lean-ctx").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("LEAN_CTX_DATA_DIR", filepath.Join(dir, "data"))
	t.Setenv("LEAN_CTX_PROJECT_ROOT", dir)
	lc := func(args ...string) string { t.Helper(); return run("", program, args...) }
	var lines strings.Builder
	for i := range 10_000 {
		text, _ := json.Marshal(fmt.Sprintf("value %d %s", i, strings.Repeat("of some length ", i%9)))
		fmt.Fprintf(&lines, `{"category":"room-%d","key":"key-%d","value":%s}`+"\n", i%40, i, text)
	}
	writeFile(t, filepath.Join(dir, "facts.jsonl"), lines.String())
	lc("knowledge", "import", "facts.jsonl")
	seed(lc, func(client string, args ...string) {
		t.Setenv("CODEX_SANDBOX", client)
		lc(args...)
		os.Unsetenv("CODEX_SANDBOX")
	})
	for i, text := range hostile {
		lc("knowledge", "remember", text, "-c", "hostile", "-k", fmt.Sprint("value", i))
		lc("knowledge", "remember", text, "-c", "hostile", "-k", "value", "--correct")
	}
	for _, call := range []struct{ client, event, in string }{
		{"claude-code", "session-start", `{"session_id":"s-1","cwd":"` + dir + `","hook_event_name":"SessionStart","source":"startup"}`},
		{"claude-code", "user-prompt", `{"session_id":"s-1","cwd":"` + dir + `","hook_event_name":"UserPromptSubmit","prompt":"how do users sign in?"}`},
	} {
		run(call.in, program, "hook", call.client, call.event)
	}

	server := exec.CommandContext(t.Context(), program, "serve", "--open", "--addr", "127.0.0.1:0")
	var greeting, log lockedBuffer
	server.Stdout, server.Stderr = &greeting, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	var url string
	for end := time.Now().Add(20 * time.Second); url == ""; time.Sleep(50 * time.Millisecond) {
		if m := regexp.MustCompile(`Page: +(http://\S+)/`).FindStringSubmatch(greeting.String() + log.String()); m != nil {
			url = m[1]
		} else if time.Now().After(end) {
			t.Fatalf("the server does not say where it is: %s%s", greeting.String(), log.String())
		}
	}

	script := must[[]byte](t)(os.ReadFile(filepath.Join("testdata", "browser.mjs")))
	writeFile(t, filepath.Join(dir, "browser.mjs"), string(script))
	run("", "npm", "install", "--no-audit", "--no-fund", "--silent", "playwright-core@1.65.1")
	chromium := os.Getenv("LEAN_CTX_CHROMIUM")
	if chromium == "1" {
		chromium = "/usr/bin/chromium"
	}
	cmd := exec.CommandContext(t.Context(), "node", "browser.mjs", url, chromium, os.Getenv("LEAN_CTX_PICTURES"), program)
	var errs bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &errs
	out, err := cmd.Output()
	if t.Log(errs.String()); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
