package tasks

import (
	"context"
	"time"
)

// Step is a change of a task's state.
type Step struct {
	ID    string `json:"task_id"`
	Title string `json:"title"`
	Transition
}

// Happened lists the changes of states after one instant up to another one, in no order.
func (s *core) Happened(ctx context.Context, after, to time.Time) (list []Step, err error) {
	err = s.view(ctx, func(p project, _ time.Time) error {
		list = nil
		for _, x := range p {
			for _, h := range x.History {
				if h.At.After(after) && !h.At.After(to) && h.From != h.To {
					list = append(list, Step{x.ID, x.Title, h})
				}
			}
		}
		return nil
	})
	return list, err
}
