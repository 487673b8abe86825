package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// BenchmarkCommandHook is an event of a client's session, process and all, with
// 10,000 facts, and without or with others at work: 5 agents, 1,000 messages, 20
// claims. The contract: a session's start within 60 ms of an empty program, a
// prompt within 80 ms.
func BenchmarkCommandHook(b *testing.B) {
	for _, c := range []struct {
		event, in string
		company   bool
	}{
		{"session-start", `{"source":"startup"}`, false},
		{"user-prompt", `{"prompt":"which port does queue %d use?"}`, false},
		{"post-tool", `{"tool_input":{"file_path":"src/a.go"}}`, false},
		{"session-start", `{"source":"startup"}`, true},
		{"user-prompt", `{"session_id":"bench","prompt":"which port does queue %d use?"}`, true},
		{"post-tool", `{"tool_input":{"file_path":"src/a.go"}}`, true},
	} {
		b.Run(fmt.Sprintf("%s/company=%t", c.event, c.company), func(b *testing.B) {
			x := newBench(b, 10_000)
			if c.company {
				x.company(b)
			}
			x.run(b, "", x.program, "knowledge", "remind", "look", "--path", "**/*.go")
			x.run(b, "", x.program, "knowledge", "recall", "queue")
			var command, floor []time.Duration
			for i := 0; b.Loop(); i++ {
				in := c.in
				if c.event == "user-prompt" {
					in = fmt.Sprintf(c.in, (i+1)%1000)
				}
				command = append(command, x.run(b, in, x.program, "hook", "claude-code", c.event))
				floor = append(floor, x.run(b, "", x.floor))
			}
			report(b, command, floor)
		})
	}
}

// company puts agents to work in the project: that of the session that is open,
// which has read nothing, and four others.
func (x *bench) company(b *testing.B) {
	b.Helper()
	x.run(b, `{"session_id":"bench","source":"startup"}`, x.program, "hook", "claude-code", "session-start")
	var calls strings.Builder
	id := 1
	call := func(args string, a ...any) {
		id++
		fmt.Fprintf(&calls, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ctx_agent","arguments":%s}}`+"\n", id, fmt.Sprintf(args, a...))
	}
	calls.WriteString(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n")
	calls.WriteString(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	for _, kind := range []string{"claude", "cursor", "gemini", "amp", "codex"} {
		call(`{"action":"register","agent_type":%q,"role":"bench"}`, kind)
	}
	for i := range 1_000 {
		call(`{"action":"post","message":"what is known of part %d of the work: it is half done"}`, i)
	}
	for i := range 20 {
		call(`{"action":"claim","path":"src/part%d","ttl":"1h"}`, i)
	}
	call(`{"action":"claim","path":"src/a.go","ttl":"1h"}`)
	c := exec.CommandContext(b.Context(), x.program, "mcp")
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = x.dir, x.env, strings.NewReader(calls.String()), io.Discard, os.Stderr
	if err := c.Run(); err != nil {
		b.Fatal(err)
	}
}
