// Package reminder decides when a reminder is due: on a day, with a file, with a keyword, or when
// a task has reached a state.
//
// Nothing here reads a clock, a file or a task. The caller passes the day, the file and the text,
// and looks the task up.
//
// # Decisions
//
// In a path's glob ** stands for any number of directories; * and ? stay within one. Without a /
// it matches a name in any directory. A directory matches all that is in it. path.Match alone
// was rejected, since it has no **. A library was rejected, since these are forty lines.
//
// A keyword matches whole words in their order, compared folded. Matching part of a word was
// rejected: a reminder on "go" would match "good".
package reminder
