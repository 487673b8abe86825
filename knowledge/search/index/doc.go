// Package index keeps the words of facts for a search to read: in memory, in batches, and in generations on disk. It
// ranks nothing.
//
// # What is indexed
//
// A [Doc] has four fields, key, alias, category and value, and the whole names it is met by: key,
// category/key and each alias, once as written and once by their words (auth-token = authToken = "auth
// tokens"). Facts and queries are cut into terms by one analyzer, that of package words. There is no text stored,
// no _all field, no term vectors, no doc values.
//
// A search reads it through [Index.View]: one [Source] for the generation, one for each batch, one for what came
// since, each with its own numbers for facts.
//
// # Generations on disk
//
//	index/index.lock               flock, taken by who writes, without waiting
//	index/<n>-m<mapping>/          a generation: never written again
//	    generation.json            checksum; recorded time, epoch, lengths, files, deleted facts
//	    1.zap 2.zap …              bleve segments (zap version 17)
//
// [Open] takes the newest generation whose header is good and reads of its segments where their parts stand. A search
// reads the dictionaries and postings it needs, from the path, in blocks of 32 KiB, each of them checked against its
// checksum in the header when it is first needed (packages segment and blocks). No file is kept open or mapped. What
// has been read stays whatever is done to the files afterwards (deleted, cut, overwritten); what has not is an
// [ErrDamaged], upon which the caller opens the index anew, since another process may have replaced the generation,
// and throws it away where that does not help. What is newer or of another mapping is as if it were not there, and
// the caller adds what is missing since [Index.Since].
//
// [Index.Add] and [Index.Remove] go to an index in memory and mask what they replace; a thousand facts or more that
// come at once are made batches (sorted words and their postings), on all processors, which are searched as they
// stand, 40 µs each. Where so much is missing that nobody should wait for that, [Index.Grow] makes the index
// afterwards, a slice at a time, in a directory part-m<mapping> that the next Grow, of any process, goes on with.
//
// [Index.Sync] writes the next generation into a directory of its own and renames it into place: the segments of the
// newest one by hard link (a copy where there are none) and one more of what came after; segments are merged when the
// last are not half as large as the one before, so a store of N facts has about log N of them. They are read and
// written as a stream, a word at a time, and none of more than 200,000 facts is made, so that it takes no more memory
// in a larger store. A merge that ctx has no time for is not begun, and one in which ctx ends is given up: the
// generation then has the segments as they were, and the next Sync with more time merges them ([Index.Scattered]);
// what a command may take after its answer is far less than what all of a large store takes. What a generation is complete to is
// taken together with what it is made of ([Index.Begin]). Older generations are taken away at once. A Sync killed at
// any point leaves a tmp- directory for the next one to take away. The blocks' checksums are taken from the file as
// it is on disk.
//
// An erased fact's words stay in the segments until they are merged: an erasure calls [Index.Drop] and begins a
// new epoch, which makes the next Sync build anew.
//
// We use bleve's segments (zapx) and analysis types and not its scorch index, because scorch brings a bolt database
// and background goroutines: its files are mapped into memory, so a file cut short under a reader kills the process
// (SIGBUS, in a goroutine nobody can guard); opening takes a lock and reads nothing back to check it; each program
// start pays 2 to 7 ms for its tables. What is left of it here, the list of segments and deleted facts, is a small
// file. Cost: a process holds its own copy of what it read, up to 20 MB for 100,000 facts. A one-batch scorch index
// as the tail was rejected too: each fact added makes a segment of its own.
package index
