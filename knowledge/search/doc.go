// Package search finds facts by their words. It and what lies below it are the only importers of bleve.
//
// What is indexed and how it gets to the disk is package index, how a text is taken apart package words, and what
// a file on disk looks like packages segment and blocks. Here are questions: what stands for a word, who comes first,
// and when to say nothing.
//
// # Questions
//
// A query is text and never syntax: its terms are looked up one by one. It may hold anything. At most 64
// distinct terms are searched for, the rarest ones. Stop words are indexed like others and left out of a query
// that has any other word, so "the" finds what says "the", and "the database" what says "database".
//
// # Rank
//
// BM25 with the fields' frequencies weighted and summed before they saturate (BM25F), so that a word in key and
// value is not counted as two. Facts whose name is the query come first. For a word that the index does not have
// stand what is short for it or what it is short for (db for database, from a list), else the words that begin with
// it, else those one edit away, else the longest of six letters or more that it begins with itself and that stands
// in a name (key, alias or category), and there only. What is short, or only a beginning, weighs at most half of the
// commonest of the query's words that are there. Words that the index has are stood for only if the whole query
// found nothing. The order is score, then category and key, then ID; the same facts give the same scores to the last
// digit whether in memory, on disk, or divided among the two in any way.
//
// # Relevance, and saying nothing
//
// Score is of no meaning between two queries, so each hit also has a Relevance: the share of the query's weight
// that it covers, a word weighing log((N+301)/(df+1)), times m/(m+1) for m words of n covered (scaled so that all
// of them give 1). What chance covers grows with the store (measured: .18 at 250 facts, + .03 with each e-fold up to
// 100,000), and the share is raised to the power that puts it at [Floor]. No hit at Floor or above: no answer. With
// one, hits from [Trail] on are listed after it. A name is 1.
//
// A word merely alike counts by the letters that agree, .3 of one for five and .1 more for each further one, in a
// name as for a letter more, between .22 and .6: chance finds a likeness of few letters in any large vocabulary, and
// one letter more outweighs forty times the facts. An edit, or the ending that a name lacks, costs two letters. So a
// single word that is a question finds what is like it by five letters in a name, by six in a value (seven in a long
// one) in stores of any size; by a letter less up to 13,600 facts. How many words are alike was not counted: the
// shorter the beginning the more there are, so the letters tell it already.
//
// # What was tried
//
// nDCG@10 on the development sets (LoCoMo facts, LoCoMo turns, CoSQA), values only, without Floor unless
// said; in brackets what was taken. Plain BM25 with a light stemmer reaches .598, .460, .376.
//
//	                                   facts  turns  CoSQA
//	k1 0.6 (b .75)                     .615   .484   .373
//	k1 0.9                             .614   .473   .381
//	k1 1.2 (taken)                     .614   .468   .386
//	k1 1.5                             .612   .461   .385
//	k1 2.0                             .610   .449   .382
//	b .2                               .620   .499   .350
//	b .4                               .616   .492   .367
//	b .6                               .614   .476   .378
//	b .9                               .609   .451   .393
//	length = distinct terms, b .6      .614   .485   .368
//	length without stop words, b .6    .622   .482   .383   (taken)
//	  the same without wholes          .622   .483   .380
//	a whole's bonus 0 / .5 / 1         .614   .468   .386   each: no difference; it orders equals
//	score × relevance^.2               .615   .470   .376
//	no prefixes                        .614   .468   .383
//	no one-edit slips                  .614   .468   .385
//	with Floor and Trail, b .6         .612   .466   .380
//	with both, b = avg/(avg+10)        .612   .467   .388
//	with both, b = avg/(avg+15)        .612   .472   .386   (taken)
//	with both, b = avg/(avg+30)        .611   .479   .381
//
// The three sets pull b apart: a long turn says more, a long function is only longer. Hence a b that grows with
// the average length of the values. Boosts of key, alias, category hardly matter on these sets, whose keys are
// numbers; 2.5, 2, 1.2 keep the promised order and lose nothing where keys and categories are filled with
// noise or titles. bleve's own "bm25" was not used: it scores each field apart and takes unique terms for length.
//
// Words that are alike, each a question of its own: words of other sets that the store does not have (the lower the
// better), and distinctive words of its values two letters short or with two swapped that find their fact (the
// higher). 24,000 facts are those of CoSQA, yago11k and factconsolidation, asked the words of LoCoMo.
//
//	                                   answered                         found
//	                                   facts  turns  CoSQA  24,000      facts  turns  CoSQA  24,000
//	.3 whatever it is                  .125   .187   .371   .000        1.00   .979   .832   .000
//	by letters, 4 are .2               .135   .092   .049   .092        1.00   .78    .88    .68
//	  .22 (taken)                      .125   .173   .047   .098        1.00   .990   .914   .744
//	  .23, a name's bonus beside       .137   .184   .049   .300        1.00   .957   .89    .73
//	by letters, 5 are .32              .135   .097   .049   .188        1.00   .930   .90    .78
//	5 are .28, a slip costs 3 letters  –      –      –      .058        –      –      –      .57
//	a slip by the letters as written   –      –      –      .181        –      –      –      .68
//
// (Rows with two digits were measured on another choice of the words, with the stem as the question.) Of whole
// questions of another set fewer are answered than before: facts .076 for .088, turns .112 for .116, CoSQA .112 for
// .112; given up are as many: .020, .030, .007. nDCG@10 does not change: .615, .470, .385.
//
// How well the best hit's relevance tells an answerable question from one about nothing in the store (area
// under the curve; a stranger is a question of another set, a neighbour one of another LoCoMo conversation):
//
//	                                   facts              turns              CoSQA
//	                                   stranger neighb.   stranger neighb.   stranger
//	share of idf                       .971     .918      .969     .925      .975
//	with 1000 facts assumed            .980     .930      .969     .923      .975
//	times m/(m+1)                      .987     .939      .976     .929      .979
//	words alike count half             .992     .954      .986     .948      .990
//	words alike count .3, 300 assumed  .994     .962      .987     .951      .991   (then by letters)
//
// At Floor: strangers answered .08 to .11 (LoCoMo facts .08, turns .11, CoSQA .11, 24,000 facts .09), questions
// given up whose answer was among the first ten .01 to .03. A constant share as the floor answered 4% of the
// strangers of small stores and 26% of those of one of 6,000. Neighbours, who talk of the same things, are answered
// in a third of the cases: words alone cannot tell.
//
// With the superseded masked, all 198 answerable single-hop questions of factconsolidation (6k and 32k) have the
// answer first.
//
// bleve's query layer was not used because abstention needs to know which words a hit covers, which bleve tells only
// by a second, explained search, and because rank and masks over two indexes need one idf.
//
// # Without an index
//
// Where so much is missing that nobody should wait for an index, [Unindexed] searches the facts as they are, and
// [index.Index.Grow] makes the index afterwards.
package search
