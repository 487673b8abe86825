// Package cost knows what the calls of all tools cost in tokens: by agent, by
// tool, by session and by day, project by project.
//
// # Receipts
//
// [Ledger.Note] takes a receipt of a call: which tool and action, for whom, how
// much went in and came out. It only puts it into a queue in memory, so it
// neither blocks nor fails a call. A server writes the queue down after at most
// half a second; a command does so in [Ledger.Close], after its answer. Both
// append whole lines, with one write and without fsync, to a file of the day:
//
//	receipts/2026-03-20    what was noted on that day (UTC), by any process
//
// A line is a CRC-32C in eight hex digits, a space, and JSON. It holds names,
// numbers and the time, and nothing of what was said. Each block that is written
// begins with a line feed, so that a line torn by a kill or a full disk damages no
// other. Lines that cannot be read are passed over.
//
// What can be lost: the queue of a killed process, that is up to a second of
// receipts; on a power cut also what the kernel had not written back; on a failed
// write that one block. A command's receipt never makes the data directory: before anything is
// stored in it there is no place for one. No call is ever counted twice.
//
// # Totals
//
// The state is costs.json with its journal (see package journal). A fold adds
// the unread part of the receipts to the totals and notes in the same commit how
// far each file was read, so that any number of processes may fold and
// every line is counted once. The file is synced first: what a commit says
// was read must be there after a power cut too, else lines appended later would stand
// before that place. Whoever makes a day's file grow past another 512 KiB folds,
// so do a server that ends, who begins the file of a new day while older ones are not small,
// and [Ledger.Reset]. Files are removed when they are folded and two days old.
//
// Where costs.json is the existing program's it stays as it is, and ours is costs-own.json.
//
// A report is the totals and, in memory, the part that is not folded yet. It
// writes nothing. Totals by agent, tool and action, sessions and days are
// kept side by side, so that letting an old session go changes no other sum:
// the 500 sessions last used, 400 days and 200 agents keep rows of their own, what is
// older is one row.
//
// # Tokens
//
// A server counts with the o200k tokenizer, in the background, from the texts
// in the queue; then the texts are gone. A command does not, for the
// tokenizer's table takes some 50 ms to set up: it notes bytes/4. So does a server
// while more than a MiB waits to be counted. Such numbers are marked as estimates,
// and a report says how many of its tokens they are.
//
// # Decisions
//
// We keep receipts in a file that is appended to and fold it now and then. A
// commit in the journal for each call was rejected: it costs a lock and an
// fsync, many times what a recall does, and a read would not be one any more.
//
// We note how far a file was folded; renaming it away first was rejected because a
// process that has it open would append to what was already counted.
//
// We remember no texts to count them later, when a report asks: that would keep
// what people said in one more place.
//
// We use github.com/tiktoken-go/tokenizer (MIT): its table is in the program as a
// function that runs when it is first needed, 7 MB of it, with nothing to fetch and no work
// at start. pkoukk/tiktoken-go was rejected: its tables for offline use add 12 MB
// and take 370 ms to decode.
package cost
