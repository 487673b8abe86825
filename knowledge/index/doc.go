// Package index is the read model on disk: the facts of a project as a bleve index, found by words, by name and by
// value. It is the only importer of bleve. It is derived from the journal and may be deleted at any time.
//
// # Use
//
// [Build] writes an index of all facts. [Open] opens the newest one read-only. [Index.Position] says at which commit of
// the journal it stands; the caller gives the facts that later commits changed to [Index.Apply]. From then on
// [Index.Search], [Index.Fact], [Index.Named], [Index.Hashed] and [Index.Rooms] answer as of that later commit.
// [Index.Sync] writes what Apply brought as the next generation on disk. [Index.Fork] answers as of the disk. An Index without any generation works too: it
// holds in memory what Apply gives it. A small store needs no more.
//
// # On disk
//
// index/<seq>-<random>/ is a generation: a scorch index as the library writes it (store/, index_meta.json), the file
// extra, and the file generation.json. The latter is written last. It has the position, the version of the mapping, and
// the size of each file and the CRC-32 of each 4 MB. A generation is never written again. Open checks sizes and
// checksums, so a flipped byte, a cut file or a deleted one is found before bleve reads it.
//
// A sync clones the newest generation by hard link; .zap segments are immutable, the other files are copied. It opens
// the clone, applies one batch, closes it, and renames it into place. Whoever writes holds index.lock; it is tried,
// never waited for. A new generation removes the older ones. A reader that has one open keeps it: its files live on
// without a name. A damaged generation is logged and renamed to <name>.damaged; one such is kept. So is one of an
// earlier mapping, which an earlier version of the program wrote. One of a later mapping is logged and left alone, and
// nothing is written beside it. So an old server and a new one do not set aside each other's index in turns: the old
// one answers from memory until it ends.
//
// # What always holds
//
//   - One document is one fact, with its current and former values. A fact in memory replaces the one on disk.
//   - The same facts give the same score, whether on disk or in memory: memory is scored with bleve's formula and with
//     the frequencies of both.
//   - After an error that is [ErrDamaged] the generation has been set aside; the caller opens again.
//   - Only calls of bleve on data read from disk are guarded against panics. A panic in our code is never damage.
//
// A generation's files are mapped into memory. If another program cuts such a file while it is read, the operating
// system reports a fault. It is taken for damage in our calls of bleve; in a goroutine of bleve's own it ends the
// process, which is accepted.
package index
