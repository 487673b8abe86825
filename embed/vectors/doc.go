// Package vectors keeps the vectors of a project's facts in one file and
// compares a question with all of them.
//
// Fill encodes the texts that have no vector yet and writes the file. Scan gives
// the texts whose vectors are nearest to a question's, Vector the vector of one
// text, Pairs the pairs of texts that are near each other. A fact with stored
// questions has a second text, and so a second vector; the caller gives the two
// texts different ids.
//
// # What always holds
//
//   - It is a cache. What cannot be read counts as absent: a file that is
//     missing, cut, damaged, or of another version. It may be deleted at any time.
//   - Vectors of two encoders are never compared.
//   - A damaged vector is never a hit: each has a checksum.
//   - The file is written anew and renamed into place. When two processes write
//     at once, one of them loses what it added, and encodes it again.
//   - Forget leaves no byte of a text's vector in the file.
//
// # How it works
//
// A vector is kept as whole numbers from -127 to 127 and a scale, which costs no
// measurable precision. The scan compares all of them, on all processors: some
// 10 ms for 100,000 facts. A server keeps the vectors in memory. A command reads
// what they are of, and lets the numbers run through a small buffer for each
// processor; to get 26 MB of memory from the system takes longer than to read
// them. MEASURED.md has the figures, and what was tried.
//
// # The file
//
// embeddings.bin has a section for each encoder: a header of 32 bytes with a
// checksum, the arrays (name, scales, checksums, hashes of the texts, ends of the
// ids, ids), then the numbers, sorted by id. All integers are little-endian.
// embeddings.json says for people what is in it.
package vectors
