// Package journal keeps a state that many processes share. It is a snapshot file and a journal
// of the commits made since. No commit that was answered is lost.
//
// # Use
//
// A [Machine] says how a state is made, folded from events, and written. Open a
// [Log] with it. Then:
//
//   - [Log.View] reads the newest state. It takes no lock and works in a
//     read-only directory.
//   - [Log.Update] decides on the newest state, under the lock, which events to
//     commit. It returns once they are on disk. Nothing can come in between, so
//     no update is lost. Concurrent callers in one process share an fsync.
//   - [Log.Compact] moves the journal into a new snapshot. That is for size
//     only and changes no state. A long-lived log does it by itself.
//   - [Log.Purge] also removes everything that is not the current state.
//   - [Log.Warnings] and [Log.Stats] say what was found wrong with the files.
//
// # What always holds
//
//   - A commit is all of its events or none.
//   - Update returns nil only after the fsync. Any error but [ErrInDoubt] means
//     that nothing was changed.
//   - A lock not had within Options.LockTimeout is [ErrLocked]. A process that
//     ends, however it ends, lets go of it.
//   - Damage is never silent. What is intact is kept, the damaged file is set
//     aside, and what is lost is named. A journal that is cut, emptied or
//     replaced from outside counts as damage.
//   - Files of a newer version ([ErrNewer]) or of another program
//     ([ErrForeign]) are never written.
//   - Every step of a writer leaves files from which the next process recovers.
//
// # Where to read on
//
//   - format.go: the files. journal.go: the log and its views. memory.go: how the state is read.
//   - update.go: writes and group commit. compact.go: compaction.
//   - recover.go: recovery, case by case.
//   - journalfile.go, directory.go, files.go, lock.go: the files underneath.
//   - remote.go, remotesnapshot.go, detach.go: logs that several machines share.
package journal
