package segment

import (
	"context"
	"errors"
	"unsafe"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/vellum"
	zap "github.com/blevesearch/zapx/v17"
)

// Part is some of the documents that a segment is written of: a *[Content] or a [Rest]. Its words are read one after
// another as they are written, so that it takes no more memory than it has already, or than its file.
type Part interface {
	// identities gives what is stored of each document.
	identities(use func(string) error) error
	// words begins to read a field, known by its number or its name.
	words(f int, name string) (cursor, error)
}

// cursor reads the words of a field in order, each with its postings in the order of the documents. What it gave is
// good until it is asked again.
type cursor interface {
	next() (word string, posts []Posting, ok bool, err error)
}

// shifted are postings of one of several parts: offset is what its documents' numbers grow by.
type shifted struct {
	offset uint32
	posts  []Posting
}

// input is a part that is merged with others.
type input struct {
	cursor
	shifted
	word string
	ok   bool
	met  bool // its word is the one in use
}

func (in *input) advance() (err error) {
	in.word, in.posts, in.ok, err = in.next()
	return err
}

// looksEach is after how many words or documents a writer looks whether it is to go on: a few milliseconds.
const looksEach = 4096

// merge uses the words of several parts in order, each with all its postings in the order of the documents.
func merge(ctx context.Context, parts []input, use func(word string, lists []shifted) error) error {
	for i := range parts {
		if err := parts[i].advance(); err != nil {
			return err
		}
	}
	var lists []shifted
	for n := 0; ; n++ {
		if n%looksEach == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		least, found := "", false
		for i := range parts {
			if in := &parts[i]; in.ok && (!found || in.word < least) {
				least, found = in.word, true
			}
		}
		if !found {
			return nil
		}
		lists = lists[:0]
		for i := range parts {
			in := &parts[i]
			if in.met = in.ok && in.word == least; in.met {
				lists = append(lists, in.shifted)
			}
		}
		if err := use(least, lists); err != nil {
			return err
		}
		for i := range parts { // only now: least is the memory of one of them
			if in := &parts[i]; in.met {
				if err := in.advance(); err != nil {
					return err
				}
			}
		}
	}
}

func (c *Content) identities(use func(string) error) error {
	for _, text := range c.Stored {
		if err := use(text); err != nil {
			return err
		}
	}
	return nil
}

func (c *Content) words(f int, _ string) (cursor, error) {
	return &contentWords{Field: &c.Fields[f]}, nil
}

// contentWords reads a field in memory.
type contentWords struct {
	*Field
	n int
}

func (c *contentWords) next() (word string, posts []Posting, ok bool, err error) {
	if c.n == len(c.Terms) {
		return "", nil, false, nil
	}
	c.n++
	return c.Terms[c.n-1], c.Posts[c.From[c.n-1]:c.From[c.n]], true, nil
}

// Rest is what is left of a segment.
type Rest struct {
	*View
	number []uint32 // of its documents, among those that are left; nil: as it was
}

// NewRest is a segment without the documents that gone has; nil: none.
func NewRest(s *Segment, gone *roaring.Bitmap) *Rest {
	r := &Rest{View: NewView(s, 0, gone)}
	if gone != nil && !gone.IsEmpty() {
		r.number = make([]uint32, s.docs)
		left := uint32(0)
		for n, hidden := uint32(0), hiding(gone); int(n) < s.docs; n++ {
			if r.number[n] = left; !hidden.has(n) {
				left++
			}
		}
	}
	return r
}

func (r *Rest) identities(use func(string) error) error {
	if _, err := r.file.All(); err != nil { // all of it is needed, and at once is quicker
		return err
	}
	hidden := hiding(r.except)
	for n := range uint32(r.docs) {
		if hidden.has(n) {
			continue
		}
		text, err := r.Stored(n)
		if err == nil {
			err = use(text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Rest) words(_ int, name string) (cursor, error) {
	return &restWords{Rest: r, rest: r.fields[name]}, nil
}

// restWords reads a field of a file.
type restWords struct {
	*Rest
	rest  []*dictionary // not begun yet
	in    *vellum.FSTIterator
	posts []Posting
}

func (c *restWords) next() (word string, posts []Posting, ok bool, err error) {
	for {
		if ok, err = c.step(); !ok || err != nil {
			return "", nil, false, err
		}
		key, value := c.in.Current()
		if err := c.take(value); err != nil {
			return "", nil, false, err
		}
		if len(c.posts) > 0 {
			return unsafe.String(unsafe.SliceData(key), len(key)), c.posts, true, nil
		}
	}
}

// step goes to the next word of the field's dictionaries.
func (c *restWords) step() (ok bool, err error) {
	err = vellum.ErrIteratorDone
	if c.in != nil {
		err = c.in.Next()
	}
	for errors.Is(err, vellum.ErrIteratorDone) && len(c.rest) > 0 {
		var all *vellum.FST
		if all, err = c.Rest.read(c.rest[0]); err != nil {
			return false, err
		}
		c.in, err = all.Iterator(nil, nil)
		c.rest = c.rest[1:]
	}
	if errors.Is(err, vellum.ErrIteratorDone) {
		return false, nil
	}
	return err == nil, err
}

// take reads the postings that a dictionary's value stands for.
func (c *restWords) take(value uint64) error {
	c.posts = c.posts[:0]
	if value&zap.FSTValEncodingMask == zap.FSTValEncoding1Hit { // most words, and here nothing is kept of them
		doc, length := zap.FSTValDecode1Hit(value)
		if c.except == nil || !c.except.Contains(uint32(doc)) {
			c.posts = append(c.posts, Posting{c.renumbered(uint32(doc)), 1, uint32(length)})
		}
		return nil
	}
	l, err := c.list(value)
	if l == nil {
		return err
	}
	return c.each(l, nil, func(p Posting) {
		p.Doc = c.renumbered(p.Doc)
		c.posts = append(c.posts, p)
	})
}

func (r *Rest) renumbered(doc uint32) uint32 {
	if r.number == nil {
		return doc
	}
	return r.number[doc]
}
