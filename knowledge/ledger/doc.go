// Package ledger is what one project knows, as commits made it: the facts with
// all their versions, and what is known beside them.
//
// # State and events
//
// A commit is a list of [Event]; the [State] is what they fold to. Decisions
// about what to assert, retract or import are made in package knowledge, which
// asks a State or, where it decides one thing upon another, an [Overlay], and
// says what is to be so in events. It knows nothing of how either is kept.
//
// # What can be asked
//
//	Versions ByID Room Erased       one fact, one version
//	Each Within Sorted Texts        all of them, with their texts
//	Held Glimpse                    those that a [Frame] holds: a room, a name, an instant
//	Periods Sketches                all of them, of which the times are enough
//	Reach ChangedSince TouchedAfter what an index or vectors lack
//	Document                        the fact file
//	Beside                          patterns, gotchas, relations, reminders, verdicts, the log
//	Lessons                         patterns and gotchas, as if they were facts
//
// What an iterator yields is good until it yields the next, unless it says
// more: see [State.Lasting] and [State.Whole].
//
// # Facts that are still on disk
//
// A command that asks for one fact should not parse a hundred thousand. So a
// State may be partial: see partial.go, and package table for the key table
// that it reads from. Who asks does not see it. When a fact on disk turns out
// to be damaged, [Log.View] and [Log.Update] do again on a whole state what
// they were doing.
//
// # What is where
//
//	log.go machine.go                    the ledger of a directory, on package journal
//	state.go event.go beside.go          what is known, and how events change it
//	lessons.go                           patterns and gotchas as versions
//	overlay.go                           decisions that are not committed
//	frame.go walk.go sketch.go texts.go  the ways through the facts
//	reach.go                             what came since
//	document.go rewrite.go               the fact file
//	partial.go parts.go keys.go          facts that are read from disk one by one
//
// # Decisions
//
// The lists beside the facts are fields, and the facts are behind methods: the
// lists are short and always in memory, the facts are not. An interface for all
// that can be asked was rejected, since there is one State and what varies is
// below it, in partial.go; [Facts] is all that a decision on one fact needs, and
// is met by what a test makes in a line.
package ledger
