// Package knowledge keeps the facts of one project over time: who said what,
// since when it is true, how often it was confirmed, what it contradicted, and
// gives the right ones back.
//
// # Two times
//
// A fact has versions, one value each. A version has a valid period, when it
// is true of the project, and a recorded period, when the store held it. Both
// are half-open. Valid periods of a fact never overlap; there is a gap only
// where somebody gave an end or retracted. A valid period that is changed keeps
// what it was as an earlier belief, so that "what did we know on that day" has
// the same answer for ever.
//
// The policy of an assertion is one pure function, assert in remember.go. It
// decides under the store's lock on the newest state, so that no update is
// lost, whoever else writes. What counts as the same value is
// [fact.SameValue]; similar is not the same.
//
// Retracting ends the valid period now: what was true until then stays true of
// that time. A version that had not begun is withdrawn whole.
//
// # Confidence and salience
//
// Both are computed when read and never written back, from the version and the
// instant alone: see [fact.EffectiveConfidence] and [fact.Salience]. How often
// other facts are written has no part in them. How often a fact is read is kept
// in a side record, retrievals.log, which may be lost at no harm.
//
// Archiving takes what faded out of the active set, in a commit of its own, at
// most once a day and never while somebody remembers. Time travel, timelines,
// exact keys and the second stage of recall still see it; nothing is deleted.
//
// # Recall
//
// System 1 is the text index over active facts (package search), whose best
// hits are put into order by meaning. When it finds nothing, or only weak hits,
// System 2 looks at all vectors, and when that finds nothing at the archive, in
// place; no fact is written, and an archived one is marked. The index holds every version ever believed and
// masks what does not hold at the instants asked about, so one index answers
// for every day. It is derived: deleted or damaged, it is made anew.
//
// How words and meaning are joined, and what was measured for it, stands in
// package meaning. A command never reads more than the vectors' file and never
// loads an installed model, unless semantic or hybrid is asked for. A server
// encodes with the model in the background, what matters most first, and uses it
// for System 2 once all active facts have a vector of it. Questions about another
// time are answered by words: what is over has no vector.
//
// # Imports
//
// One import is one commit, seen whole or not at all, up to 50,000 facts; of a
// larger file each 50,000 are one. Such an import that ends in the middle leaves
// what is in, says how much, and is repeated. A store of the existing program is
// recognised by its project_root, read once and never written.
//
// # Secrets
//
// Every text that comes in is redacted before anything else is done with it:
// see package secret for what its rules catch and miss.
//
// # What is where
//
//	store.go remember.go recall.go …   an operation, in the file of its name; what it says in a file beside it
//	indexed.go indexsync.go            the text index kept in step
//	semantic.go vectors.go             vectors kept in step
//	ledger                             what is known, how commits change it, what can be asked of it
//	fact                               a fact as a value in time: periods, equality, salience
//	briefing                           what is worth knowing at once, and how it is said
//	history                            timelines, differences, and who stands behind a fact
//	reminder                           when a reminder surfaces
//	intent                             what somebody works on, which breaks ties
//	meaning                            words and meaning joined
//	usage                              the record of retrievals
//	search                             the text index
//	table                              the key table: what ledger reads single facts by
//
// # Decisions
//
// We end the valid period on retraction; ending the recorded period was
// rejected because a question about last month would then lose its answer.
//
// We keep one record a version and its earlier periods inside it; a row for
// each change of a period, as bitemporal databases have it, was rejected
// because people read and diff the file, and a timeline should show a value
// once.
//
// We decide equality by words and never by similarity; measures over sets of
// words take "uses A not B" for "uses B not A" and miss that 15 became 30.
package knowledge
