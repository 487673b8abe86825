package knowledge_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
	"leanctx/internal/refusal"
	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/listing"
)

var long = flag.Bool("long", false, "run the long variants of the tests of processes and crashes")

// pick is the size of a test: the small one unless -long is given.
func pick(small, big int) int {
	if *long {
		return big
	}
	return small
}

// task is what the test binary does instead of testing when it is started as
// another process.
type task struct {
	Job    string
	Dir    string
	Number int    // of the process
	Count  int    // how often
	Torn   bool   // crash in the middle of a write
	Legacy string // data directory of the existing program
}

func TestMain(m *testing.M) {
	flag.Set("rapid.checks", strconv.Itoa(proctest.Rounds(60))) // the command line may ask for more
	proctest.Main(m, task.run)
}

func (j task) run(ctx context.Context) error {
	switch j.Job {
	case "crash":
		return j.crash(ctx)
	case "hold":
		return j.hold(ctx)
	}
	o := &Options{ProjectRoot: "/home/u/my-app", ProjectHash: "14958352f5925e3e", LongLived: j.Job == "serve"}
	if j.Legacy != "" {
		o.Adopt = adopts(j.Legacy)
	}
	s, err := Open(j.Dir, o)
	if err != nil {
		return err
	}
	switch s := s.As(Actor{Agent: fmt.Sprintf("cursor-%04x", j.Number)}); j.Job {
	case "remember", "serve":
		err = j.remember(ctx, s)
	case "confirm":
		for range j.Count {
			if _, err = remembered(ctx, s, Assertion{Category: "shared", Key: "motto", Value: "nothing is lost"}); err != nil {
				break
			}
		}
	case "write":
		for i := 1; i <= j.Count && err == nil; i++ {
			_, err = remembered(ctx, s, counter(i))
		}
	case "read":
		err = j.read(ctx, s)
	case "register":
		err = j.register(ctx, s)
	case "wakeup":
		var b briefing.Selection
		b, err = briefing.Wakeup(ctx, s, briefing.Query{Budget: j.Count, AsOf: "2026-06-01"})
		fmt.Println(b.Text())
	case "status":
		var r listing.StoreStatus
		r, err = listing.Status(ctx, s, Examining{})
		fmt.Println(r.Facts, len(s.Notices()))
	}
	return errors.Join(err, s.Close())
}

// remembered remembers, however long it takes to get the lock.
func remembered(ctx context.Context, s *Store, a Assertion) (Remembered, error) {
	return proctest.Again(journal.ErrLocked, func() (Remembered, error) { return s.Remember(ctx, a) })
}

// together runs tasks at the same time and gives what each printed.
func together(t testing.TB, tasks ...task) []string {
	t.Helper()
	out := make([]string, len(tasks))
	var wg sync.WaitGroup
	for i, j := range tasks {
		c := proctest.Command(t, j)
		wg.Go(func() {
			var errs bytes.Buffer
			c.Stderr = &errs
			b, err := c.Output()
			if out[i] = string(b); err != nil {
				t.Errorf("%+v: %v: %s", j, err, &errs)
			}
		})
	}
	wg.Wait()
	return out
}

// remember asserts facts of its own and says after each that it is answered.
func (j task) remember(ctx context.Context, s *Store) error {
	for i := range j.Count {
		a := Assertion{Category: "process " + strconv.Itoa(j.Number), Key: "k" + strconv.Itoa(i), Value: fmt.Sprintf("value %d of process %d", i, j.Number)}
		if _, err := remembered(ctx, s, a); err != nil {
			return err
		}
		if _, err := fmt.Println(a.Key); err != nil {
			return err
		}
	}
	return nil
}

// named opens a store as the tests of this file see it, with the real clock.
func named(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir, &Options{ProjectRoot: "/home/u/my-app", ProjectHash: "14958352f5925e3e"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func exact(t testing.TB, s *Store, category, key string) Found {
	t.Helper()
	r, err := s.Recall(t.Context(), Question{Category: category, Key: key})
	if err != nil || len(r.Facts) != 1 {
		t.Fatalf("[%s] %s: %d facts, %v", category, key, len(r.Facts), err)
	}
	return r.Facts[0]
}

// Eight processes on one project: every fact that was answered is there, once.
func TestProcesses(t *testing.T) {
	t.Parallel()
	const processes = 8
	dir, count := t.TempDir(), pick(proctest.Rounds(200), 1000)
	var tasks []task
	for p := range processes {
		job := "remember"
		if p == 0 {
			job = "serve" // a server among them, whose snapshots go on meanwhile
		}
		tasks = append(tasks, task{Job: job, Dir: dir, Number: p, Count: count})
	}
	together(t, tasks...)
	s := named(t, dir)
	status, err := listing.Status(t.Context(), s, Examining{})
	if err != nil {
		t.Fatal(err)
	}
	if status.Facts != processes*count || status.Versions != processes*count || status.Commits != uint64(processes*count) {
		t.Errorf("%d facts, %d versions, %d commits, want %d of each", status.Facts, status.Versions, status.Commits, processes*count)
	}
	for p := range processes {
		for i := range count {
			f := exact(t, s, "process "+strconv.Itoa(p), "k"+strconv.Itoa(i))
			if want := fmt.Sprintf("value %d of process %d", i, p); f.Value != want || f.Confirmations != 1 || f.AssertedBy != fmt.Sprintf("cursor-%04x", p) {
				t.Fatalf("%+v, want %q, confirmed once", f, want)
			}
		}
	}
}

// Confirmations from many processes are counted exactly, each with its source.
func TestProcessesConfirm(t *testing.T) {
	const processes = 8
	dir, count := t.TempDir(), pick(25, 400)
	var tasks []task
	for p := range processes {
		tasks = append(tasks, task{Job: "confirm", Dir: dir, Number: p, Count: count})
	}
	together(t, tasks...)
	f := exact(t, named(t, dir), "shared", "motto")
	by := map[string]int{}
	for _, source := range f.Version.Sources {
		by[source.By]++
	}
	if f.Confirmations != processes*count || len(by) != processes {
		t.Errorf("confirmed %d times by %v, want %d times by %d", f.Confirmations, by, processes*count, processes)
	}
	for who, n := range by {
		if n != count {
			t.Errorf("%s: %d sources, want %d", who, n, count)
		}
	}
}

// A process that is killed loses nothing that was answered, its own or others',
// and leaves at most the one fact it was at.
func TestProcessesKilled(t *testing.T) {
	t.Parallel()
	dir, count := t.TempDir(), pick(max(20, proctest.Rounds(60)), 500)
	answered := make([][]string, 6)
	var wg sync.WaitGroup
	for p := range answered {
		c := proctest.Command(t, task{Job: "remember", Dir: dir, Number: p, Count: count})
		wg.Go(func() {
			err := proctest.Run(c, func(line string) {
				answered[p] = append(answered[p], line)
				if p%2 == 0 && len(answered[p]) == (p+2)*count/10 {
					_ = c.Process.Kill()
				}
			})
			if err != nil && p%2 == 1 {
				t.Errorf("process %d: %v", p, err)
			}
		})
	}
	wg.Wait()
	s := named(t, dir)
	for p, keys := range answered {
		room := "process " + strconv.Itoa(p)
		for _, key := range keys {
			exact(t, s, room, key)
		}
		r, err := s.Recall(t.Context(), Question{Category: room, Limit: refusal.MaxLimit})
		if err != nil || r.Total > len(keys)+1 || p%2 == 1 && r.Total != count {
			t.Errorf("%s: %d facts, %d answered, %v", room, r.Total, len(keys), err)
		}
	}
}
