package bench

import (
	"fmt"
	"slices"
	"strings"
)

// questions are what the rows ask, many of each kind, so that no row measures
// one answer that is kept somewhere.
type questions struct {
	rare    []string // a word of one to three facts
	common  []string // a word of many
	several []string // three words of one fact, in a sentence
	missing []string // a word of none
	keys    []knownKey
}

// knownKey is a fact by its name.
type knownKey struct{ Category, Key string }

const questionsMost = 64 // of a kind

// ask makes questions about the facts that c made.
func (c *corpus) ask(facts []fact) questions {
	q := questions{rare: c.rare()}
	for rank := c.words.content; rank < c.words.content+16; rank++ {
		q.common = append(q.common, c.words.words[rank])
	}
	for i := range min(questionsMost, len(facts)) {
		f := facts[i*len(facts)/min(questionsMost, len(facts))]
		q.keys = append(q.keys, knownKey{f.Category, f.Key})
		q.several = append(q.several, c.sentence(f))
		q.missing = append(q.missing, "zzy"+spelled(i)+"xq")
	}
	return q
}

// rare picks words that were drawn as seldom as any, from all over the
// vocabulary.
func (c *corpus) rare() []string {
	var ranks []int
	for most := int32(1); len(ranks) < questionsMost && most < 100; most++ {
		for rank, w := range c.words.words {
			if rank >= c.words.content && c.counts[w] == most {
				ranks = append(ranks, rank)
			}
		}
	}
	var words []string
	for i := range min(questionsMost, len(ranks)) {
		words = append(words, c.words.words[ranks[i*len(ranks)/min(questionsMost, len(ranks))]])
	}
	return words
}

// sentence asks about a fact in its own words.
func (c *corpus) sentence(f fact) string {
	function := c.words.words[:c.words.content]
	var words []string
	for w := range strings.FieldsSeq(strings.ToLower(f.Value)) {
		if len(words) < 3 && !slices.Contains(function, w) && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	for len(words) < 3 { // a value of function words
		words = append(words, f.Key)
	}
	return fmt.Sprintf("how does the %s work with %s and %s?", words[0], words[1], words[2])
}
