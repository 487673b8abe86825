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
//   - A damaged vector is never a hit: the file has a checksum.
//   - The file is written anew and renamed into place. When two processes write
//     at once, one of them loses what it added, and encodes it again.
//   - Forget leaves no byte of a text's vector in the file.
//   - To what the vectors are complete stands beside them in the file, so it is true
//     of them, whoever writes last. Who adds what came since must find them complete
//     to there ([Span]): somebody may have reset or replaced them meanwhile.
//
// # How it works
//
// A vector is kept as whole numbers from -127 to 127 and a scale, which costs no
// measurable precision. The file is read whole. The scan compares all vectors, on
// all processors: some 10 ms for 100,000 facts. MEASURED.md has the figures, and
// what was tried.
//
// # The file
//
// embeddings.bin begins with a line: the version and the checksum of the rest. For
// each encoder follow a line of JSON with its name and counts, the scales, the
// hashes of the texts, the ids and the numbers, all sorted by id. All integers are
// little-endian. embeddings.json says for people what is in it.
package vectors
