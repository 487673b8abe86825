// Package eval measures the store on data with known answers: it runs sets of
// facts and questions through the public operations of package knowledge, on a
// real disk, and says in one table how often the answers were right, how fast
// they came, and what a remember costs beside the bare fsync it contains.
//
// # The sets
//
// The data is not part of the program; a directory holds it, gzipped JSON
// lines, one folder a source.
//
//	factconsolidation-6k, -32k  a stream of facts where later ones override
//	                            earlier ones, then questions in words: is the
//	                            first answer right, and is it ever outdated
//	yago11k                     facts with periods, asked as of a year: the
//	                            answer must be exactly the expected set; periods
//	                            upside down must be refused
//	yago-snapshots              what holds, asserted again year after year: the
//	                            current value, the number of versions and the
//	                            confirmations of the last run, for every key
//	locomo-facts, locomo-turns  recall within one project a conversation
//	cosqa                       recall of functions from what people typed
//	paraphrases                 recall by questions that share no word with their
//	                            fact; its file, embed/testdata/paraphrases.txt, is
//	                            in this project
//	speed                       every fact of the first three into one project,
//	                            one after another, as a server and as commands
//	                            do; no questions
//
// # What the columns say
//
// n counts the questions, or the keys where every key is checked. R@k is the
// mean recall, the share of the relevant facts among the first k, hit@10 the
// share of questions with at least one of them, MRR@10 and nDCG@10 as usual (see
// metrics.go). Where a question has one answer that several facts may hold, R@k
// is the share of questions of which one of the first k facts holds it. stale is
// the share of questions whose first answer is a superseded version. exact is the
// share of checks that came out exactly, cut, not rounded, so that 1.0000 means
// all. errors counts what came out wrong where only one outcome is right; the
// first few are told below the table.
//
// answered and given up are the two errors of abstention: the share answered of
// 200 questions about nothing in the store, and the share of the questions of
// the set of which nothing at all was found. The 200 are the questions of the
// other folders' sets, of each as many, taken at even distances, and go round
// the projects of the set.
//
// A set of questions in words has a row for each mode of recall with each
// encoder, side by side, on the same store: first the built-in one, then each
// transformer. A transformer takes half a second a text, so what it made is kept
// in a file by name and text, and a run that is stopped goes on where it was.
// Unless it may encode, a transformer has rows in those sets alone of which all
// is kept; the others are told below the table.
//
// facts counts the remembers that were committed, µs/fact is the time of one,
// and ×fsync that time beside an append and an fsync of as many bytes to a bare
// file on the same disk, done in turns with the remembers so that both see the
// same machine. Where several goroutines remember at once they share an fsync,
// and the ratio can be below 1.
//
// # Decisions
//
// Facts are remembered one by one through Remember, never imported, because
// that is the path that has to be right. The key of a document is its
// identifier and its category the title it came with: what a set does not say
// must not help. A set is fast or slow, never shortened, unless a sample is
// asked for; a sample takes whole keys, and of questions in words some while the
// store stays whole, so that what is expected stays true. It is always the same.
// A small set of documents is for a transformer that has encoded nothing yet: the
// store is cut too, which makes the questions easier, so its figures are to be
// compared with each other alone.
package eval
