package tasks

import (
	"context"
	"fmt"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Remark is a message to a task's thread.
type Remark struct {
	TaskID  string `json:"task_id" arg:"1" jsonschema:"the task's id, or the beginning of it"`
	Message string `json:"message" arg:"2" short:"m" jsonschema:"what is to be said to those who work on it"`
}

// Remarked is a task with one message more.
type Remarked struct {
	Task     Task     `json:"task"`
	Redacted []string `json:"redacted,omitempty"`
}

// Text gives the answer's line.
func (r Remarked) Text() string {
	return "Message added to task " + r.Task.ID + prose.Redacted(r.Redacted)
}

// Message adds to a task's thread. Its state stays as it is; one that is final
// takes no more messages, as A2A has it.
func (s *Store) Message(ctx context.Context, m Remark) (Remarked, error) {
	in := &input{s: s}
	text := in.text("message", m.Message)
	if in.err != nil {
		return Remarked{}, in.err
	}
	if text == "" {
		return Remarked{}, refusal.Argument("message", "needs message")
	}
	r := Remarked{Redacted: in.redacted}
	if err := s.settle(ctx); err != nil {
		return r, err
	}
	err := s.update(ctx, func(b *board, now time.Time) ([]event, error) {
		old, err := b.find(s.opts.ProjectHash, "task_id", m.TaskID)
		if err != nil {
			return nil, err
		}
		if old.State.Final() {
			return nil, fmt.Errorf("no message added: %w", &TransitionError{Task: old.ID, From: old.State})
		}
		c := change{Project: old.Project, ID: old.ID, By: s.actor.name(), Message: text}
		changed, err := old.with(&c, now.UTC())
		if err != nil {
			return nil, err
		}
		r.Task = changed.shown()
		return []event{{Change: &c}}, nil
	})
	return r, err
}
