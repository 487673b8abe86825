// Package embed turns texts into vectors, so that a question finds a fact with
// which it shares no word.
//
// # Two encoders
//
// [Static] is built in: a table with a vector for each token, 8 MB in the
// program, some microseconds a text, nothing to install. [OpenModel] runs a
// sentence transformer that was installed, 0.2 to 0.6 s a text; it is better and
// belongs into a process that lives on. Both are [Encoder]s. We keep both:
// the transformer alone would leave a fresh install and every cold command
// without recall by meaning, and the table alone gives away what a model can do.
//
// # The table
//
// It is distilled from all-MiniLM-L6-v2 (see NOTICE): each token's output,
// projected to 256 values and weighted by how rare the token is, then trained
// until the mean of a sentence's rows points where the model's output for the
// sentence points. nDCG@10 by meaning alone, against BM25 by words:
//
//	                            words   plain   trained   transformer
//	120 paraphrases, 60 facts   .064    .373    .684      .775
//	LoCoMo facts (dev)          .601    .462    .523      .517
//	LoCoMo turns (dev)          .444    .315    .331      .301
//	CoSQA (dev)                 .384    .188    .361      .602
//
// The transformer is the teacher, in fp32. The program that makes the table, and
// the sources of the sentences, are in cmd/measure/table. 384 values
// gained nothing over 256, 128 lost much, and int8 with a scale a row costs
// nothing that can be measured. We read the table where it lies in the program
// and index the vocabulary when it is first used, so that a command without need
// of it pays nothing; a file beside the program was rejected, since it can be
// missing.
//
// # What the transformer costs who does not use it
//
// The library that runs it is linked: 8 MB, and some 150 packages that initialise.
// 250 empty commands of a program with it and one without, in turn, took 1.4 ms
// more at the least and 2.3 ms more in the median of a busy machine (CPU time 1.4
// and 2.1 ms); initialising is .7 ms of that, the rest is pages of a larger file.
// The table costs nothing before its first use. A second program that has the
// library was rejected: it can be missing, or of another version.
//
// Package vectors keeps what the encoders give.
package embed
