//go:build unix

package journal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"leanctx/internal/journal"
)

func TestProcessesLoseNothing(t *testing.T) {
	const writers = 8
	count := 60
	if *long {
		count = 400
	}
	dir := t.TempDir() // on a disk: the fsyncs make the processes meet
	readers := []*process{start(t, "read", dir), start(t, "read", dir)}
	answered := make([]int, writers)
	killed := func(i int) bool { return i%3 == 2 }
	var wg sync.WaitGroup
	for i := range writers {
		role := []string{"write", "server"}[i%2]
		p := start(t, role, dir, fmt.Sprintf("w%d", i), strconv.Itoa(count))
		wg.Go(func() {
			after := -1
			if killed(i) {
				after = count / 2
			}
			answered[i] = p.answers(after)
			if err := p.Wait(); err != nil && !killed(i) {
				t.Errorf("writer %d: %v: %s", i, err, &p.err)
			}
		})
	}
	wg.Wait()
	for _, r := range readers {
		r.in.Close()
		if err := r.Wait(); err != nil {
			t.Errorf("reader: %v: %s", err, &r.err)
		}
	}
	s, h := view(t, open(t, dir, nil))
	total := 0
	for i, n := range answered {
		got := s[fmt.Sprintf("w%d", i)]
		total += got
		if !killed(i) && (got != count || n != count) || killed(i) && got < n {
			t.Errorf("writer %d was answered %d times of %d, and %d are there", i, n, count, got)
		}
	}
	if s["all"] != total || h.Seq != uint64(total) {
		t.Errorf("all %d, seq %d, want %d", s["all"], h.Seq, total)
	}
}

func TestProcessKilledAtEveryOperation(t *testing.T) {
	scratch(t, func(dir string) {
		had := 0
		for at := 0; ; at++ {
			p := start(t, "suicide", dir, strconv.Itoa(at), "w", "26")
			n := p.answers(-1)
			err := p.Wait()
			s, _ := view(t, open(t, dir, nil))
			if s["w"] < had+n || s["w"] > had+n+1 || s["w"] != s["all"] {
				t.Fatalf("killed at operation %d: %d answered after %d, %v there", at, n, had, s)
			}
			had = s["w"]
			if err == nil {
				t.Logf("%d operations", at)
				return
			}
		}
	})
}

func TestLockHeldByAStoppedProcess(t *testing.T) {
	dir := t.TempDir()
	p := start(t, "hold", dir)
	if !p.out.Scan() {
		t.Fatal("the holder did not begin: ", &p.err)
	}
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir, &journal.Options{LockTimeout: 30 * time.Millisecond})
	_, err := l.Update(t.Context(), add("x"))
	pid := strconv.Itoa(p.Process.Pid)
	if !errors.Is(err, journal.ErrLocked) || !strings.Contains(err.Error(), "process "+pid) || !strings.Contains(err.Error(), dir) {
		t.Errorf("update: %v, want locked, by process %s, in %s", err, pid, dir)
	}
	if s, _ := view(t, l); len(s) != 0 {
		t.Errorf("view: %v", s)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	waiting := open(t, dir, &journal.Options{LockTimeout: time.Hour})
	gone := errors.New("gone")
	go cancel(gone)
	if _, err := waiting.Update(ctx, add("x")); !errors.Is(err, gone) && !errors.Is(err, context.Canceled) {
		t.Errorf("update of a caller who left: %v", err)
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	update(t, l, "x") // the lock went with its holder
}

// playNobody tries everything in a directory that it may only read.
func playNobody(l *testLog) error {
	if len(l.Warnings()) > 0 {
		return fmt.Errorf("warnings: %v", l.Warnings())
	}
	err := l.View(context.Background(), func(s counters, h journal.Head) error {
		if h.Seq != 10 || s["c10"] != 1 {
			return fmt.Errorf("view: %v at %d", s, h.Seq)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for name, try := range map[string]func() error{
		"update":  func() error { _, err := l.Update(context.Background(), add("x")); return err },
		"compact": func() error { return l.Compact(context.Background()) },
		"purge":   func() error { return l.Purge(context.Background()) },
	} {
		err := try()
		if !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "state.") || !strings.Contains(err.Error(), "store /") {
			return fmt.Errorf("%s: %v, want a permission error that names the file", name, err)
		}
	}
	return nil
}

func TestReadOnlyDirectory(t *testing.T) {
	scratch(t, func(dir string) {
		sampleStory(t, dir)
		for name, mode := range map[string]os.FileMode{"": 0o555, "state.json": 0o444, "state.journal": 0o444, "state.lock": 0o444, "state.compact.lock": 0o444} {
			if err := os.Chmod(dir+"/"+name, mode); err != nil {
				t.Fatal(err)
			}
		}
		before := takeImage(t, dir)
		p := startAsNobody(t, dir)
		if err := p.Wait(); err != nil {
			t.Errorf("%v: %s", err, &p.err)
		}
		if fmt.Sprint(before) != fmt.Sprint(takeImage(t, dir)) {
			t.Error("it was written")
		}
		os.Chmod(dir, 0o700)
	})
}

// startAsNobody starts a process that has no more rights than the modes of
// the files give; to root, modes mean nothing.
func startAsNobody(t *testing.T, dir string) *process {
	t.Helper()
	if os.Getuid() != 0 {
		return start(t, "as nobody", dir)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	place, err := os.MkdirTemp("", "journal-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(place) })
	if err := os.Chmod(place, 0o755); err != nil {
		t.Fatal(err)
	}
	data := read(t, exe)
	if err := os.WriteFile(place+"/test", data, 0o755); err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(place+"/test", dir)}
	p.Env, p.Dir = []string{roleVariable + "=as nobody"}, "/"
	p.Stderr = &p.err
	p.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLinearizable(t *testing.T) {
	dir := t.TempDir()
	begin := time.Now()
	var mu sync.Mutex
	var history []porcupine.Operation
	var wg sync.WaitGroup
	logs := []*testLog{open(t, dir, nil), open(t, dir, nil), open(t, dir, &journal.Options{LongLived: true})}
	for client := range 6 {
		l := logs[client%len(logs)]
		wg.Go(func() {
			for i := range 25 {
				op := porcupine.Operation{ClientId: client, Input: i%2 == 0, Call: time.Since(begin).Nanoseconds()}
				var err error
				if i%2 == 0 {
					var h journal.Head
					h, err = l.Update(context.Background(), add("x"))
					op.Output = int(h.Seq)
				} else {
					err = l.View(context.Background(), func(s counters, _ journal.Head) error {
						op.Output = s["x"]
						return nil
					})
				}
				op.Return = time.Since(begin).Nanoseconds()
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				history = append(history, op)
				mu.Unlock()
				if client == 0 && i%10 == 9 {
					if err := l.Compact(context.Background()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	model := porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, input, output any) (bool, any) {
			n := state.(int)
			if input.(bool) {
				n++
			}
			return output.(int) == n, n
		},
	}
	if !porcupine.CheckOperations(model, history) {
		t.Error("the history is not linearizable")
	}
}
