package index

import (
	"slices"
	"strings"
	"sync"

	"leanctx/knowledge/search/segment"
	"leanctx/knowledge/words"
)

// NewSource indexes facts, each ID once, for a search of nothing else.
func NewSource(docs []Doc) Source { return newBatch(docs) }

// The methods of source.

func (b *batch) Slots() int { return len(b.Stored) }

func (b *batch) Sizes() Lengths { return b.lengths }

func (b *batch) Scratch() *sync.Pool { return b.pool }

func (b *batch) Count(term string, f Field) (int, error) {
	posts := b.Fields[f].Of(term)
	if b.dead.IsEmpty() {
		return len(posts), nil
	}
	n := 0
	for _, p := range posts {
		if !b.dead.Contains(p.Doc) {
			n++
		}
	}
	return n, nil
}

func (b *batch) Visit(term string, f Field, _ []uint32, use func(segment.Posting)) error {
	whole := b.dead.IsEmpty()
	for _, p := range b.Fields[f].Of(term) {
		if whole || !b.dead.Contains(p.Doc) {
			use(p)
		}
	}
	return nil
}

func (b *batch) About(term string, f Field) (int, error) { return b.Count(term, f) }

func (b *batch) Named(name string, use func(doc uint32)) error {
	return b.Visit(name, exactNumber, nil, func(p segment.Posting) { use(p.Doc) })
}

// similar looks at the words that begin as term does: with all of it, or with its first letter.
func (b *batch) Similar(term string, how words.Likeness, use func(string)) error {
	start := how.Start(term)
	for f := range FieldCount {
		terms := b.Fields[f].Terms
		i, _ := slices.BinarySearch(terms, start)
		for ; i < len(terms) && strings.HasPrefix(terms[i], start); i++ {
			if how.Holds(term, terms[i]) {
				use(terms[i])
			}
		}
	}
	return nil
}

func (b *batch) Identify(doc uint32) (Ident, error) {
	who, _, err := parseExternalID(b.Stored[doc])
	return who, err
}

func (b *batch) ID(doc uint32) (string, error) {
	id, _, _ := strings.Cut(b.Stored[doc], "\x00")
	return id, nil
}
