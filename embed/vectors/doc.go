// Package vectors keeps the vectors of a project's facts in one file and
// compares a question with all of them.
//
// Fill encodes the texts that have no vector yet and writes the file. Scan gives
// the texts whose vectors are nearest to a question's, Vectors the vectors of some
// texts, Pairs the pairs of texts that are near each other. A fact with stored
// questions has a second text, and so a second vector; the caller gives the two
// texts different ids.
//
// # What always holds
//
//   - It is a cache. A file that is missing, cut, damaged or of an earlier version counts as
//     absent. It may be deleted at any time.
//   - A file that is there and cannot be opened now does not count as absent: it is left as it is.
//   - What a newer version of the program wrote is left as it is. Vectors in memory serve the process.
//   - Vectors of two encoders are never compared.
//   - A damaged vector is never a hit: [ErrDamaged] says so, and the file is deleted.
//   - The file is rewritten and renamed into place. When two processes write
//     at once, one of them loses what it added, and encodes it again.
//   - Prune leaves no byte of a text's vector in the file.
//   - To what the vectors are complete is said in a small file beside them, of exactly
//     these vectors. Whoever removes one moves that instant, or takes it away. So facts that
//     are older than it find that it is not theirs, and all of them are looked at.
//
// # How it works
//
// A vector is kept as whole numbers from -127 to 127 and a scale, which costs no
// measurable precision. A scan reads the file block by block, on all processors.
//
// # The files
//
// embeddings.bin begins with two lines. The first has the version and the checksum
// of the second. That is JSON and lists each encoder's blocks: first id, count, size
// and checksum. The blocks follow, each of at most 256 vectors sorted by id: scales,
// hashes of the texts, ends of the ids, ids and numbers. All integers are
// little-endian. embeddings.json says for people what there is, and to what it is
// complete.
//
// In a later version the first line begins with "lcvec" and a number above 4, and "of" in
// embeddings.json repeats it. By that this version knows it.
package vectors
