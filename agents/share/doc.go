// Package share hands files of a project from one agent to another: their
// contents as they were, how many tokens they are, and a message.
//
// # Files
//
// In the directory of one project, agents/shared/<project-hash>:
//
//	shares.json, shares.journal, …   who shared what with whom, and who had it (see package journal)
//	files/<share-id>/<sha-256>       the contents, named by their hash
//
// A share has its files to itself, so that clearing one never takes contents
// that another needs. They are written and synced before the commit that names
// them: a share that was answered can be pulled whatever happens next. Directories of
// shares that nobody committed, left by a killed process, are removed an hour later.
//
// # What may be shared
//
// Regular UTF-8 text files of the project, 1 MiB each, 4 MiB and 100 files a share. Paths are
// opened through an os.Root on the project, so neither .. nor a symbolic link leads out
// of it. A file that is too big is refused by its size, without being read. All
// files are shared or none: a refusal names every file that is in the way.
// Secrets are taken out before anything is stored, and tokens are counted after that, by
// whom Options.Tokens names.
//
// # Who gets it
//
// A share goes to one agent, to any one agent of a type, or to everybody but the sender,
// also to those who register later. Each receiver gets it once: its names with pull, its contents with
// pull content=true, which may come after. A share to a type belongs to the agent that pulls it first.
// Listing takes nothing. A share stays until its sender clears it.
//
// What is given is compared with the project's files as they are now: [stale] has
// changed since, [gone] is not there any more, [unreadable] cannot be looked at. [damaged] is one
// whose stored contents are not what was shared; they are not shown.
//
// # Decisions
//
// Contents are shown between fences longer than any run of backticks in them,
// so that no file can end its own block and pass for another or for our own
// words. A random fence was rejected: the same share should read the same.
//
// We give names and contents once each. To count a look at the names as having had
// the share was rejected: who looks first could then never read it.
package share
