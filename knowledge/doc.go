// Package knowledge keeps the facts of one project over time: who said what,
// since when it is true, how often it was confirmed, what it contradicted, and
// gives the right ones back.
//
// # Two times
//
// A fact has versions, one value each. A version has a valid period, when it
// is true of the project, and a recorded period, when the store held it. Both
// are half-open. Valid periods of a fact never overlap; there is a gap only
// where somebody gave an end or retracted. A valid period that is changed keeps
// what it was as an earlier belief, so that "what did we know on that day" has
// the same answer for ever.
//
// The policy of an assertion is one pure function, assert in remember.go. It
// decides under the store's lock on the newest state, so that no update is
// lost, whoever else writes. What counts as the same value is
// [fact.SameValue]; similar is not the same.
//
// Retracting ends the valid period now: what was true until then stays true of
// that time. A version that had not begun is withdrawn whole.
//
// # Confidence and salience
//
// Both are computed when read and never written back, from the version and the
// instant alone: see [fact.EffectiveConfidence] and [fact.Salience]. How often
// other facts are written has no part in them. How often a fact is read is kept
// in a side record, retrievals.log, which may be lost at no harm.
//
// Archiving takes what faded out of the active set, in a commit of its own, at
// most once a day and never while somebody remembers. Time travel, timelines,
// exact keys and the second stage of recall still see it; nothing is deleted.
//
// # Recall
//
// System 1 is the text index over active facts (package search), whose best
// hits are put into order by meaning. When it finds nothing, or only weak hits,
// System 2 looks at all vectors, and when that finds nothing at the archive, in
// place; no fact is written, and an archived one is marked. The index holds every version ever believed and
// masks what does not hold at the instants asked about, so one index answers
// for every day. It is derived: deleted or damaged, it is made anew.
//
// # Recall by meaning
//
// A fact is encoded as the words of its key and its value. How words and
// meaning are joined was chosen on the development sets; nDCG@10, in brackets
// the share of strangers answered, with the built-in encoder and with
// all-MiniLM-L6-v2 of eight bits:
//
//	                                    LoCoMo facts       turns              CoSQA              paraphrases
//	                                    built in  MiniLM   built in  MiniLM   built in  MiniLM   built in  MiniLM
//	words alone                         .616      .616     .501      .501     .383      .383     .008      .008
//	meaning alone                       .523      .517     .331      .309     .361      .601     .684      .761
//	ranks, 1:1                          .584      .570     .451      .440     .421      .534     .585      .645
//	ranks, 1:¼                          .610      –        .496      –        .430      –        .582      –
//	sum, words .5                       .617      .619     .499      .510     .448      .546     .602      .661
//	sum, words .7                       .629      .649     .517      .531     .433      .483     .591      .651
//	sum, words .8                       .631      –        .520      –        .417      –        .589      –
//	only the 50 best by words, .7       .624      .635     .516      .522     .431      .471     .015      .018
//
// All but the last answer every question, strangers' too. What meaning adds to
// good hits by words is their order: the last row, which needs no vectors on
// disk, is nearly as good where words answer. So that is what happens always,
// with the encoder that is built in, in half a millisecond; all vectors are
// looked at when words find nothing or their best hit is below weakBelow (then
// words weigh .3), and where semantic or hybrid is asked for. A weight that
// falls with the relevance of the best hit cost LoCoMo .01 and was rejected.
//
// As the program answers now, with the floors below, hybrid gives with MiniLM,
// by the weight of words
//
//	          LoCoMo facts   turns   CoSQA   paraphrases
//	words     .612           .501    .385    .008
//	.6        .644           .505    .507    .519
//	.65       .647           .507    .498    .519
//	.7        .645           .505    .485    .519
//
// and with the built-in encoder at .6, .65 and .7 .624, .626 and .627 of LoCoMo
// facts. So words weigh .65 beside a transformer, .7 beside the table.
//
// Something is always nearest. Of the strangers that words find nothing for,
// 97 of 100 have no fact of a store of 250 nearer than .40, and that rises with
// the logarithm of the store; how far it
// stands out of the others (its z-score) told less. Those that were answered all
// the same named somebody: the table knows no Maria, and puts every question
// about one near whatever has a name. So in auto the names in a question (see
// names.go) are left to words. The table is asked without them, and what it
// finds has to hold one of them or be nearer by .1. Strangers answered in auto,
// and nDCG@10 of the paraphrases:
//
//	                                  455 statements   2,310   LoCoMo facts   paraphrases
//	words alone                       .015             .025    .105           .008
//	floor .40                         .180             .160    .120           .218
//	floor .44                         .140             .080    –              –
//	floor .48                         .085             .065    –              .123
//	a name must be held               .125             .105    .105           .210
//	asked without names               .065             .060    .145           .210
//	and held, or nearer by .05        .040             .050    .130           .210
//	and held, or nearer by .1         .020             .035    .115           .210
//	and held                          .015             .025    .105           .210
//	MiniLM, floor .38                 .045             .060    .120           .344
//	MiniLM, held, or nearer by .1     .035             .045    .105           .328
//
// The last but two is what is done: a question that names a product of which the
// store has only the description still finds it. A transformer is asked with the
// names, which it understands. A name that is written small is not seen.
//
// Where meaning is asked for the floor is .30 and names are not looked at, for a
// caller who knows what he wants: of the paraphrased questions .43 are answered
// well for .21 in auto, and .05 to .3 more strangers.
//
// A command never reads more than the vectors' file and never loads an
// installed model, unless semantic or hybrid is asked for. A server encodes
// with the model in the background, what matters most first, and uses it for
// System 2 once all active facts have a vector of it. Questions about another
// time are answered by words: what is over has no vector.
//
// # Imports
//
// One import is one commit, unless it is very large: see importEach. A store of the existing program is recognised by
// its project_root, read once and never written.
//
// # Secrets
//
// Every text that comes in is redacted before anything else is done with it:
// see package secret for what its rules catch and miss.
//
// # Decisions
//
// We end the valid period on retraction; ending the recorded period was
// rejected because a question about last month would then lose its answer.
//
// We keep one record a version and its earlier periods inside it; a row for
// each change of a period, as bitemporal databases have it, was rejected
// because people read and diff the file, and a timeline should show a value
// once.
//
// We decide equality by words and never by similarity; measures over sets of
// words take "uses A not B" for "uses B not A" and miss that 15 became 30.
//
// We compute the briefing for the start of the day; the clock was rejected as
// an input because prompt caches live on equal bytes. Only a valid period that
// begins or ends within the day changes it, because truth comes first.
package knowledge
