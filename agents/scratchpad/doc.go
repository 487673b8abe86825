// Package scratchpad keeps the messages of one project's agents: what stands on
// the pad, who has still to see which of it, and how all of it is written into
// the registry's file and read from there.
//
// A [Pad] is a value without files, locks or clock: who has a journal folds
// [Pad.Post] and [Pad.Read] into it. What agents are, and which of them are
// there, it does not know; it is told.
//
// # Lists
//
// Messages have numbers. Broadcasts are one list, and a reader has a cursor in
// it; direct messages wait in a list of their addressee, those to a type in one
// of the type. So a post costs the same for two readers and for a thousand, and
// to count what a reader has not seen is one look along a list of small
// records. One that reads urgent messages first has read ahead of its cursor;
// these numbers are kept until the cursor has passed them.
//
// # Nothing is dropped unread
//
// A broadcast waits for every agent that has not finished, for seven days after
// its last activity; one that comes back later is told so. Direct messages wait
// for ever, unless their author gave a ttl. Who is new sees the broadcasts of
// the last day, a hundred at most. What nobody is to see any more leaves the
// pad when the list has doubled.
//
// # In the file
//
// Behind a file of thousands of messages stands an index of them, by which a
// command counts what is unread and reads only the messages that it shows. We
// keep it in the file, where it is switched with it; a file of its own was
// rejected because it would have to be written, and found to be of another
// snapshot, beside the journal.
package scratchpad
