// Package segment writes and reads files of words and their postings: bleve's segments (zap version 17). It knows
// documents by their numbers and by one text that is stored of each, fields by their names, and nothing of facts, of
// ranking, or of which files there are.
//
// # In a file
//
// What is stored of the documents; of each field the postings (a roaring bitmap of documents, and for each its
// frequency and the length of the field) and the dictionary, a vellum automaton; where those stand; a footer with a
// checksum. There is no text, no location, no doc value. bleve reads these files and merges them (a test does), but for
// this: a dictionary is read whole, so a field's is divided at every 4,096th word, the parts being fields of their
// own, and looking a word up reads some 100 KB.
//
// # Why not bleve's reader and writer
//
// Its reader wants the whole segment in memory or mapped; a mapped file that is cut short under a reader kills the
// process. Ours reads the blocks it needs, each checked (package blocks). Its maker takes facts one by one, 85 µs each
// and ten times the space, adds a dictionary of identities that nobody asks for, and merges what it made; ours
// writes what [Collector] and [Content] have in order already.
//
// # Damage
//
// A file that is not what was written gives [ErrDamaged] or an error of package blocks. The libraries underneath may
// panic over one whose checksums are good and that something else wrote: who reads guards against that. [Sums] takes
// the checksums from the file on disk, and only if it ends with the checksum of what was written.
package segment
