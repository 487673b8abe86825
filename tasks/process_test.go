package tasks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"leanctx/internal/journal"
	"leanctx/internal/proctest"
	"leanctx/internal/refusal"
)

// job is what another process does.
type job struct {
	Do    string
	Dir   string
	Agent string
	Count int
}

func TestMain(m *testing.M) { proctest.Main(m, job.run) }

func (j job) run(ctx context.Context) error {
	s, err := Open(j.Dir, &Options{ProjectHash: hash, LongLived: j.Do == "serve"})
	if err != nil {
		return err
	}
	defer s.Close()
	s = s.as(j.Agent)
	if j.Do == "write" {
		return j.write(ctx, s)
	}
	return j.claim(ctx, s)
}

// claim goes for every task there is and prints those that it got, once the
// store has said so.
func (j job) claim(ctx context.Context, s *Store) error {
	list, err := s.List(ctx, Query{Limit: refusal.MaxLimit})
	if err != nil {
		return err
	}
	for i, t := range list.Tasks {
		if i%2 == 0 {
			_, err = proctest.Again(journal.ErrLocked, func() (Updated, error) { return s.Claim(ctx, TaskClaim{t.ID}) })
		} else {
			_, err = proctest.Again(journal.ErrLocked, func() (Updated, error) { return s.Update(ctx, Update{TaskID: t.ID, State: "Working"}) })
		}
		if _, taken := errors.AsType[*TakenError](err); taken {
			continue
		}
		if err != nil {
			return err
		}
		fmt.Println(t.ID)
	}
	return nil
}

// write creates tasks and has a word on each.
func (j job) write(ctx context.Context, s *Store) error {
	for i := range j.Count {
		r, err := proctest.Again(journal.ErrLocked, func() (CreatedTask, error) {
			return s.Create(ctx, Draft{Title: fmt.Sprintf("task %d of %s", i, j.Agent)})
		})
		if err != nil {
			return err
		}
		if _, err := proctest.Again(journal.ErrLocked, func() (Commented, error) {
			return s.Message(ctx, Comment{r.Task.ID, fmt.Sprintf("message %d", i)})
		}); err != nil {
			return err
		}
		fmt.Println(r.Task.ID)
	}
	return nil
}

// Eight processes claim fifty tasks, and three of them are killed on the way. Each task has
// exactly one winner. A winner that was told so is the one that everybody sees.
func TestProcessesClaim(t *testing.T) {
	const processes, count = 8, 50
	dir := t.TempDir()
	s := open(t, dir, nil)
	for i := range count {
		d := Draft{Title: fmt.Sprint("task ", i)}
		if i%3 == 0 {
			d.ToAgent = "claude"
		}
		made(t, s.as("cursor-a3f8"), d)
	}
	var mu sync.Mutex
	winners := map[string][]string{}
	var wg sync.WaitGroup
	for p := range processes {
		agent := fmt.Sprintf("claude-%04x", p)
		wg.Go(func() {
			won := 0
			c := proctest.Command(t, job{Do: []string{"serve", "claim"}[min(p, 1)], Dir: dir, Agent: agent})
			err := proctest.Run(c, func(id string) {
				mu.Lock()
				defer mu.Unlock()
				winners[id] = append(winners[id], agent)
				if won++; p%3 == 1 && won == 2 {
					_ = c.Process.Kill()
				}
			})
			if err != nil && p%3 != 1 {
				t.Errorf("%s: %v", agent, err)
			}
		})
	}
	wg.Wait()
	list, err := s.List(t.Context(), Query{Limit: refusal.MaxLimit})
	if err != nil || list.Total != count {
		t.Fatalf("%d tasks, %v", list.Total, err)
	}
	for _, x := range list.Tasks {
		who := winners[x.ID]
		if len(who) > 1 || len(who) == 1 && who[0] != x.Assignee || x.State != Working || !strings.HasPrefix(x.Assignee, "claude-") {
			t.Errorf("%s is %s's, %s; told so: %v", x.ID, x.Assignee, x.State, who)
		}
		g, err := s.Get(t.Context(), TaskRef{x.ID})
		if err != nil || len(g.History) != 2 || g.History[1].Assignee != x.Assignee {
			t.Errorf("%s: %+v, %v", x.ID, g.History, err)
		}
	}
}

// NoArgs that was answered is lost when several write and some are killed.
func TestProcessesWrite(t *testing.T) {
	const processes, count = 4, 25
	dir := t.TempDir()
	var mu sync.Mutex
	answered := map[string]bool{}
	var wg sync.WaitGroup
	for p := range processes {
		wg.Go(func() {
			n := 0
			c := proctest.Command(t, job{Do: "write", Dir: dir, Agent: fmt.Sprintf("codex-%04x", p), Count: count})
			err := proctest.Run(c, func(id string) {
				mu.Lock()
				defer mu.Unlock()
				if answered[id] {
					t.Errorf("two tasks have the id %s", id)
				}
				answered[id] = true
				if n++; p == 0 && n == count/2 {
					_ = c.Process.Kill()
				}
			})
			if err != nil && p > 0 {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := open(t, dir, nil)
	for id := range answered {
		if g, err := s.Get(t.Context(), TaskRef{id}); err != nil || len(g.Thread) != 1 {
			t.Errorf("%s: %+v, %v", id, g.Thread, err)
		}
	}
	list, err := s.List(t.Context(), Query{Limit: refusal.MaxLimit})
	if err != nil || list.Total < len(answered) || list.Total > len(answered)+1 || len(answered) < (processes-1)*count {
		t.Errorf("%d tasks, %d answered, %v", list.Total, len(answered), err)
	}
}
