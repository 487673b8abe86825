// Package briefing chooses what an agent should know when it begins, and says
// it in as few bytes as are given.
//
// An [Occasion] says for whom and for how much; [Occasion.Select] takes, of what
// a ledger.Frame holds, the facts that matter most; the [Selection] is worded as
// a briefing ([Selection.Text]) or for an overview ([Selection.OverviewText]).
// The selection is made once: both say the same.
//
// # Order
//
// Pinned facts come first, then those of more salience; those within a point of
// each other by what the caller works on. Rooms come in the order of their best
// fact. After them come the newest decisions, the worst gotchas, the reminders
// that are met or due, and who is at work, five of each at most and in half of
// the budget. What is left out is counted.
//
// # The same bytes
//
// The same state on the same day gives the same bytes: stars and salience are of
// the start of the day, and retrievals have no part in them.
//
// # Files
//
//	select.go     what is chosen
//	candidate.go  the facts it is chosen from, the best first
//	budget.go     what fits
//	text.go       how it is said
//
// # Decisions
//
// We compute the briefing for the start of the day; the clock was rejected as
// an input because prompt caches live on equal bytes. Only a valid period that
// begins or ends within the day changes it, because truth comes first.
//
// We keep the 512 best candidates and choose from all when that was too few;
// sorting all was rejected because a store has a hundred thousand and a briefing
// takes thirty.
//
// A token is taken for four bytes; a tokenizer was rejected because it costs more
// than the facts that it counts.
package briefing
