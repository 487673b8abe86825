// Package proctest lets tests run other processes: the test binary is started
// again, and does a job instead of testing. [Countdown] ends what runs in this one.
//
//	func TestMain(m *testing.M) { proctest.Main(m, job.run) }
//	...
//	err := proctest.Run(proctest.Command(t, job{Do: "claim", Dir: dir}), func(line string) { ... })
//
// Only tests import it.
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

// Main runs the tests. In a process made by [Command] it runs that process's job instead;
// on an error it prints the error and exits with 1.
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

// Command returns a command, not started yet, that runs the job in a process of its own.
// The process is killed when the test ends. The job is passed as JSON.
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

// Run starts a command, calls each with every complete line of its output, and waits for
// its end. each may kill the process. If the command has no Stderr, it uses the test's.
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
