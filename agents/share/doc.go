// Package share passes files of a project from one agent to another: their contents at the
// time of sharing, their number of tokens, and a message.
//
// # Files
//
// In the directory of one project, agents/shared/<project-hash>:
//
//	shares.json, shares.journal, …   who shared what with whom, and who had it (see package journal)
//	files/<share-id>/<sha-256>       the contents, named by their hash
//
// Each share has its own copy, so clearing one takes nothing from another. Contents are
// written and synced before the commit that names them. Directories that a killed process
// left without a commit are removed an hour later.
//
// # What may be shared
//
// Regular UTF-8 text files of the project, 1 MiB each, 4 MiB and 100 files a share. Paths
// are opened through an os.Root. Git's own files, and names that a rule finds sensitive, are
// refused, also behind a symbolic link. All files are shared or none, and a refusal names
// each file in the way. Secrets are taken out before anything is stored.
//
// # Who gets it
//
// A share goes to one agent, to any one agent of a type, or to everybody but the sender.
// Agents that register later get it too. Each receiver gets the names once with pull, and the
// contents once with pull content=true, which may come after. A share to a type belongs to
// the agent that pulls it first. A share stays until its sender clears it. An answer is bounded:
// the next pull goes on where it ended, also within a file.
//
// A pull compares the project's files as they are now: [stale] has changed since, [gone] is
// not there any more, [unreadable] cannot be read. The stored contents of a [damaged] file
// are not what was shared and are not shown.
//
// Contents are shown between fences longer than any run of backticks in them, so no file can
// end its own block, and a line before them says that they are data. A character that
// nobody sees and the < of a tag are shown as escapes. JSON escapes them in its own way, so a
// program has the text as it is. A random fence was rejected: the same share should read the same.
package share
