// Package replica shares a project's facts through its repository: see [Sync].
//
// A replica is one store: one project in one data directory. Each replica appends what
// was asserted in its store to a file of its own, .lean-ctx/log/<replica>.jsonl, so that git
// merges without conflicts. A [Line] is one statement: an assertion, a retraction, a new
// name. [Fold] replays all lines of all replicas in one order, through the policy of
// package knowledge. So the shared state is a function of the set of lines.
//
// # What is new
//
// The write path of a store notes nothing for the repository. When a store is synced, its facts
// are compared with the fold of the lines that it knows. What differs is new. Every assertion is
// a source of a version, with its time, author and confidence, so it can be written as a line.
// New lines are replayed before they are written. Sometimes that does not give the stored fact to
// the byte (an import of history, an undo, a vote). Then one line holds all versions of the fact.
// An outbox in each commit was rejected: every operation would pay for it, and a store that
// existed before needs the comparison anyway.
//
// # What always holds
//
//   - A line comes after all lines that its writer had read, whatever the clocks say.
//   - Two values of equal authority that were asserted apart: the later one in the order
//     holds, and the earlier one stands against it as a dispute.
//   - Recorded times of shared facts are the writers'. known_at means what the team had
//     written by then.
//   - Local versions are never written, and survive when a fact is replaced. So do its
//     retrievals and whether it is dormant.
//   - A line about an erased fact counts only if its writer knew of the erasure.
//
// # Files
//
//	line.go       a line and its checksum
//	operations.go what each operation of a line means: one row
//	fold.go       the order, and the state that lines make
//	diff.go       the lines that make one state of another
//	repository.go the directory .lean-ctx of a work tree
//	copy.go       shared.jsonl beside the facts: every line this store knows
//	sync.go       one sync
package replica
