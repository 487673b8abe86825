package segment

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/vellum"
	zap "github.com/blevesearch/zapx/v17"
)

// View is a segment being read by one search. The numbers it takes and gives are greater by an offset than the
// segment's, so that those of several segments are one series.
type View struct {
	*Segment
	offset uint32
	except *roaring.Bitmap
	dicts  map[*dictionary]*vellum.Reader // a reader is not to be shared
	lists  map[place]*list
	mine   []uint32
}

// place is a word in a field.
type place struct{ field, term string }

// NewView begins a search that leaves some of the segment's documents out, nil: none.
func NewView(s *Segment, offset uint32, except *roaring.Bitmap) *View {
	return &View{Segment: s, offset: offset, except: except, dicts: map[*dictionary]*vellum.Reader{}, lists: map[place]*list{}}
}

// list is the facts that hold a word.
type list struct {
	docs  *roaring.Bitmap // nil where there is one
	freqs int             // where their frequencies and lengths stand
	live  int             // how many are not to be left out

	one, length uint32 // that one, which holds it once, and the length of its field
}

// postings finds the facts that hold a word; nil: none.
func (v *View) postings(term, field string) (*list, error) {
	at := place{field, term}
	l, known := v.lists[at]
	if known {
		return l, nil
	}
	value, found, err := v.value(term, field)
	if err != nil {
		return nil, err
	}
	if found {
		if l, err = v.list(value); err != nil {
			return nil, fmt.Errorf("%s:%s: %w", field, term, err)
		}
	}
	v.lists[at] = l
	return l, nil
}

// value is what the dictionary has of a word.
func (v *View) value(term, field string) (value uint64, found bool, err error) {
	d := v.holding(term, field)
	if d == nil {
		return 0, false, nil
	}
	words, known := v.dicts[d]
	if !known {
		all, err := v.read(d)
		if err != nil {
			return 0, false, err
		}
		if words, err = all.Reader(); err != nil {
			return 0, false, err
		}
		v.dicts[d] = words
	}
	return words.Get([]byte(term))
}

// list reads what a dictionary's value stands for: one fact, or the place of where the frequencies stand, where
// the locations do, of which there are none, the length of a bitmap, and the bitmap.
func (v *View) list(value uint64) (*list, error) {
	l := &list{}
	if value&zap.FSTValEncodingMask == zap.FSTValEncoding1Hit {
		doc, length := zap.FSTValDecode1Hit(value)
		l.one, l.length, l.live = uint32(doc), uint32(length), 1
		if v.except != nil && v.except.Contains(l.one) {
			return nil, nil
		}
		return l, nil
	}
	var freqs, locations, size uint64
	at, err := v.uvarints(int(value), &freqs, &locations, &size)
	if err != nil {
		return nil, err
	}
	b, err := v.file.Bytes(at, at+int(size))
	if err != nil {
		return nil, err
	}
	l.docs, l.freqs = roaring.New(), int(freqs)
	if _, err := l.docs.FromBuffer(b); err != nil {
		return nil, err
	}
	l.live = int(l.docs.GetCardinality())
	if v.except != nil {
		l.live -= int(l.docs.AndCardinality(v.except))
	}
	if l.live == 0 {
		return nil, nil
	}
	return l, nil
}

// Count is how many documents hold a term.
func (v *View) Count(term, field string) (int, error) {
	l, err := v.postings(term, field)
	if l == nil {
		return 0, err
	}
	return l.live, nil
}

// About is about how many documents have a word, judged by the length of their list, which is not read: two
// bytes for each of few, after 16 that every list has.
func (v *View) About(term, field string) (int, error) {
	value, found, err := v.value(term, field)
	switch {
	case err != nil || !found:
		return 0, err
	case value&zap.FSTValEncodingMask == zap.FSTValEncoding1Hit:
		return 1, nil
	}
	var freqs, locations, size uint64
	if _, err := v.uvarints(int(value), &freqs, &locations, &size); err != nil {
		return 0, err
	}
	return max(2, (int(size)-16)/2), nil
}

