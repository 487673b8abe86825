// Package history tells what became of facts: the versions of a room in the
// order of time ([Timeline]), what changed between two instants ([Diff]), and
// who stands behind a fact ([Why]).
//
// Each is a question to a state.State at an instant, with an answer that words
// itself. Nothing here reads a clock or changes anything, and archived facts are
// told like all others: history is whole.
//
// # Marks
//
// A version is planned, current, or archived when its time is over; corrected
// when it was never true after all, retracted when it was taken back. Retracted
// goes before corrected: somebody did it on purpose.
//
// # Decisions
//
// We compare two instants by what is known now; by what was known then was
// rejected, since a correction would read as a change of the world. What was
// corrected between the two is listed as that.
package history
