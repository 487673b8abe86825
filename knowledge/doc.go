// Package knowledge keeps the facts of one project over time. It knows who asserted a fact, since
// when it is true, how often it was confirmed, and what it contradicted.
//
// # Two times
//
// A fact has versions, one value each. A version has a valid period, when it
// is true of the project, and a recorded period, when the store held it. Both
// are half-open. Valid periods of a fact never overlap. There is a gap only
// after a planned end or a retraction. A version keeps its earlier valid
// periods, so "what did we know on that day" always has the same answer.
//
// # Where to look
//
//	remember.go    the whole policy of an assertion: [Assert], a pure function
//	place.go       how its decision changes the versions of the fact
//	remembered.go  the answer, with the lines of a contradiction
//	dispute.go     disputes: how one is recorded, and how it is settled
//	recall.go      questions; package recall ranks
//	retract.go     remove and erase; rename.go, undo.go
//	store.go       Open, View, Update; background.go has the work between calls
//
// A [Store] has what all operations need, and Remember, Recall and Remove. Every other operation
// is a function of a Store in the file of its name, such as [Rename]. Packages above it work on a
// Store as well: briefing, listing (rooms, status, disputes …), history (timeline, why, diff),
// transfer (import, export), advice (health, judge, duplicates). Packages below it: fact (versions
// and periods; salience.go has the half-lives), verdict (compares two values), meaning (the texts
// to encode) and state (all facts, and how commits change them).
//
// # Decisions
//
// We end the valid period on retraction; ending the recorded period was
// rejected because a question about last month would then lose its answer.
//
// We keep one record for each version, with its earlier periods inside it. A row for each change
// of a period was rejected because people read and diff the file.
//
// We decide equality by words and never by similarity. Measures over sets of words take "uses A
// not B" for "uses B not A" and miss that 15 became 30.
package knowledge
