package tasks

import (
	"slices"
	"strings"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// State is the state of a task, by the name that people see.
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

// states is the closed table of transitions, in the order in which states are listed. A
// state without a successor is final.
var states = [...]struct {
	state     State
	spellings string  // accepted synonyms, without separators
	next      []State // possible successors; Working after Working reports progress
}{
	{Created, "submitted new pending todo queued ready unstarted notstarted",
		[]State{Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected}},
	{Working, "inprogress progress started start begun active doing running ongoing wip resumed",
		[]State{Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected}},
	{InputRequired, "inputneeded needsinput waitingforinput input question waiting blocked paused",
		[]State{Working, Completed, Failed, Canceled, Rejected}},
	{AuthRequired, "auth authneeded needsauth authenticationrequired authorizationrequired waitingforauth",
		[]State{Working, Completed, Failed, Canceled, Rejected}},
	{Completed, "done finished complete success succeeded resolved closed ok", nil},
	{Failed, "fail failure error errored broken", nil},
	{Canceled, "cancelled cancel aborted abort stopped withdrawn dropped", nil},
	{Rejected, "reject refused declined denied wontdo", nil},
}

// parseState reads a state in any common spelling: Working, in_progress, input-required,
// TASK_STATE_COMPLETED, done, cancelled. The error lists the states.
func parseState(text string) (State, error) {
	word := strings.TrimPrefix(plain(text), "taskstate")
	for _, s := range states {
		if word == plain(string(s.state)) || word != "" && slices.Contains(strings.Fields(s.spellings), word) {
			return s.state, nil
		}
	}
	if strings.TrimSpace(text) == "" {
		return "", refusal.Missing("state", "")
	}
	return "", refusal.Argument("state", "state %q is none of %s", prose.Clip(text, 40), stateNames(nil))
}

// plain is a spelling in lower case without separators.
func plain(text string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		switch r {
		case ' ', '_', '-', '.', '\'', '\t', '\n':
			return -1
		}
		return r
	}, text))
}

// stateNames lists states for a sentence; nil means all.
func stateNames(list []State) string {
	if list == nil {
		list = allStates()
	}
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}

// allStates lists the states in the table's order.
func allStates() []State {
	var all []State
	for i := range states {
		all = append(all, states[i].state)
	}
	return all
}

// Next lists the possible successors of a state in the table's order.
func (s State) Next() []State { return slices.Clone(s.next()) }

func (s State) next() []State {
	for i := range states {
		if states[i].state == s {
			return states[i].next
		}
	}
	return nil
}

// Final reports whether the state has no successor.
func (s State) Final() bool { return len(s.next()) == 0 }

// Interrupted reports whether the task waits for its creator.
func (s State) Interrupted() bool { return s == InputRequired || s == AuthRequired }