// leap is how many postings may be read in the time that finding the next of a given fact takes.
const leap = 8

// Visit gives the postings of a term. only, where it is not nil, are the documents that matter, in order, other
// segments' among them; others may be left out.
func (v *View) Visit(term, field string, only []uint32, use func(Posting)) error {
	if only != nil {
		if only = v.own(only); len(only) == 0 {
			return nil
		}
	}
	l, err := v.postings(term, field)
	if l == nil {
		return err
	}
	return v.each(l, only, use)
}

// each gives the postings of a list.
func (v *View) each(l *list, only []uint32, use func(Posting)) error {
	if l.docs == nil {
		use(Posting{v.offset + l.one, 1, l.length})
		return nil
	}
	c, err := v.chunks(l)
	if err != nil {
		return err
	}
	if only != nil && len(only)*leap < l.live {
		return v.visitOnly(l, c, only, use)
	}
	return v.visitAll(l, c, use)
}

// own are those of the documents that the segment has, by its own numbers.
func (v *View) own(docs []uint32) []uint32 {
	from, _ := slices.BinarySearch(docs, v.offset)
	to, _ := slices.BinarySearch(docs, v.offset+uint32(v.docs))
	v.mine = v.mine[:0]
	for _, d := range docs[from:to] {
		v.mine = append(v.mine, d-v.offset)
	}
	return v.mine
}

// visitAll reads the postings one after another.
func (v *View) visitAll(l *list, c chunks, use func(Posting)) error {
	if len(c.ends) == 0 {
		return errFrequencies
	}
	data, err := v.file.Bytes(c.start, c.start+c.ends[len(c.ends)-1])
	if err != nil {
		return err
	}
	r := frequencies{data: data}
	hidden := hiding(v.except)
	var docs [256]uint32
	for it := l.docs.ManyIterator(); ; {
		n := it.NextMany(docs[:])
		if n == 0 {
			return nil
		}
		for _, d := range docs[:n] {
			freq, length, ok := r.next()
			if !ok {
				return errFrequencies
			}
			if !hidden.has(d) {
				use(Posting{v.offset + d, freq, length})
			}
		}
	}
}

// visitOnly reads the stretches that hold facts which matter.
func (v *View) visitOnly(l *list, c chunks, only []uint32, use func(Posting)) error {
	hidden := hiding(v.except)
	var r frequencies
	var it roaring.IntPeekable
	stretch := -1
	for _, d := range only {
		if hidden.has(d) || !l.docs.Contains(d) {
			continue
		}
		if n := int(d) / c.size; n != stretch {
			data, err := v.stretch(c, n)
			if err != nil {
				return err
			}
			stretch, r, it = n, frequencies{data: data}, l.docs.Iterator()
			it.AdvanceIfNeeded(uint32(n * c.size))
		}
		for it.HasNext() && it.PeekNext() <= d {
			freq, length, ok := r.next()
			if !ok {
				return errFrequencies
			}
			if it.Next() == d {
				use(Posting{v.offset + d, freq, length})
			}
		}
	}
	return nil
}

func (v *View) stretch(c chunks, n int) ([]byte, error) {
	if n >= len(c.ends) {
		return nil, errFrequencies
	}
	from := 0
	if n > 0 {
		from = c.ends[n-1]
	}
	return v.file.Bytes(c.start+from, c.start+c.ends[n])
}

// Similar gives the words of a field that are like a term: those of a range of the dictionary that the automaton
// lets pass, nil all of them.
func (v *View) Similar(field string, l Look, use func(string)) error {
	end := after(l.start)
	for _, d := range v.ranging(field, l.start, end) {
		words, err := v.read(d)
		if err != nil {
			return err
		}
		it, err := words.Search(l.automaton, []byte(l.start), end)
		for ; err == nil; err = it.Next() {
			w, _ := it.Current()
			if l.how.Holds(l.term, string(w)) {
				use(strings.Clone(string(w)))
			}
		}
		if !errors.Is(err, vellum.ErrIteratorDone) {
			return err
		}
	}
	return nil
}
