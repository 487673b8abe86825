// Package history tells what became of facts. [Timeline] gives the versions of a room in the
// order of time, [Diff] what changed between two instants, and [Why] who stands behind a fact.
//
// Each is a question to a state.State at an instant, with an answer that words
// itself. Nothing here reads a clock or changes anything, and archived facts are
// shown like all others: history is whole.
//
// # Marks
//
// A version is planned, current, or archived when its time is over. It is corrected when it was
// never true after all, and retracted when it was taken back. Retracted goes before corrected:
// somebody did it on purpose.
//
// # Decisions
//
// We compare two instants by what is known now. To compare them by what was known then was
// rejected: a correction would read as a change of the world. What was corrected between the two
// is listed as that.
package history
