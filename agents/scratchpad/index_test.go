package scratchpad

import (
	"bytes"
	"testing"
)

// An index that another program or a fault has made is not believed.
func FuzzIndex(f *testing.F) {
	x := newIndex(hash, 100)
	for i := range 3 {
		x.add(head{number: uint64(i + 1), from: "cursor-a3f8", to: "claude"}, bytes.Repeat([]byte("x"), 50), 9)
	}
	f.Add(x.slips, int64(100), int64(277))
	f.Add([]byte{0xff, 0xff}, int64(0), int64(0))
	f.Add([]byte{}, int64(5), int64(5))
	f.Fuzz(func(t *testing.T, slips []byte, begin, end int64) {
		if end > 1<<20 { // no part of a file ends behind it
			t.Skip()
		}
		x := &index{Hash: hash, Begin: begin, End: end, Names: []string{"", "cursor-a3f8", "claude"}, slips: slips}
		s := &Source{file: bytes.NewReader(nil), indexes: []*index{x}}
		p, err := s.Fill(0, hash)
		if err != nil {
			return
		}
		for m := range p.All() {
			_ = m
		}
		if p.Len() > 0 && s.Err() == nil {
			t.Error("messages were read from nothing")
		}
	})
}
