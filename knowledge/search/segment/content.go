package segment

import (
	"slices"
	"strings"
)

// Posting is one document's use of one word in one field.
type Posting struct {
	Doc       uint32
	Freq, Len uint32 // how often it has the word, how many words the field has
}

// Content is what a segment holds, in memory: every word with the documents that hold it, the words in order.
type Content struct {
	Stored []string // by document: what tells which it is
	Fields []Field
}

// Field is a field's words with their postings.
type Field struct {
	Terms []string  // in order
	From  []uint32  // where the postings of each begin, and where those of the last end
	Posts []Posting // in the order of terms, then of documents
}

// Of are the postings of a word.
func (f *Field) Of(term string) []Posting {
	i, ok := slices.BinarySearch(f.Terms, term)
	if !ok {
		return nil
	}
	return f.Posts[f.From[i]:f.From[i+1]]
}

// Collector takes a field's words in, in the order of the documents, to make a [Field] of them.
type Collector struct {
	number map[string]uint32
	terms  []string
	last   []uint32 // by word: one more than the place of what was met last
	count  []uint32 // by word: documents
	met    []occurrence
	noted  int // how many of met have the length of their field
}

type occurrence struct {
	Posting
	word uint32
}

// Add takes in a word of a document.
func (c *Collector) Add(doc uint32, term string) {
	n, ok := c.number[term]
	if !ok {
		if c.number == nil {
			c.number = map[string]uint32{}
		}
		n = uint32(len(c.terms))
		c.number[term] = n
		c.terms, c.last, c.count = append(c.terms, term), append(c.last, 0), append(c.count, 0)
	}
	if i := c.last[n]; i > 0 && c.met[i-1].Doc == doc {
		c.met[i-1].Freq++
		return
	}
	c.met = append(c.met, occurrence{Posting{doc, 1, 1}, n})
	c.last[n] = uint32(len(c.met))
	c.count[n]++
}

// Long notes how long the field is of the document whose words were taken in last.
func (c *Collector) Long(length int) {
	for i := range c.met[c.noted:] {
		c.met[c.noted+i].Len = uint32(max(1, length))
	}
	c.noted = len(c.met)
}

// Sort puts the words in order. The collector is not used after.
func (c *Collector) Sort() Field {
	order := make([]uint32, len(c.terms))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return strings.Compare(c.terms[a], c.terms[b]) })
	out := Field{Terms: make([]string, len(order)), From: make([]uint32, len(order)+1), Posts: make([]Posting, len(c.met))}
	at := uint32(0)
	for i, n := range order {
		out.Terms[i], out.From[i] = c.terms[n], at
		at, c.count[n] = at+c.count[n], at // from here on, where the next goes
	}
	out.From[len(order)] = at
	for _, o := range c.met {
		out.Posts[c.count[o.word]] = o.Posting
		c.count[o.word]++
	}
	return out
}
