// Package reminder tells when a reminder is due. That is on a day, at a file, at a word, or when
// a task has come to a state.
//
// Nothing here reads a clock, a file or a task. The caller says what day it is, which file is at
// hand and what is being said, and looks the task up.
//
// # Decisions
//
// In a path's glob ** stands for any number of directories; * and ? stay within one. Without a /
// it matches a name in any directory. A directory matches all that is in it. path.Match alone
// was rejected, since it has no **. A library was rejected, since these are forty lines.
//
// A keyword is met by whole words in their order, compared folded. To match a part of a word was
// rejected: a reminder on "go" would surface at "good".
package reminder
