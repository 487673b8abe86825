// Package proctest lets tests run other processes: the test binary is started
// again, and does a job instead of testing. [Countdown] ends what runs in this one.
//
//	func TestMain(m *testing.M) { proctest.Main(m, job.run) }
//	...
//	err := proctest.Run(proctest.Command(t, job{Do: "claim", Dir: dir}), func(line string) { ... })
//
// It is imported by tests alone.
package proctest

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// variable holds the job, as JSON.
const variable = "LEANCTX_TEST_JOB"

// Main runs the tests; in a process that [Command] made it runs its job
// instead, of which an error is printed and the exit code is 1. run is, as a
// rule, a method of the job.
func Main[J any](m *testing.M, run func(J, context.Context) error) {
	text := os.Getenv(variable)
	if text == "" {
		os.Exit(m.Run())
	}
	var j J
	err := json.Unmarshal([]byte(text), &j)
	if err == nil {
		err = run(j, context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Command is a job in a process of its own, not started yet. It is killed when
// the test ends. The job goes through JSON.
func Command(t testing.TB, job any) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe)
	c.Env = append(os.Environ(), variable+"="+string(text), "GORACE=atexit_sleep_ms=0")
	return c
}

// Run starts a command, calls each with every whole line that it prints, and
// waits for its end; each may kill it. Where nobody else listens to what it
// says on stderr, that goes to the test's.
func Run(c *exec.Cmd, each func(line string)) error {
	if c.Stderr == nil {
		c.Stderr = os.Stderr
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	r := bufio.NewReader(out)
	for {
		line, end := r.ReadString('\n')
		if end != nil { // a line without its end is half of one: it was killed
			_, err = io.Copy(io.Discard, r)
			break
		}
		each(line[:len(line)-1])
	}
	return cmp.Or(c.Wait(), err)
}
