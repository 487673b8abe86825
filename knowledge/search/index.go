package search

import (
	"leanctx/knowledge/search/index"
	"leanctx/knowledge/words"
)

// What an index is made of and how it gets to the disk: see package index.
type (
	Doc        = index.Doc
	Options    = index.Options
	Generation = index.Generation
	Slice      = index.Slice
	Tail       = index.Tail
)

// ErrDamaged says that what was read from the index on disk is not what was written: see [index.ErrDamaged].
var ErrDamaged = index.ErrDamaged

// Index finds facts by their words. Its methods may be called by several goroutines at once.
type Index struct {
	*index.Index
	tune tuning
}

// Open opens the index in dir, "" for one in memory alone: see [index.Open].
func Open(dir string, o *Options) (*Index, error) {
	x, err := index.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return &Index{x, defaultTuning()}, nil
}

// Terms returns what the analyzer makes of a text: see [words.Terms].
func Terms(text string) []string { return words.Terms(text) }
