package tasks

import (
	"fmt"

	"leanctx/tasks/state"
)

// State is where a task stands.
type State = state.State

// The states of A2A 1.0; see leanctx/tasks/state.
const (
	Created       = state.Created
	Working       = state.Working
	InputRequired = state.InputRequired
	AuthRequired  = state.AuthRequired
	Completed     = state.Completed
	Failed        = state.Failed
	Canceled      = state.Canceled
	Rejected      = state.Rejected
)

// TransitionError says that a task cannot go from one state to another.
type TransitionError struct {
	Task     string // its id
	From, To State
}

func (e *TransitionError) Error() string {
	if e.From.Final() {
		return fmt.Sprintf("task %s is %s, which is final; for more work create a task with references=%s", e.Task, e.From, e.Task)
	}
	return fmt.Sprintf("task %s cannot go from %s to %s; from %s it goes to %s", e.Task, e.From, e.To, e.From, state.Names(e.From.Next()))
}
