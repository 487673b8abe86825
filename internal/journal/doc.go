// Package journal keeps a state that many processes share: a snapshot file, a
// journal of the commits made since, and rules by which no commit that was
// answered is ever lost.
//
// A [Log] folds commits into a state. [Log.View] reads the state without any
// lock, also from a read-only directory. [Log.Update] decides on the newest
// state, under the lock, which events to commit, and returns once they are on
// disk. [Log.Compact] moves the journal into a new snapshot; that is for size
// only and changes no state.
//
// # Files
//
// For a log with the name "knowledge":
//
//	knowledge.json              S       the snapshot: the state at commit N
//	knowledge.json.prev         S.prev  the snapshot before, at commit M ≤ N
//	knowledge.json.new          S.new   a snapshot being written
//	knowledge.journal           J       the commits since N (or since some B ≤ N)
//	knowledge.journal.prev      J.prev  the commits since M
//	knowledge.journal.new       J.new   a journal being written
//	knowledge.lock                      held by the one process that writes J or switches files
//	knowledge.compact.lock              held by the one process that writes S.new
//	knowledge.journal.torn              torn writes that were cut off, one after another
//	knowledge.journal.corrupt-<time>    a damaged journal, set aside whole; knowledge.json.corrupt-<time> likewise
//	knowledge.journal.doubt             notes a write of which nobody knows whether it is on disk
//
// Directories are made with mode 0700, files with 0600, and none before the
// first Update. Lock files are never removed.
//
// # The journal
//
// A line is a CRC-32C (Castagnoli) in eight hex digits, a space, JSON, and a
// line feed; the checksum is that of the JSON. The first line is the header:
//
//	9d1f03aa {"journal":1,"schema":1,"generation":3,"base":1200,"prev":"5be0cd19","at":"…","repairs":0}
//
// Every other line is one commit, all of its events or none:
//
//		1f83d9ab {"seq":1201,"prev":"5be0cd19","at":"2026-03-20T09:30:00.000000001Z","events":[…]}
//
//	  - seq counts commits from 1 without a gap. at is the recorded time; it
//	    strictly increases: max(clock, last + 1 ns).
//	  - prev is the checksum of the commit before, "00000000" for the first. It
//	    is no part of recovery. It shows a reader that the tail it had folded
//	    was cut back and replaced by another one.
//	  - base is the commit after which the file begins. Commits up to base are
//	    in the snapshot; so may some after it be, after a crash in a compaction.
//	  - generation counts rewrites of the journal; repairs counts those in which
//	    a commit turned out to be lost.
//	  - {"seq":1207,"prev":"…","lost":true} stands where a damaged commit stood.
//
// # The snapshot
//
// One JSON object, written by [Machine.Encode]. Its first member is "schema".
// "checksum" is the CRC-32C of the file with its own eight digits as zeros; it
// stands in the first 64 KiB. "seq", "generation" and, if present,
// "updated_at" are scalars before the first list or object. It is read in
// this order: the schema, and a newer one is refused with [ErrNewer] whatever
// else is wrong with the file; then the checksum; then the rest. A JSON object
// with neither "schema" in front nor a checksum is another program's:
// [ErrForeign]; nothing in its directory is ever written.
//
// # An update
//
// Under the lock: catch up with J; decide; append the lines with one write at
// the known length; fsync J; fold; answer. Callers that wait in one process
// are decided one after another, each on the state that the one before left,
// and share the write and the fsync (group commit). A view of this process that
// comes during them waits for the fsync: another process may see the commit
// between the write and the fsync, and a later view that missed it would turn
// time back. That other view sees it gone again if the fsync failed; to have
// it wait was rejected because then a stopped writer would stop every reader.
//
// The fsyncs, and what each is for:
//
//	J, after an append             the commit itself
//	J, after cutting back          the failed write must not come back after a power cut
//	J, after cutting a torn tail   it would be found, kept and told again
//	J, before a compaction         a line inherited from a killed writer may be in the page cache only
//	directory, after J is made     J's name; without it the file is lost with its commits
//	parent directories, when made  the same for the directory's own name
//	S.new, J.new, before a rename  a name must never stand for a file that is not written
//	directory, after S.new         it stands in for S while S and S.prev are one file
//	directory, before S is switched, and again after J: S.prev and J.prev must be there before S and J are others
//	directory, twice in a purge    the second copy of the snapshot comes before the end of the old one; what is gone stays gone
//	.torn, .corrupt and their names, before that of which they are the copy is cut or replaced
//
// # Compaction
//
//	1  under the lock: catch up, repair, fsync J, clone the state at commit N
//	2  no lock: encode to S.new, fsync it and the directory
//	3  under the lock: J.new := header with base N and the commits after N, fsync
//	4    S.prev := link to S; J.prev := link to J; fsync the directory
//	5    rename S.new to S
//	6    rename J.new to J; fsync the directory
//
// Where there are no hard links step 4 renames instead, and until step 5 or 6
// the name S or J is missing; recovery reads S.new, S.prev, J.prev then.
// A copy instead of the link was rejected: it would double what step 4 writes under the lock.
//
// # Recovery
//
// The state is the newest good one of S, S.new, S.prev and every commit after
// it in J and, where J does not reach back far enough or is damaged, J.prev.
// S.new and S.prev are looked at only when S is missing or damaged. So:
//
// The process is killed, or power fails,
//
//   - while the first J is made: J.new or an empty J remains. No commit was
//     answered; the next writer makes J anew.
//   - in an append: J ends in a torn line, or in whole lines nobody answered
//     for. Whole lines are kept (each is a commit of its own). The torn line —
//     the bytes after the last line feed — is passed over by readers; the next
//     writer copies it to .torn, cuts it off, syncs and warns.
//   - in an append, after which the disk shows a line feed but not all that
//     stood before it: that is a damaged line, see below.
//   - in steps 1–3: J is as it was. S.new and J.new are overwritten next time.
//   - in step 4: S and S.prev, J and J.prev may be the same file. S.new is
//     good, so damage to the one snapshot is still no loss.
//   - after 5: S has N, J has everything after M: commits up to N are passed over.
//   - after 6, before its fsync, and power fails: the disk may show either rename
//     without the other. With S at M and J from N on, J.prev has what is between.
//   - after 6: done. S.prev (M) with J.prev (after M) and J (after N) are the
//     second, complete copy until the next compaction.
//   - in a repair: the repair writes new files and renames them; it begins anew.
//   - in [Log.Purge]: some of what is to go is still there; purge again.
//
// Something fails and the process lives on,
//
//   - a write or fsync of an append: J is cut back to its former length and
//     synced, the error names the cause, memory is as before. It is never
//     tried again without being asked.
//   - that cut or its fsync too: [ErrInDoubt]. J is closed, the doubt noted in
//     .doubt as far as the disk lets us, and the next writer settles it: a
//     torn tail is dropped, a whole commit kept, J written anew (after a failed
//     fsync the kernel holds pages for clean that never reached the disk), and a
//     warning says whether the commit is there.
//   - a step of a compaction: the error is returned; the files are as after a kill there.
//   - the lock cannot be had in time: [ErrLocked]; there is no carrying on without it.
//
// Something is damaged,
//
//   - S: the newest good one of S.new and S.prev takes over, with J.prev and J.
//     Nothing is lost. The next writer sets S aside, writes J with all commits
//     since that snapshot, puts the snapshot in S's place, and warns.
//   - S and every other snapshot, and J does not begin at commit 0: [ErrCorrupt]; nothing is written.
//   - a whole line of J: the lines before and after it are kept. If J.prev has
//     the commit, or the snapshot includes it, nothing is lost; else its number
//     is named. If only its line feed was hit both it and the line after are
//     read. The next writer copies J to .corrupt-<time> and rewrites it with a
//     placeholder for each lost commit. Readers pass over it and warn.
//   - J's header: the commits tell the rest. J is rewritten likewise.
//   - J is missing or empty although S is there: the commits in J.prev after S's, if any; J is made anew.
//   - a line with a good checksum that cannot be decoded, or a snapshot likewise: [ErrCorrupt], nothing
//     is written: it was written by a program that knew more.
//   - the last line feed itself: not to be told from a torn write, and treated as one.
//
// A header or snapshot of a newer schema is refused with [ErrNewer]. A J of an
// older schema is rewritten before the first newer event is appended, so that an
// older program refuses it instead of misreading it.
//
// # Following
//
// A log that is open catches up with what others wrote by one stat and, if
// nothing was written, eight bytes: the checksum of the last line it folded.
// New lines are read and folded. If that checksum or the chain of prev is
// broken, the tail was replaced: the state is loaded anew. If J is another
// file (a compaction), the rest of the old one, which stays readable, is folded
// first, then the place in the new one is found by seq and checksum; only if
// that fails, or a repair has lost something, is the state loaded anew.
//
// # Locks
//
// knowledge.lock is taken with flock (LockFileEx on Windows) without blocking,
// again and again until the context or Options.LockTimeout ends. The kernel lets go of it
// with its process, however that ends; a stopped process keeps it, and the
// error names it. Lock files may be deleted by hand: after each acquisition the
// name must still stand for the locked file, else it is opened again.
//
// Who finds the lock taken leaves a mark in the file. Who has had it for some milliseconds
// and comes back for it looks for such a mark, and if there is one waits before it
// tries. Without that a busy process has it again each time before the
// others have looked; letting everyone go first each time was rejected
// because it halves what all of them together get done.
//
// # Starting from another place
//
// A [Machine] that is also a [Starter] keeps its state elsewhere too, with the
// [Head] that [Log.View] gave with it. A cold log then begins with that state
// if J, or J.prev and J, have that commit and all after it undamaged. It reads
// the lines from there on, and of S only the first 4 KiB: S must be ours, not
// newer than this program, and reach to where J begins. Repairs and
// compactions read everything.
//
// # Partial states
//
// A [Machine] that is also a [Partial] may take S without S being read or its
// checksum computed; it answers for what it then reads. A writer that has
// something to repair, and whoever finds S missing, reads all of it.
package journal
