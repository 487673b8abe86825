package tasks

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"leanctx/tasks/state"
)

// Result is what came of a task that was completed.
type Result struct {
	Kind string    // "result"
	Text string    // title, then what was said on completion or else the last artifact
	By   string    // who completed it
	Ref  string    // task:<id>, for good
	At   time.Time // when
}

// Results lists what came of tasks completed since an instant, the oldest
// first. A task that was completed without a word has no result.
func (s *Store) Results(ctx context.Context, since time.Time) ([]Result, error) {
	var out []Result
	err := s.view(ctx, func(b *board, now time.Time) error {
		out = nil
		all, err := b.each(s.opts.ProjectHash, since.Before(now.Add(-oldAfter)))
		if err != nil {
			return err
		}
		for x := range all {
			if x.State != Completed || x.UpdatedAt.Before(since) {
				continue
			}
			t, err := x.open()
			if err != nil {
				return err
			}
			if r, ok := t.result(x.Task); ok && !r.At.Before(since) {
				out = append(out, r)
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b Result) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Ref, b.Ref)) })
	return out, err
}

func (t *thread) result(of Task) (Result, bool) {
	r := Result{Kind: "result", By: of.Assignee, Ref: "task:" + of.ID, At: of.UpdatedAt}
	text := ""
	if n := len(t.Artifacts); n > 0 {
		text = t.Artifacts[n-1].Text
	}
	if n := len(t.History); n > 0 {
		last := t.History[n-1]
		r.By, r.At = last.By, last.At
		if last.Why != "" {
			text = last.Why
		}
	}
	r.Text = of.Title + ": " + text
	return r, strings.TrimSpace(text) != ""
}

// Reached reports whether a task is or was in a state, which may be in any
// spelling. A task or state that there is not is an error.
func (s *Store) Reached(ctx context.Context, task, name string) (bool, error) {
	wanted, err := state.Parse(name)
	if err != nil {
		return false, err
	}
	reached := false
	err = s.view(ctx, func(b *board, _ time.Time) error {
		x, err := b.find(s.opts.ProjectHash, "task", task)
		if err != nil {
			return err
		}
		t, err := x.open()
		if err != nil {
			return err
		}
		reached = x.State == wanted || slices.ContainsFunc(t.History, func(h Transition) bool { return h.To == wanted })
		return nil
	})
	return reached, err
}

// LastTask is the title of the task last worked on, "" if there is none.
func (s *Store) LastTask(ctx context.Context) (title string, err error) {
	worked := func(t *Task) bool { return !t.WorkedAt.IsZero() }
	if title, err = s.lastOf(ctx, false, worked); title == "" && err == nil {
		title, err = s.lastOf(ctx, true, worked)
	}
	return title, err
}

// Current is the title of the task that an agent is working on, the one last
// touched if there are several, "" if there is none.
func (s *Store) Current(ctx context.Context, agent string) (title string, err error) {
	return s.lastOf(ctx, false, func(t *Task) bool { return t.State == Working && agent != "" && t.Assignee == agent })
}

// lastOf is the title of the task last worked on among those wanted.
func (s *Store) lastOf(ctx context.Context, old bool, wanted func(*Task) bool) (title string, err error) {
	err = s.view(ctx, func(b *board, _ time.Time) error {
		all, err := b.each(s.opts.ProjectHash, old)
		if err != nil {
			return err
		}
		var last *record
		for x := range all {
			if wanted(&x.Task) && (last == nil || cmp.Or(x.WorkedAt.Compare(last.WorkedAt), strings.Compare(last.ID, x.ID)) > 0) {
				last, title = x, x.Title
			}
		}
		return nil
	})
	return title, err
}
