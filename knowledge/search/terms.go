package search

import "leanctx/knowledge/search/words"

// Terms returns what the analyzer makes of a text: see [words.Terms].
func Terms(text string) []string { return words.Terms(text) }
