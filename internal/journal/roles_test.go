//go:build unix

package journal_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"leanctx/internal/journal"
)

// roleVariable makes this test binary one of the processes of a test.
const roleVariable = "JOURNAL_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		if err := play(role, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// play is what a process of a test does in directory args[0].
func play(role string, args []string) error {
	o := &journal.Options{LongLived: role == "server", LockTimeout: time.Minute}
	if role == "suicide" {
		o.Fault = killAt(args[1])
	}
	l, err := journal.Open(args[0], machine{}, o)
	if err != nil {
		return err
	}
	defer l.Close()
	switch role {
	case "hold":
		_, err := l.Update(context.Background(), func(counters, time.Time) ([]event, error) {
			fmt.Println("holding")
			_, err := io.Copy(io.Discard, os.Stdin) // until the test lets go, or kills
			return nil, err
		})
		return err
	case "read":
		return playReader(l)
	case "as nobody":
		return playNobody(l)
	}
	return playWriter(l, args[1:])
}

// killAt is a fault that kills the process at the n-th operation.
func killAt(n string) func(op, name string) error {
	at, err := strconv.Atoi(n)
	if err != nil {
		panic(err)
	}
	return func(string, string) error {
		if at--; at < 0 {
			if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
				return err
			}
			select {} // the signal is on its way
		}
		return nil
	}
}

// playWriter counts up a key of its own and a shared one, and prints each
// answer. It compacts now and then. The test kills some of them.
func playWriter(l *testLog, args []string) error {
	name, n := args[len(args)-2], args[len(args)-1]
	count, err := strconv.Atoi(n)
	if err != nil {
		return err
	}
	for i := range count {
		_, err := l.Update(context.Background(), func(counters, time.Time) ([]event, error) {
			return []event{{Key: name, Add: 1}, {Key: "all", Add: 1}}, nil
		})
		if err != nil {
			return err
		}
		fmt.Println(i + 1)
		if i%25 == 24 {
			if err := l.Compact(context.Background()); err != nil && !errors.Is(err, journal.ErrLocked) {
				return err
			}
		}
	}
	return nil
}

// playReader looks, without a lock, at what others write: every state it sees
// must be whole, and none older than the one before.
func playReader(l *testLog) error {
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(done)
	}()
	var last uint64
	for views := 0; ; views++ {
		err := l.View(context.Background(), func(s counters, h journal.Head) error {
			sum := 0
			for k, n := range s {
				if k != "all" {
					sum += n
				}
			}
			if sum != s["all"] || s["all"] != int(h.Seq) || h.Seq < last {
				return fmt.Errorf("view %d: %v at %d after %d", views, s, h.Seq, last)
			}
			last = h.Seq
			return nil
		})
		if err == nil && len(l.Warnings()) > 0 {
			err = fmt.Errorf("warnings: %v", l.Warnings())
		}
		if err != nil {
			return err
		}
		select {
		case <-done:
			return nil
		default:
		}
	}
}

// process is another one of these binaries.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
	err strings.Builder
}

func start(t testing.TB, role string, args ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(exe, args...)}
	p.Env = append(os.Environ(), roleVariable+"="+role)
	p.Stderr = &p.err
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill() // it has ended, unless the test failed
		_ = p.Wait()
	})
	return p
}

// answers reads how many updates a process was answered, and kills it after so many.
func (p *process) answers(killAfter int) (n int) {
	for p.out.Scan() {
		n, _ = strconv.Atoi(p.out.Text())
		if n == killAfter {
			_ = p.Process.Kill()
		}
	}
	return n
}
