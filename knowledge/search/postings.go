package search

import (
	"errors"
	"fmt"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/vellum"
	zap "github.com/blevesearch/zapx/v17"
)

// view is a segment being read by one search.
type view struct {
	*segment
	offset uint32
	except *roaring.Bitmap
	dicts  map[*dictionary]*vellum.Reader // a reader is not to be shared
	lists  map[place]*list
	mine   []uint32
}

// place is a word in a field.
type place struct{ field, term string }

func newView(s *segment, offset uint32, except *roaring.Bitmap) *view {
	return &view{segment: s, offset: offset, except: except, dicts: map[*dictionary]*vellum.Reader{}, lists: map[place]*list{}}
}

// list is the facts that hold a word.
type list struct {
	docs  *roaring.Bitmap // nil where there is one
	freqs int             // where their frequencies and lengths stand
	live  int             // how many are not to be left out

	one, length uint32 // that one, which holds it once, and the length of its field
}

// postings finds the facts that hold a word; nil: none.
func (v *view) postings(term, field string) (*list, error) {
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
func (v *view) value(term, field string) (value uint64, found bool, err error) {
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
func (v *view) list(value uint64) (*list, error) {
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

func (v *view) count(term, field string) (int, error) {
	l, err := v.postings(term, field)
	if l == nil {
		return 0, err
	}
	return l.live, nil
}

// leap is how many postings may be read in the time that finding the next of a given fact takes.
const leap = 8

// visit gives the postings of a term. only, where it is not nil, are the segment's facts that matter, in order.
func (v *view) visit(term, field string, only []uint32, use func(posting)) error {
	l, err := v.postings(term, field)
	if l == nil {
		return err
	}
	return v.each(l, only, use)
}

// each gives the postings of a list.
func (v *view) each(l *list, only []uint32, use func(posting)) error {
	if l.docs == nil {
		use(posting{v.offset + l.one, 1, l.length})
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

// visitAll reads the postings one after another.
func (v *view) visitAll(l *list, c chunks, use func(posting)) error {
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
				use(posting{v.offset + d, freq, length})
			}
		}
	}
}

// visitOnly reads the stretches that hold facts which matter.
func (v *view) visitOnly(l *list, c chunks, only []uint32, use func(posting)) error {
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
				use(posting{v.offset + d, freq, length})
			}
		}
	}
	return nil
}

func (v *view) stretch(c chunks, n int) ([]byte, error) {
	if n >= len(c.ends) {
		return nil, errFrequencies
	}
	from := 0
	if n > 0 {
		from = c.ends[n-1]
	}
	return v.file.Bytes(c.start+from, c.start+c.ends[n])
}

// similar gives the words of a field that are like term: those of a range of the dictionary that the automaton
// lets pass, nil all of them.
func (v *view) similar(term, field string, l looking, use func(string)) error {
	end := after(l.start)
	for _, d := range v.ranging(field, l.start, end) {
		words, err := v.read(d)
		if err != nil {
			return err
		}
		it, err := words.Search(l.automaton, []byte(l.start), end)
		for ; err == nil; err = it.Next() {
			w, _ := it.Current()
			if l.how.Holds(term, string(w)) {
				use(strings.Clone(string(w)))
			}
		}
		if !errors.Is(err, vellum.ErrIteratorDone) {
			return err
		}
	}
	return nil
}
