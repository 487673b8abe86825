package segment

import (
	"errors"
	"iter"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/vellum"
)

// shifted are postings of one of several contents: offset is what its documents' numbers grow by.
type shifted struct {
	offset uint32
	posts  []Posting
}

// merged yields the words of a field of several contents in order, each with its postings in the order of the
// documents. They are good until the next is yielded.
func merged(parts []Content, f int) iter.Seq2[string, []shifted] {
	return func(yield func(string, []shifted) bool) {
		next := make([]int, len(parts))
		for {
			least, found := "", false
			for i, b := range parts {
				if terms := b.Fields[f].Terms; next[i] < len(terms) && (!found || terms[next[i]] < least) {
					least, found = terms[next[i]], true
				}
			}
			if !found {
				return
			}
			var lists []shifted
			offset := uint32(0)
			for i, b := range parts {
				v := &b.Fields[f]
				if n := next[i]; n < len(v.Terms) && v.Terms[n] == least {
					lists = append(lists, shifted{offset, v.Posts[v.From[n]:v.From[n+1]]})
					next[i]++
				}
				offset += uint32(len(b.Stored))
			}
			if !yield(least, lists) {
				return
			}
		}
	}
}

// Content reads all that the segment holds, of the fields named, without the documents that gone has.
func (s *Segment) Content(names []string, gone *roaring.Bitmap) (Content, error) {
	c := Content{Fields: make([]Field, len(names))}
	number := make([]uint32, s.docs)
	for n := range uint32(s.docs) {
		if gone.Contains(n) {
			continue
		}
		text, err := s.Stored(n)
		if err != nil {
			return c, err
		}
		number[n] = uint32(len(c.Stored))
		c.Stored = append(c.Stored, text)
	}
	v := NewView(s, 0, gone)
	for i, name := range names {
		if err := v.thaw(name, number, &c.Fields[i]); err != nil {
			return c, err
		}
	}
	return c, nil
}

// thaw reads a field.
func (v *View) thaw(name string, number []uint32, into *Field) error {
	for _, d := range v.fields[name] {
		if err := v.thawPart(d, number, into); err != nil {
			return err
		}
	}
	into.From = append(into.From, uint32(len(into.Posts)))
	return nil
}

// thawPart reads one of its dictionaries.
func (v *View) thawPart(d *dictionary, number []uint32, into *Field) error {
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
		into.Terms, into.From = append(into.Terms, strings.Clone(string(term))), append(into.From, uint32(len(into.Posts)))
		err = v.each(l, nil, func(p Posting) {
			p.Doc = number[p.Doc]
			into.Posts = append(into.Posts, p)
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
