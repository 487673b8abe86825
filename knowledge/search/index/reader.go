package index

import (
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"leanctx/knowledge/search/segment"
	"leanctx/knowledge/words"
)

// overlay is a generation as one index sees it: what has been replaced or removed since is masked. It is
// not changed once searched; each change makes a new one.
type overlay struct {
	*generation
	masked  []*roaring.Bitmap // by segment, deleted facts among them
	lengths Lengths
}

func newOverlay(g *generation) *overlay {
	o := &overlay{generation: g, lengths: g.header.Lengths}
	for _, s := range g.segments {
		o.masked = append(o.masked, s.deleted)
	}
	return o
}

// mask hides the facts of the ids. The receiver stays as it is for searches under way.
func (o *overlay) mask(ids []string) (*overlay, error) {
	out := &overlay{generation: o.generation, masked: slices.Clone(o.masked), lengths: o.lengths}
	for i, s := range o.segments {
		fresh, err := s.numbersOf(ids)
		if err != nil {
			return nil, err
		}
		fresh.AndNot(out.masked[i])
		for it := fresh.Iterator(); it.HasNext(); {
			_, sizes, err := s.identify(it.Next())
			if err != nil {
				return nil, err
			}
			out.lengths.subtract(sizes)
		}
		if !fresh.IsEmpty() {
			out.masked[i] = roaring.Or(out.masked[i], fresh)
		}
	}
	return out, nil
}

// reader is an overlay being read by one search.
type reader struct {
	*overlay
	pool  *sync.Pool
	views []stretch
}

// stretch is a segment being read, and the number of its first fact.
type stretch struct {
	*segment.View
	offset uint32
}

func (o *overlay) reader(pool *sync.Pool) *reader {
	r := &reader{overlay: o, pool: pool}
	offset := uint32(0)
	for i, s := range o.segments {
		r.views = append(r.views, stretch{segment.NewView(s.Segment, offset, o.masked[i]), offset})
		offset += uint32(s.Docs())
	}
	return r
}

// The methods of source.

func (r *reader) Slots() int {
	n := 0
	for _, s := range r.segments {
		n += s.Docs()
	}
	return n
}

func (r *reader) Sizes() Lengths { return r.lengths }

func (r *reader) Scratch() *sync.Pool { return r.pool }

func (r *reader) Count(term string, f Field) (n int, err error) {
	for _, v := range r.views {
		k, err := v.Count(term, FieldNames[f])
		if err != nil {
			return 0, err
		}
		n += k
	}
	return n, nil
}

func (r *reader) Visit(term string, f Field, only []uint32, use func(segment.Posting)) error {
	for _, v := range r.views {
		if err := v.Visit(term, FieldNames[f], only, use); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) Named(name string, use func(uint32)) error {
	for _, v := range r.views {
		if err := v.Visit(name, exactField, nil, func(p segment.Posting) { use(p.Doc) }); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) Similar(term string, how words.Likeness, use func(string)) error {
	l, err := segment.LookFor(term, how)
	if err != nil {
		return err
	}
	for _, v := range r.views {
		for _, f := range FieldNames {
			if err := v.Similar(f, l, use); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reader) Identify(doc uint32) (Ident, error) {
	last := len(r.views) - 1
	for last > 0 && doc < r.views[last].offset {
		last--
	}
	text, err := r.views[last].Stored(doc - r.views[last].offset)
	if err != nil {
		return Ident{}, err
	}
	return identIn(text)
}

// About judges it by the lengths of lists that are not read.
func (r *reader) About(term string, f Field) (n int, err error) {
	for _, v := range r.views {
		k, err := v.About(term, FieldNames[f])
		if err != nil {
			return 0, err
		}
		n += k
	}
	return n, nil
}

func (r *reader) ID(doc uint32) (string, error) {
	who, err := r.Identify(doc)
	return who.ID, err
}
