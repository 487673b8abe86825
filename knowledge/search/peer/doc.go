// Package peer measures a warm search beside the bare bleve query for the same
// words. It is a module of its own and run by hand, because bleve's scorch
// needs a dozen modules that the program does not:
//
//	cd knowledge/search/peer && go test -bench . -benchtime 200x
//
// Both sides have the same 100,000 facts, cut into terms by [search.Terms], and
// answer from an index on disk that is open. Ours also abstains, counts all that
// is relevant, masks, and reads names whole; bleve's is the ten best of a
// disjunction of term queries over four fields, its own BM25.
package peer
