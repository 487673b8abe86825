package knowledge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
	. "leanctx/knowledge"
)

func counter(i int) Assertion {
	return Assertion{Category: "build", Key: "counter", Value: "the counter is at " + strconv.Itoa(i)}
}

func (j task) read(ctx context.Context, s *Store) error {
	for last := 0; last < j.Count; {
		for _, q := range []Question{{Category: "build", Key: "counter"}, {Query: "counter"}} {
			r, err := s.Recall(ctx, q)
			if err != nil {
				return err
			}
			if len(r.Facts) == 0 && last == 0 {
				continue
			}
			if len(r.Facts) != 1 {
				return fmt.Errorf("%d current values: %s", len(r.Facts), r.Text())
			}
			n, err := strconv.Atoi(strings.TrimPrefix(r.Facts[0].Value, "the counter is at "))
			if err != nil || n < last {
				return fmt.Errorf("%+v: %q after %d", q, r.Facts[0].Value, last)
			}
			last = n
		}
	}
	return nil
}

// Readers in other processes see a key that only goes up only go up.
func TestProcessesRead(t *testing.T) {
	t.Parallel()
	dir, count := t.TempDir(), pick(proctest.Rounds(150), 1000)
	together(t, task{Job: "write", Dir: dir, Count: count}, task{Job: "read", Dir: dir, Count: count}, task{Job: "read", Dir: dir, Count: count})
}

// register writes and reads one key in turn and prints when it did.
func (j task) register(ctx context.Context, s *Store) error {
	out := json.NewEncoder(os.Stdout)
	for i := range j.Count {
		op := registered{Client: j.Number, Call: time.Now().UnixNano()}
		if (i+j.Number)%2 == 0 {
			op.Write = fmt.Sprintf("%d-%d", j.Number, i)
			if _, err := remembered(ctx, s, Assertion{Category: "c", Key: "register", Value: op.Write}); err != nil {
				return err
			}
		} else {
			r, err := s.Recall(ctx, Question{Category: "c", Key: "register"})
			if err != nil {
				return err
			}
			if op.Read = "nothing"; len(r.Facts) > 0 {
				op.Read = r.Facts[0].Value
			}
		}
		op.Return = time.Now().UnixNano()
		if err := out.Encode(op); err != nil {
			return err
		}
	}
	return nil
}

type registered struct {
	Client       int
	Call, Return int64
	Write, Read  string
}

// One key, written and read by several processes, behaves as one register.
func TestProcessesLinearizable(t *testing.T) {
	dir, count := t.TempDir(), pick(40, 200)
	var tasks []task
	for p := range 4 {
		tasks = append(tasks, task{Job: "register", Dir: dir, Number: p, Count: count})
	}
	var history []porcupine.Operation
	for _, out := range together(t, tasks...) {
		for d := json.NewDecoder(strings.NewReader(out)); ; {
			var op registered
			if err := d.Decode(&op); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			history = append(history, porcupine.Operation{ClientId: op.Client, Input: op.Write, Output: op.Read, Call: op.Call, Return: op.Return})
		}
	}
	register := porcupine.Model{
		Init: func() any { return "nothing" },
		Step: func(state, input, output any) (bool, any) {
			if input != "" {
				return true, input
			}
			return state == output, state
		},
	}
	if len(history) != 4*count {
		t.Fatalf("%d operations, want %d", len(history), 4*count)
	}
	if !porcupine.CheckOperations(register, history) {
		t.Error("the history is not linearizable")
	}
}

// hold stops its own process while it holds the lock, in the middle of a write.
func (j task) hold(ctx context.Context) error {
	stopped := false
	s, err := Open(j.Dir, &Options{Fault: func(op, name string) error {
		if op == "write" && strings.HasSuffix(name, ".journal") && !stopped {
			stopped = true
			fmt.Println("holding")
			return exec.Command("kill", "-STOP", strconv.Itoa(os.Getpid())).Run()
		}
		return nil
	}})
	if err != nil {
		return err
	}
	_, err = s.Remember(ctx, Assertion{Category: "c", Key: "stopped", Value: "written by the stopped process"})
	return errors.Join(err, s.Close())
}

// A lock held by a stopped process is an error after a while, names the
// holder, and changes nothing; readers do not care.
func TestProcessStopped(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be stopped here")
	}
	t.Parallel()
	dir := t.TempDir()
	s := named(t, dir)
	if _, err := s.Remember(t.Context(), Assertion{Category: "c", Key: "before", Value: "written before"}); err != nil {
		t.Fatal(err)
	}
	c := proctest.Command(t, task{Job: "hold", Dir: dir})
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("holding\n"))); err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	_, err = s.Remember(t.Context(), Assertion{Category: "c", Key: "refused", Value: "never written"})
	if !errors.Is(err, journal.ErrLocked) || !strings.Contains(err.Error(), strconv.Itoa(c.Process.Pid)) {
		t.Errorf("%v, want one that is ErrLocked and names process %d", err, c.Process.Pid)
	}
	exact(t, s, "c", "before")
	if after := files(t, dir); !slices.Equal(before, after) {
		t.Errorf("files changed:\n%q\n%q", before, after)
	}
	if err := errors.Join(exec.Command("kill", "-CONT", strconv.Itoa(c.Process.Pid)).Run(), c.Wait()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remember(t.Context(), Assertion{Category: "c", Key: "after", Value: "written after"}); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"before", "stopped", "after"} {
		exact(t, s, "c", key)
	}
	if r, err := s.Recall(t.Context(), Question{Category: "c", Key: "refused"}); err != nil || len(r.Facts) > 0 {
		t.Errorf("what was refused is there: %s, %v", r.Text(), err)
	}
}
