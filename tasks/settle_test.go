package tasks

import (
	"context"
	"errors"
	"testing"
	"time"
)

// interrupted is a directory with a handoff that was killed before it moved
// the tasks.
type interrupted struct {
	crowd
	tasks *Store
	err   error
}

func (d *interrupted) Settle(ctx context.Context) error {
	if d.err != nil || d.tasks == nil {
		return d.err
	}
	_, err := d.tasks.Reassign(ctx, "cursor-a3f8", "claude-b7e2", "handed off")
	return err
}

// Every operation sees tasks where an interrupted handoff puts them.
func TestInterruptedHandoff(t *testing.T) {
	c := newClock()
	seen := map[string]time.Time{"cursor-a3f8": c.now(), "claude-b7e2": c.now()}
	for name, do := range map[string]func(ctx context.Context, from *Store, id string) (assignee string, err error){
		"list": func(ctx context.Context, from *Store, _ string) (string, error) {
			r, err := from.List(ctx, Query{})
			return r.Tasks[0].Assignee, err
		},
		"get": func(ctx context.Context, from *Store, id string) (string, error) {
			r, err := from.Get(ctx, TaskRef{id})
			return r.Task.Assignee, err
		},
		"begin": func(ctx context.Context, from *Store, id string) (string, error) {
			_, err := from.Update(ctx, Update{TaskID: id, State: "Working"})
			if taken, ok := errors.AsType[*TakenError](err); ok {
				return taken.By, nil
			}
			return "", err
		},
		"claim": func(ctx context.Context, from *Store, id string) (string, error) {
			_, err := from.Claim(ctx, TaskClaim{id})
			if taken, ok := errors.AsType[*TakenError](err); ok {
				return taken.By, nil
			}
			return "", err
		},
		"message": func(ctx context.Context, from *Store, id string) (string, error) {
			r, err := from.Message(ctx, Comment{id, "done"})
			return r.Task.Assignee, err
		},
		"create": func(ctx context.Context, from *Store, id string) (string, error) {
			_, err := from.Create(ctx, Draft{Title: "another", ToAgent: "cursor-a3f8"})
			if err != nil {
				return "", err
			}
			t, err := from.task(ctx, "task_id", id)
			return t.Assignee, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := &interrupted{crowd: crowd{seen, c}}
			s := open(t, t.TempDir(), &Options{ProjectHash: hash, Now: c.now, Agents: d})
			id := made(t, s, Draft{Title: "one", ToAgent: "cursor-a3f8"})
			d.tasks = s
			got, err := do(t.Context(), s.as("cursor-a3f8"), id)
			if err != nil || got != "claude-b7e2" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// While a handoff cannot be completed tasks can be read and not changed.
func TestHandoffThatCannotBeCompleted(t *testing.T) {
	c, broken := newClock(), errors.New("the disk is broken")
	d := &interrupted{crowd: crowd{clock: c}}
	s := open(t, t.TempDir(), &Options{ProjectHash: hash, Now: c.now, Agents: d})
	id := made(t, s, Draft{Title: "one"})
	d.err = broken
	if _, err := s.Get(t.Context(), TaskRef{id}); err != nil {
		t.Error(err)
	}
	if _, err := s.List(t.Context(), Query{}); err != nil {
		t.Error(err)
	}
	if _, err := s.Update(t.Context(), Update{TaskID: id, State: "Working"}); !errors.Is(err, broken) {
		t.Error(err)
	}
}
