// Package assertion decides what an assertion does to what is believed.
//
// A [Claim] is an assertion that has been checked and redacted. [Decide] says,
// given what is believed, a claim and the recorded time, what changes, as events
// of a ledger, and what became of the assertion: [Remembered], which words
// itself. [Place] does the same for a claim of a file, which has its period;
// [Retract] takes back. All of them are pure: they run under the store's lock on
// its newest state, so that no update is lost, whoever else writes, and they are
// tested as tables of stories.
//
// What counts as the same value is fact.SameValue; similar is not the same. No
// two versions of a fact that are believed overlap, before and after.
//
// # Files
//
//	claim.go       what is asserted, and what no claim may be
//	decide.go      the policy
//	draft.go       a fact's versions while it is worked out on them
//	contradict.go  that a fact changed its value, and how it is said
//	remembered.go  what became of an assertion, and how it is said
//
// # Decisions
//
// A contradiction is part of the answer; an error was rejected, since the new
// value is what somebody knows now, and losing it would be worse than the old
// one's being superseded.
//
// We end the valid period on retraction; ending the recorded period was rejected
// because a question about last month would then lose its answer.
package assertion
