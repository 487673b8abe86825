// Package meaning joins what words found with what is near in meaning, and says
// what has to be known of encoders for it. It has no facts and no vectors: the
// caller gives hits and cosines, and gets an order.
//
// What encodes and compares texts meets [Semantic] and [Vectors].
//
// # How words and meaning are joined
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
// looked at when words find nothing or their best hit is below [WeakBelow] (then
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
// [Unnamed]) are left to words. The table is asked without them, and what it
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
package meaning
