// Package state is what one project knows, as commits made it: the facts with
// all their versions, and the short lists beside them.
//
// A commit is a list of [Event]; the [State] is what they fold to. A [Log] keeps
// both on disk, through package journal. What to assert, retract or import is
// decided elsewhere: a decision reads a State and returns events.
//
// # What always holds
//
//   - A version that was read is never changed. A fold puts a new one in its
//     place, so a shallow clone stays as it was.
//   - An event says what is so afterwards. Folding it twice changes nothing more.
//   - The versions of a fact are ordered by valid_from, then recorded_from.
//
// # Files
//
//	state.go    the facts
//	event.go    what a commit consists of
//	kinds.go    what each kind of event changes, and what is kept to take it back
//	lists.go    relations, reminders, disputes, verdicts: each a row
//	former.go   patterns and gotchas as former versions of the program recorded them
//	local.go    what never leaves this machine
//	overlay.go  decisions that build on each other before they are committed
//	commit.go   what is kept of each author's last commit, to take it back
//	log.go      the state of a directory, kept by package journal
//	base.go     a state that begins at the text index and reads few facts from it
//	follow.go   the index follows the state; candidates.go asks it for facts with the same words
//
// # Decisions
//
// The whole state is in memory. A key table beside the fact file, from which
// single facts were read, was given up: the text index holds the facts as well.
package state
