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
// the logarithm of the store. Those that were answered all
// the same named somebody: the table knows no Maria, and puts every question
// about one near whatever has a name. So in auto the names in a question (see
// [Unnamed]) are left to words. The table is asked without them, and what it
// finds has to hold one of them or be nearer by [OtherNames]. Once that is so,
// chance comes near less often, and the floor may be lower, rise more slowly
// and go on falling in stores of less than 250 facts. Strangers answered in
// auto, and nDCG@10 of the paraphrases, 60 facts:
//
//	                                  455 statements   2,310   LoCoMo facts   paraphrases
//	words alone                       .015             .025    .105           .008
//	floor .40, + .045 an e-fold       .180             .160    .120           .218
//	floor .44                         .140             .080    –              –
//	floor .48                         .085             .065    –              .123
//	a name must be held               .125             .105    .105           .210
//	asked without names               .065             .060    .145           .210
//	and held, or nearer by .05        .040             .050    .130           .210
//	and held, or nearer by .1         .020             .035    .115           .210
//	and held                          .015             .025    .105           .210
//	nearer by .1, the slope goes on below 250 facts
//	  floor .40, + .015 an e-fold     .025             .055    .115           .232
//	  floor .40, + .03                .020             .040    .115           .291
//	  floor .38, + .03                .030             .050    .115           .312
//	nearer by .16, floor .38, + .03   .020             .035    .105           .312   (taken)
//	  nearer by .13                   .020             .040    –              .312
//	MiniLM, floor .38                 .045             .060    .120           .344
//	MiniLM, held, or nearer by .1     .035             .045    .105           .328
//	MiniLM, held, or nearer by .16    .030             .045    .105           –
//
// A question that names a product of which the
// store has only the description still finds it. A transformer is asked with the
// names, which it understands.
//
// The price is in small stores of software facts, where a stranger from the same
// trade finds something that is near indeed: of 200 strangers the 60 paraphrased
// facts answer .150 for .110 before, and words alone .090. Among 400, 1,000 and
// 1,473 statements about other things the paraphrases come to .192, .138 and .124
// for .143, .095 and .090, strangers to .115, .160 and .080 for .105, .140 and .065.
//
// Tried beside this, and left:
//   - A margin instead of a floor: how far the nearest is before the second, the
//     fifth or the eleventh, alone or added to the cosine. At as many strangers it
//     finds as many right answers or fewer once names are left to words: 7 of 200
//     in the store of 60 facts leave 24 of 54 by cosine, 11 to 22 by any of these.
//   - Names in small letters (strangers so written: .180 and .160). A word of two
//     pieces or more for a name takes away half of what meaning finds, .136 of
//     .210, since password, schema and credential are such words to the table,
//     three or more .158; the strangers stay, whose names are whole words there.
//     Words near first names: Tim is .08, Andrew .16, Jenkins .23, author .20.
//   - No names where most words have capitals, as in German: of 20 German
//     strangers 8 are answered instead of none, of 16 good questions none more.
//     The table has no German, so that capitals keep it silent is a gain.
//   - Questions without their stop words: .267 for .291, and more strangers.
//
// Where meaning is asked for the floor is .30 and names are not looked at, for a
// caller who knows what he wants. It rises by .045 with the table, since a
// lower one found no more in the large sets and answered .225 of CoSQA's
// strangers for .145; in a small store it falls like the other: of the
// paraphrased questions .515 are answered well for .434 before and .312 in auto,
// and .290 of the strangers for .200. Falling by .045 gave .554 and .345. MiniLM,
// whose floor falls alike, comes to .653 for .522, and in auto to .408 for .322.
//
// Hits behind the first are not cut by their sum: at a third of the best one the
// lists of LoCoMo's facts are a tenth shorter for .001 nDCG@10 and .003 R@10, at a
// fifth by a fiftieth for nothing, and either takes .02 from the paraphrases,
// whose right answer often stands behind a word.
package meaning
