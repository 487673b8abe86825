// Package cost counts the tokens that tool calls cost: by agent, by
// tool, by session and by day, project by project.
//
// [Usage.Note] takes a receipt of a call: the tool, the action, the caller, and how much
// went in and came out. It puts the receipt into a queue in memory, so it neither blocks
// nor fails a call. A server writes the queue within a second, a command in
// [Usage.Close], after its answer. Reports read the files and write nothing.
//
// # Files
//
//	costs/2026-03.jsonl   the receipts of that month (UTC) from all processes
//
// Each receipt is a line of JSON with names, numbers and the time, but no content. Processes
// append whole lines with one write, so none overwrites another. Each write begins with a line
// feed, so a line cut by a kill or a full disk damages no other. Lines
// that cannot be read are skipped. A reset is a line too; earlier lines do not count any more.
//
// Writes are not synced, except for a reset. A kill loses the queue of that process, up
// to a second; a power cut also loses what the kernel had not written. A command's receipt
// never makes the data directory.
//
// # Agents
//
// Calls that a connection made before it registered are its agent's, if it registered
// just one. All other calls without an agent are listed under the client's name.
//
// # Tokens
//
// Texts are counted by [tokens.Estimate], within 5% of o200k over a session. A receipt that
// has only a size counts a quarter of it, and a report says how many of its tokens are such. So
// are those that commands of earlier versions noted.
//
// A commit in the journal for each call was rejected: it costs a lock and an fsync.
package cost
