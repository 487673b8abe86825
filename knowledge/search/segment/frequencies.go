package segment

import (
	"encoding/binary"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
)

// chunks says where the frequencies of a list stand: of each stretch of size facts where it ends, from start on.
type chunks struct {
	start, size int
	ends        []int
}

var errFrequencies = fmt.Errorf("frequencies that do not fit their documents: %w", ErrDamaged)

// chunks reads the places of a list's frequencies. How many facts a stretch has follows from how many there are:
// 1024 of the word's own on the average.
func (v *View) chunks(l *list) (c chunks, err error) {
	n, at, err := v.uvarint(l.freqs)
	if err != nil {
		return c, err
	}
	c.size = v.docs / (int(l.docs.GetCardinality()/1024) + 1)
	if c.size == 0 || n > uint64(v.docs/c.size+1) {
		return c, errFrequencies
	}
	b, err := v.file.Bytes(at, at+int(n)*binary.MaxVarintLen64)
	if err != nil {
		return c, err
	}
	c.ends = make([]int, n)
	for i := range c.ends {
		end, size := binary.Uvarint(b)
		if size <= 0 {
			return c, errFrequencies
		}
		c.ends[i], b, at = int(end), b[size:], at+size
	}
	c.start = at
	return c, nil
}

// hidden are facts to leave out of those that come in order.
type hidden struct{ rest roaring.IntPeekable }

func hiding(except *roaring.Bitmap) hidden {
	if except == nil || except.IsEmpty() {
		return hidden{}
	}
	return hidden{except.Iterator()}
}

func (h *hidden) has(d uint32) bool {
	if h.rest == nil {
		return false
	}
	h.rest.AdvanceIfNeeded(d)
	if !h.rest.HasNext() {
		h.rest = nil
		return false
	}
	return h.rest.PeekNext() == d
}

// frequencies are what a list says of its facts, one after another: twice the frequency, for there are no
// locations, and, unless it is 0, the length of the field.
type frequencies struct{ data []byte }

func (r *frequencies) next() (freq, length uint32, ok bool) {
	if len(r.data) >= 2 && r.data[0]|r.data[1] < 0x80 && r.data[0] > 1 { // most are small
		freq, length = uint32(r.data[0]>>1), uint32(r.data[1])
		r.data = r.data[2:]
		return freq, length, true
	}
	n, size := binary.Uvarint(r.data)
	if size <= 0 {
		return 0, 0, false
	}
	r.data = r.data[size:]
	if n>>1 == 0 {
		return 0, 1, true
	}
	long, size := binary.Uvarint(r.data)
	if size <= 0 {
		return 0, 0, false
	}
	r.data = r.data[size:]
	return uint32(n >> 1), uint32(long), true
}
