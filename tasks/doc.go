// Package tasks keeps the work that the agents of a project give each other. A task has a
// title, an assignee, a state, messages and results.
//
// # States
//
// A task is in one of the eight states of A2A 1.0; Created is that protocol's
// SUBMITTED. One closed table in states.go says which state may follow which, and
// anything else is refused with the states that would be possible. The last four are
// final: further work is another task that refers to the first. Working after Working
// reports progress. Every transition is kept, with who, when and why.
//
// # Who may do what
//
// A task is addressed to an agent, to a type of agent, or to nobody. The first agent
// that claims an unclaimed task, or works on it, has it. This is decided under the
// store's lock on the newest state, so exactly one of many has it. Nobody need be
// registered yet: a task waits for the first agent of its type.
//
// A task is changed by its assignee and its creator. The creator starts it only while it is
// unclaimed. An agent that takes over the creator's work replaces it here too. Any other agent
// is refused, and the error names who may; all may comment. A caller that is no agent, such as
// a person or an unregistered client, may do anything that the table of states allows.
//
// A task whose assignee is silent says so wherever it is shown, and another agent may
// claim it. Silence is computed when a task is shown; it is never stored.
//
// # The file
//
// tasks.json holds the tasks of all projects, and is read whole. Nothing is thrown
// away: tasks finished over 90 days ago only leave the lists that name no state.
// Every text is redacted before it is stored.
//
// # Decisions
//
// Ids are made from what is recorded. Random ids were rejected because a decision that
// is made again must give the same id.
//
// A final task takes no message, as in A2A: it is in nobody's work list.
package tasks
