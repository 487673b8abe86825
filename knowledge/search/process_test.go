package search

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestProcesses has several processes open, search and sync one directory while this one deletes and
// damages what it finds there. What each of them answers is what a plain index would.
func TestProcesses(t *testing.T) {
	if dir := os.Getenv("SEARCH_TEST_CHILD"); dir != "" {
		child(t, dir)
		return
	}
	rounds := 20
	if testing.Short() {
		rounds = 8
	}
	dir := filepath.Join(t.TempDir(), "index")
	start := func(i, rounds int) (*exec.Cmd, *bytes.Buffer) {
		c, out := exec.Command(os.Args[0], "-test.run=^TestProcesses$"), new(bytes.Buffer)
		c.Env = append(os.Environ(), "SEARCH_TEST_CHILD="+dir, "SEARCH_TEST_SEED="+strconv.Itoa(i), "SEARCH_TEST_ROUNDS="+strconv.Itoa(rounds))
		c.Stdout, c.Stderr = out, out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c, out
	}
	var running []*exec.Cmd
	var outs []*bytes.Buffer
	for i := range 3 {
		c, out := start(i, rounds)
		running, outs = append(running, c), append(outs, out)
	}
	victim, _ := start(3, 1000) // killed in the middle of whatever it is doing
	done := make(chan struct{})
	wrecked := make(chan int)
	go func() { wrecked <- wreck(dir, done) }()
	for i, c := range running {
		if err := c.Wait(); err != nil {
			t.Errorf("process %d: %v\n%s", i, err, outs[i])
		}
		if i == 0 {
			if err := victim.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = victim.Wait() // its end is not its own
		}
	}
	close(done)
	t.Logf("%d files damaged or deleted meanwhile", <-wrecked)
}

// wreck damages files until done.
func wreck(dir string, done chan struct{}) (n int) {
	r := rand.New(rand.NewPCG(1, 2))
	for {
		select {
		case <-done:
			return n
		default:
		}
		var found []string
		filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Name() != lockName && path != dir {
				found = append(found, path)
			}
			return nil
		})
		if len(found) == 0 {
			runtime.Gosched()
			continue
		}
		path := found[r.IntN(len(found))]
		switch info, err := os.Stat(path); {
		case err != nil:
			continue
		case r.IntN(3) == 0:
			os.RemoveAll(path)
		case info.IsDir():
			continue
		case r.IntN(2) == 0:
			os.Truncate(path, r.Int64N(info.Size()+1))
		default:
			if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
				f.WriteAt([]byte{byte(r.Uint32())}, r.Int64N(info.Size()+1))
				f.Close()
			}
		}
		n++
	}
}

// child plays a process: the facts known grow with the rounds, in the same way in all of them.
func child(t *testing.T, dir string) {
	seed, _ := strconv.Atoi(os.Getenv("SEARCH_TEST_SEED"))
	rounds, _ := strconv.Atoi(os.Getenv("SEARCH_TEST_ROUNDS"))
	r := rand.New(rand.NewPCG(uint64(seed), 3))
	memory := mustOpen(t, "")
	x, known := opened(t, dir) // other processes may be far ahead by now
	for round := 1; round <= rounds; round++ {
		// What is read of a generation stays; what another process does to the rest is an ErrDamaged, which is
		// for the caller.
		for r.IntN(3) == 0 || !wholly(x) {
			x, known = opened(t, dir)
		}
		facts := madeUps(0, round*10)
		if known < len(facts) {
			mustAdd(t, x, facts[known:]...)
		} else if known > len(facts) { // another process is ahead: ask what it knows
			facts = madeUps(0, known)
		}
		known = len(facts)
		mustAdd(t, memory, facts...)
		if memory.Pending() == known {
			same(t, memory, x)
		}
		err := x.Sync(context.Background(), Generation{At: at(known / 10), Epoch: "e"}, slices.Values(facts))
		if err != nil && !errors.Is(err, ErrDamaged) && !strings.Contains(err.Error(), "no such file") {
			t.Logf("Sync: %v", err) // whatever it was, the answers must be right
		}
		if when, _, ok := x.Since(); ok && when.After(at(known/10)) {
			known = knownAt(when)
		}
	}
}

// opened opens the index and tells how many facts it has.
func opened(t *testing.T, dir string) (x *Index, known int) {
	x = mustOpen(t, dir)
	if when, _, ok := x.Since(); ok {
		known = knownAt(when)
	}
	return x, known
}

// knownAt is how many facts a generation of that time has.
func knownAt(when time.Time) int { return when.Second()*10 + when.Minute()*600 }
