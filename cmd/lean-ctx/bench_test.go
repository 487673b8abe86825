package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// bare is the floor of every command: a Go program that only prints.
const bare = `package main

import "os"

func main() { os.Stdout.WriteString("hello\n") }
`

// bench is the built program with a project of facts, and the floor beside it.
type bench struct {
	program, floor string
	dir            string
	env            []string
}

func newBench(b *testing.B, facts int) *bench {
	b.Helper()
	dir := b.TempDir()
	x := &bench{program: filepath.Join(dir, "lean-ctx.exe"), floor: filepath.Join(dir, "bare.exe"), dir: filepath.Join(dir, "project")}
	x.env = append(os.Environ(), "HOME="+dir, "USERPROFILE="+dir, "LEAN_CTX_DATA_DIR="+filepath.Join(dir, "data"), "CGO_ENABLED=0")
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		b.Fatal(err)
	}
	source := filepath.Join(dir, "bare.go")
	if err := os.WriteFile(source, []byte(bare), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, args := range [][]string{{"build", "-o", x.program, "."}, {"build", "-o", x.floor, source}} {
		if out, err := exec.CommandContext(b.Context(), "go", args...).CombinedOutput(); err != nil {
			b.Fatalf("go %v: %v: %s", args, err, out)
		}
	}
	var lines strings.Builder
	for i := range facts {
		fmt.Fprintf(&lines, `{"category":"room %d","key":"component %d","value":"service %d talks to queue %d over port %d"}`+"\n", i%8, i, i, i*7%1000, 1024+i)
	}
	file := filepath.Join(dir, "facts.jsonl")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	x.run(b, "", x.program, "knowledge", "import", file)
	x.run(b, "", x.program, "compact")
	return x
}

// run starts a program, waits for its end and tells how long that took.
func (x *bench) run(b *testing.B, stdin, program string, args ...string) time.Duration {
	b.Helper()
	c := exec.CommandContext(b.Context(), program, args...)
	c.Dir, c.Env, c.Stdin = x.dir, x.env, strings.NewReader(stdin)
	start := time.Now()
	out, err := c.CombinedOutput()
	if err != nil || len(out) == 0 {
		b.Fatalf("%s %v: %v: %s", program, args, err, out)
	}
	return time.Since(start)
}

// report gives medians, and how much more the command took than the floor.
func report(b *testing.B, command, floor []time.Duration) {
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2]) / float64(time.Millisecond)
	}
	c, f := median(command), median(floor)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(c, "ms/command")
	b.ReportMetric(f, "ms/bare-program")
	b.ReportMetric(c-f, "ms-over-floor")
}

// compare runs a command and the floor in turn.
func compare(b *testing.B, facts int, args func(i int) []string) {
	x := newBench(b, facts)
	x.run(b, "", x.program, args(-1)...) // the first one finds nothing in the page cache
	var command, floor []time.Duration
	for i := 0; b.Loop(); i++ {
		command = append(command, x.run(b, "", x.program, args(i)...))
		floor = append(floor, x.run(b, "", x.floor))
	}
	report(b, command, floor)
}

// BenchmarkCommandRecall is a cold recall by words, process and all.
func BenchmarkCommandRecall(b *testing.B) {
	for _, n := range []int{1_000, 20_000} {
		b.Run(fmt.Sprintf("facts=%d", n), func(b *testing.B) {
			compare(b, n, func(i int) []string { return []string{"knowledge", "recall", fmt.Sprint("queue ", (i+1)%1000)} })
		})
	}
}

// BenchmarkCommandRemember is a durable remember, process and all.
func BenchmarkCommandRemember(b *testing.B) {
	for _, n := range []int{1_000, 20_000} {
		b.Run(fmt.Sprintf("facts=%d", n), func(b *testing.B) {
			compare(b, n, func(i int) []string {
				return []string{"knowledge", "remember", fmt.Sprint("bench value ", i), "--category", "bench", "--key", fmt.Sprint("key ", i)}
			})
		})
	}
}

// BenchmarkMCPFirstAnswer is from the start of the server to its first answer
// that has a fact in it.
func BenchmarkMCPFirstAnswer(b *testing.B) {
	const handshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ctx_knowledge","arguments":{"action":"recall","category":"room 3","key":"component 3"}}}
`
	for _, n := range []int{1_000, 20_000} {
		b.Run(fmt.Sprintf("facts=%d", n), func(b *testing.B) {
			x := newBench(b, n)
			var first, floor []time.Duration
			for b.Loop() {
				first = append(first, x.answer(b, handshake))
				floor = append(floor, x.run(b, "", x.floor))
			}
			report(b, first, floor)
		})
	}
}

// answer starts a server, sends what a client sends at first and tells when
// the answer with the fact was there.
func (x *bench) answer(b *testing.B, requests string) time.Duration {
	b.Helper()
	c := exec.CommandContext(b.Context(), x.program, "mcp")
	c.Dir, c.Env, c.Stderr = x.dir, x.env, os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := io.WriteString(in, requests); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			b.Fatalf("no answer: %v", err)
		}
		if strings.Contains(line, `"id":2`) {
			if !strings.Contains(line, "service 3 talks") {
				b.Fatalf("no fact: %s", line)
			}
			break
		}
	}
	took := time.Since(start)
	if err := in.Close(); err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, lines); err != nil {
		b.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		b.Fatal(err)
	}
	return took
}
