package main

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkCommandHook is an event of a client's session, process and all, with
// 10,000 facts. The contract: a session's start within 60 ms of an empty
// program, a prompt within 80 ms.
func BenchmarkCommandHook(b *testing.B) {
	for _, c := range []struct{ event, in string }{
		{"session-start", `{"source":"startup"}`},
		{"user-prompt", `{"prompt":"which port does queue %d use?"}`},
		{"post-tool", `{"tool_input":{"file_path":"src/a.go"}}`},
	} {
		b.Run(c.event, func(b *testing.B) {
			x := newBench(b, 10_000)
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
