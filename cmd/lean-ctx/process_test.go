//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// server is lean-ctx mcp with a client's end of its pipes.
type server struct {
	*exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs *bytes.Buffer
	env  []string
}

// start starts a server with a data directory and a project of its own.
func start(t *testing.T) *server {
	t.Helper()
	s := &server{Cmd: exec.CommandContext(t.Context(), "lean-ctx", "mcp"), errs: new(bytes.Buffer)}
	s.env = append(os.Environ(), "LEAN_CTX_DATA_DIR="+t.TempDir(), "LEAN_CTX_PROJECT_ROOT="+t.TempDir())
	s.Env, s.Stderr = s.env, s.errs
	in, err := s.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	s.in, s.out = in, bufio.NewReader(out)
	return s
}

// remember has the server acknowledge a fact.
func (s *server) remember(t *testing.T, key string) {
	t.Helper()
	call := `{"jsonrpc":"2.0","id":"` + key + `","method":"tools/call","params":{"name":"ctx_knowledge","arguments":{"action":"remember","category":"a","key":"` + key + `","value":"kept"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	if _, err := io.WriteString(s.in, call+"\n"); err != nil {
		t.Fatal(err)
	}
	if answer, err := s.out.ReadString('\n'); err != nil || !strings.Contains(answer, "Remembered [a] "+key+": kept") {
		t.Fatalf("got %s, %v", answer, err)
	}
}

// recalled is what a command then finds.
func (s *server) recalled(t *testing.T) string {
	t.Helper()
	recall := exec.CommandContext(t.Context(), "lean-ctx", "knowledge", "recall", "--category", "a")
	recall.Env = s.env
	answer, err := recall.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return string(answer)
}

// A server that is told to stop does so in order, says nothing and gives the exit code of an
// interruption. What it had acknowledged is on disk.
func TestServerStopsOnSignal(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			s := start(t)
			s.remember(t, "one")
			if err := s.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			err := s.Wait()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 130 || s.errs.Len() > 0 {
				t.Errorf("got %v, %s", err, s.errs)
			}
			if got := s.recalled(t); !strings.Contains(got, "(showing 1/1)") {
				t.Error(got)
			}
		})
	}
}

// A server that is killed the moment it has answered loses nothing of what it
// acknowledged.
func TestKilledServerLosesNothing(t *testing.T) {
	s := start(t)
	for _, key := range []string{"one", "two", "three"} {
		s.remember(t, key)
	}
	if err := s.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.Wait() // it was killed
	if got := s.recalled(t); !strings.Contains(got, "(showing 3/3)") {
		t.Error(got)
	}
}
