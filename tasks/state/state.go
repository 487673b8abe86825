// Package state has the states of tasks, which are A2A 1.0's, what each is called,
// and which may follow which: one closed table.
package state

import (
	"slices"
	"strings"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// State is where a task stands, by the name that people see.
type State string

// The states of A2A 1.0. Created is its SUBMITTED.
const (
	Created       State = "Created"
	Working       State = "Working"
	InputRequired State = "InputRequired"
	AuthRequired  State = "AuthRequired"
	Completed     State = "Completed"
	Failed        State = "Failed"
	Canceled      State = "Canceled"
	Rejected      State = "Rejected"
)

// states is the closed table of transitions, in the order states are listed
// in. A state that leads nowhere is final.
var states = [...]struct {
	state     State
	wire      string  // its name in A2A 1.0
	spellings string  // other words for it, without separators
	next      []State // what may follow; Working after Working is progress
}{
	{Created, "TASK_STATE_SUBMITTED", "submitted new pending todo queued ready unstarted notstarted",
		[]State{Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected}},
	{Working, "TASK_STATE_WORKING", "inprogress progress started start begun active doing running ongoing wip resumed",
		[]State{Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected}},
	{InputRequired, "TASK_STATE_INPUT_REQUIRED", "inputneeded needsinput waitingforinput input question waiting blocked paused",
		[]State{Working, Completed, Failed, Canceled, Rejected}},
	{AuthRequired, "TASK_STATE_AUTH_REQUIRED", "auth authneeded needsauth authenticationrequired authorizationrequired waitingforauth",
		[]State{Working, Completed, Failed, Canceled, Rejected}},
	{Completed, "TASK_STATE_COMPLETED", "done finished complete success succeeded resolved closed ok", nil},
	{Failed, "TASK_STATE_FAILED", "fail failure error errored broken", nil},
	{Canceled, "TASK_STATE_CANCELED", "cancelled cancel aborted abort stopped withdrawn dropped", nil},
	{Rejected, "TASK_STATE_REJECTED", "reject refused declined denied wontdo", nil},
}

// Parse reads a state in any common spelling: Working, in_progress,
// input-required, TASK_STATE_COMPLETED, done, cancelled. The error says which
// states there are.
func Parse(text string) (State, error) {
	word := strings.TrimPrefix(plain(text), "taskstate")
	for _, s := range states {
		if word == plain(string(s.state)) || word != "" && slices.Contains(strings.Fields(s.spellings), word) {
			return s.state, nil
		}
	}
	if strings.TrimSpace(text) == "" {
		return "", refusal.Argument("state", "needs state")
	}
	return "", refusal.Argument("state", "state %q is none of %s", prose.Clip(text, 40), Names(nil))
}

// plain is a spelling without case and separators.
func plain(text string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		switch r {
		case ' ', '_', '-', '.', '\'', '\t', '\n':
			return -1
		}
		return r
	}, text))
}

// Names lists states for a sentence; nil stands for all.
func Names(list []State) string {
	if list == nil {
		for _, s := range states {
			list = append(list, s.state)
		}
	}
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}

// All are the states, in the table's order.
func All() []State {
	var all []State
	for i := range states {
		all = append(all, states[i].state)
	}
	return all
}

// Next is what may follow a state, in the table's order; nothing after a final one.
func (s State) Next() []State { return slices.Clone(s.next()) }

func (s State) next() []State {
	for i := range states {
		if states[i].state == s {
			return states[i].next
		}
	}
	return nil
}

// Final reports whether nothing follows the state.
func (s State) Final() bool { return len(s.next()) == 0 }

// Wire is the state's name in A2A 1.0, TASK_STATE_UNSPECIFIED for one that is
// not in the table.
func (s State) Wire() string {
	for _, row := range states {
		if row.state == s {
			return row.wire
		}
	}
	return "TASK_STATE_UNSPECIFIED"
}

// Interrupted reports whether the task waits for its creator.
func (s State) Interrupted() bool { return s == InputRequired || s == AuthRequired }
