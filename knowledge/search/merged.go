package search

import (
	"errors"
	"iter"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/vellum"
)

// shifted are postings of one batch among several: offset is what its facts' numbers grow by.
type shifted struct {
	offset uint32
	posts  []posting
}

// merged yields the words of a field of several batches in order, each with its postings in the order of the
// facts. They are good until the next is yielded.
func merged(batches []*batch, f field) iter.Seq2[string, []shifted] {
	return func(yield func(string, []shifted) bool) {
		next := make([]int, len(batches))
		for {
			least, found := "", false
			for i, b := range batches {
				if terms := b.fields[f].terms; next[i] < len(terms) && (!found || terms[next[i]] < least) {
					least, found = terms[next[i]], true
				}
			}
			if !found {
				return
			}
			var lists []shifted
			offset := uint32(0)
			for i, b := range batches {
				v := &b.fields[f]
				if n := next[i]; n < len(v.terms) && v.terms[n] == least {
					lists = append(lists, shifted{offset, v.posts[v.from[n]:v.from[n+1]]})
					next[i]++
				}
				offset += uint32(len(b.idents))
			}
			if !yield(least, lists) {
				return
			}
		}
	}
}

// thaw reads a segment as a batch, without the facts that gone has.
func thaw(s *segment, gone *roaring.Bitmap) (*batch, error) {
	b := &batch{dead: roaring.New(), pool: new(slabs)}
	number := make([]uint32, s.docs)
	for n := range uint32(s.docs) {
		if gone.Contains(n) {
			continue
		}
		text, err := s.external(n)
		if err != nil {
			return nil, err
		}
		_, sizes, err := parseExternalID(text)
		if err != nil {
			return nil, err
		}
		number[n] = uint32(len(b.idents))
		b.idents = append(b.idents, text)
		b.lengths.subtract(sizes)
	}
	b.lengths = b.lengths.negative()
	v := newView(s, 0, gone)
	for f := range exactNumber + 1 {
		if err := v.thaw(f, number, &b.fields[f]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// thaw reads a field.
func (v *view) thaw(f field, number []uint32, into *inverted) error {
	name := exactField
	if f < fieldCount {
		name = fieldNames[f]
	}
	for _, d := range v.fields[name] {
		if err := v.thawPart(d, number, into); err != nil {
			return err
		}
	}
	into.from = append(into.from, uint32(len(into.posts)))
	return nil
}

// thawPart reads one of its dictionaries.
func (v *view) thawPart(d *dictionary, number []uint32, into *inverted) error {
	words, err := v.read(d)
	if err != nil {
		return err
	}
	it, err := words.Iterator(nil, nil)
	for ; err == nil; err = it.Next() {
		term, value := it.Current()
		l, err := v.list(value)
		if err != nil {
			return err
		}
		if l == nil {
			continue
		}
		into.terms, into.from = append(into.terms, strings.Clone(string(term))), append(into.from, uint32(len(into.posts)))
		err = v.each(l, nil, func(p posting) {
			p.doc = number[p.doc]
			into.posts = append(into.posts, p)
		})
		if err != nil {
			return err
		}
	}
	if !errors.Is(err, vellum.ErrIteratorDone) {
		return err
	}
	return nil
}
