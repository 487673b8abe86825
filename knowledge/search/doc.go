// Package search finds facts by their words. It is the only importer of bleve.
//
// # What is indexed
//
// A [Doc] has four fields, key, alias, category and value, and the whole names it is met by: key,
// category/key and each alias, once as written and once by their words (auth-token = authToken = "auth
// tokens"). Facts and queries are cut into terms by one analyzer, that of package words. There is no text stored,
// no _all field, no term vectors, no doc values.
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
// # Generations on disk
//
//	index/index.lock               flock, taken by who writes, without waiting
//	index/<n>-m<mapping>/          a generation: never written again
//	    generation.json            checksum; recorded time, epoch, lengths, files, deleted facts
//	    1.zap 2.zap …              bleve segments (zap version 17)
//
// [Open] takes the newest generation whose header is good and reads of its segments where their parts stand. A
// search reads the dictionaries and postings it needs, from the path, in blocks of 32 KiB, each of them checked
// against its checksum in the header when it is first needed (packages segment and blocks).
// No file is kept open or mapped. What has been read stays whatever is done to the files afterwards (deleted, cut,
// overwritten); what has not is an [ErrDamaged], upon which the caller opens the index anew, since another process
// may have replaced the generation, and throws it away where that does not help. What is newer or of another
// mapping is as if it were not there, and the caller adds what
// is missing since [Index.Since]. [Index.Add] and [Index.Remove] go to an index in memory and mask what they
// replace; a thousand facts or more that come at once are made batches (sorted words and their postings), on all
// processors, which are searched as they stand, 40 µs each. Where so much is missing that nobody should wait for that,
// [Unindexed] searches the facts as they are, and [Index.Grow] makes the index afterwards, a slice at a time, in a
// directory part-m<mapping> that the next Grow, of any process, goes on with. [Index.Sync] writes the next generation into a directory of its own and renames it into place: the
// segments of the newest one by hard link (a copy where there are none) and one more of what came after;
// segments are merged when the last are not half as large as the one before, so a store of N facts has about
// log N of them; one of 200,000 facts is not merged again, so that writing takes no more memory in a larger store.
// What a generation is complete to is taken together with what it is made of ([Index.Begin]). Older generations are taken away at once. A Sync killed at any
// point leaves a tmp- directory for the next one to take away. The blocks' checksums are taken from the file as it
// is on disk.
//
// An erased fact's words stay in the segments until they are merged: an erasure calls [Index.Drop] and begins a
// new epoch, which makes the next Sync build anew.
//
// We use bleve's segments (zapx) and analysis types and not its scorch index, because scorch brings a bolt
// database and background goroutines: its files are mapped into memory, so a file cut short under a reader kills
// the process (SIGBUS, in a goroutine nobody can guard); opening takes a lock and reads nothing back to check it;
// each program start pays 2 to 7 ms for its tables. What is left of it here, the list of segments and deleted
// facts, is a small file. Its query layer was not used because abstention needs to know which words a hit
// covers, which bleve tells only by a second, explained search, and because rank and masks over two indexes
// need one idf. Cost: a process holds its own copy of what it read, up to 20 MB for 100,000 facts. A one-batch
// scorch index as the tail was rejected too: each fact added makes a segment of its own.
package search
