package scratchpad

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
)

// Behind a large file stands an index of its scratchpads: for each message what
// a slip knows of it, and where in the file it is. A command reads all but the
// scratchpads, and of these the messages that it shows. The last line says where
// the index begins and how much of it and of the rest is right:
//
//	"scratchpad_index": [
//	  {"project_hash":"…","begin":812,"end":20400812,"names":["cursor-a3f8",…],"slips":"…"}
//	],
//	"layout": "index 000020401000 sums 5be0cd19 1f83d9ab"
//
// A program that does not know of it reads the file whole, as it stands.
const (
	indexMark  = ",\n  \"scratchpad_index\": ["
	indexItem  = "\n    "
	indexEnd   = "\n  ]"
	slipsMark  = `,"slips":"`
	layoutForm = ",\n  \"layout\": \"index %012d sums %08x %08x\"\n}\n"
	layoutSize = 60 // bytes of it; offsets of up to twelve digits
)

// indexFrom is how many messages a file has that has an index.
const indexFrom = 2000

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// index is that of one pad.
type index struct {
	Hash  string   `json:"project_hash"`
	Begin int64    `json:"begin"`
	End   int64    `json:"end"`
	Names []string `json:"names"` // of agents and types, by the numbers that slips have

	slips []byte // see add and each
	last  uint64 // number
	place map[string]uint64
}

func newIndex(hash string, begin int64) *index {
	return &index{Hash: hash, Begin: begin, Names: []string{""}, place: map[string]uint64{"": 0}}
}

func (x *index) name(s string) uint64 {
	i, ok := x.place[s]
	if !ok {
		i = uint64(len(x.Names))
		x.place[s] = i
		x.Names = append(x.Names, s)
	}
	return i
}

// add notes a message that stands in the file after gap bytes, as line.
func (x *index) add(h head, line []byte, gap int) {
	b := x.slips
	b = binary.AppendUvarint(b, h.number-x.last)
	b = binary.AppendUvarint(b, x.name(h.from))
	b = binary.AppendUvarint(b, x.name(h.to))
	b = binary.AppendUvarint(b, x.name(h.toType))
	expires := int64(0)
	if !h.expires.IsZero() {
		expires = h.expires.UnixNano()
	}
	b = binary.AppendVarint(b, expires)
	b = binary.AppendUvarint(b, uint64(gap))
	b = binary.AppendUvarint(b, uint64(len(line)))
	b = append(b, urgency(h.priority))
	x.slips, x.last = binary.LittleEndian.AppendUint32(b, crc32.Checksum(line, castagnoli)), h.number
}

// errIndex says that an index is not as we write it.
var errIndex = errors.New("unexpected index")

// parseIndex reads an index.
func parseIndex(data []byte) ([]*index, error) {
	data, marked := bytes.CutPrefix(data, []byte(indexMark))
	data, ended := bytes.CutSuffix(data, []byte(indexEnd))
	if !marked || !ended {
		return nil, errIndex
	}
	var out []*index
	for line := range bytes.SplitSeq(data, []byte(indexItem)) {
		if len(line) == 0 {
			continue
		}
		head, slips, cut := bytes.Cut(bytes.TrimSuffix(line, []byte(",")), []byte(slipsMark))
		slips, closed := bytes.CutSuffix(slips, []byte(`"}`))
		p := new(index)
		if !cut || !closed || json.Unmarshal(append(bytes.Clone(head), '}'), p) != nil {
			return nil, errIndex
		}
		p.slips = make([]byte, base64.StdEncoding.DecodedLen(len(slips)))
		n, err := base64.StdEncoding.Decode(p.slips, slips)
		if err != nil {
			return nil, err
		}
		p.slips = p.slips[:n]
		out = append(out, p)
	}
	return out, nil
}

// mark is one message in an index, in the order that add writes it.
type mark struct {
	number           uint64
	from, to, toType uint64 // in the names
	expires          int64
	where            place
	urgency          uint8
}

// each yields what add noted; ok tells whether all of it was as add writes it.
func (x *index) each(yield func(mark)) (ok bool) {
	r := reader{b: x.slips}
	at, number, names := x.Begin, uint64(0), uint64(len(x.Names))
	for len(r.b) > 0 {
		number += r.uint()
		m := mark{number: number, from: r.uint(), to: r.uint(), toType: r.uint(), expires: r.int()}
		at += int64(r.uint())
		m.where = place{at: at, size: uint32(r.uint())}
		at += int64(m.where.size)
		if r.bad || len(r.b) < 5 || m.from >= names || m.to >= names || m.toType >= names {
			return false
		}
		m.urgency, m.where.sum, r.b = r.b[0], binary.LittleEndian.Uint32(r.b[1:]), r.b[5:]
		yield(m)
	}
	return at == x.End
}

// list is in which list a message is filed: 0 for all, else one of the names.
func (m *mark) list(names int) uint64 {
	if m.to > 0 {
		return m.to
	}
	if m.toType > 0 {
		return uint64(names) + m.toType
	}
	return 0
}

// fill files the messages of a pad of which only the index was read. It counts
// first, so that each list is made once.
func (x *index) fill(p *Pad, pg *pages) error {
	names := len(x.Names)
	sizes, total := make([]int, 2*names), 0
	if names == 0 || !x.each(func(m mark) { sizes[m.list(names)]++; total++ }) {
		return errIndex
	}
	lists, all := make([][]slip, len(sizes)), make([]slip, total)
	for i, n := range sizes {
		lists[i], all = all[:0:n], all[n:]
	}
	authors := make([]uint32, names)
	for i, name := range x.Names {
		authors[i] = p.author(name)
	}
	pg.places = make([]place, 0, total)
	x.each(func(m mark) {
		l := &lists[m.list(names)]
		*l = append(*l, slip{number: m.number, author: authors[m.from], expires: m.expires, urgency: m.urgency, pages: pg, page: uint32(len(pg.places))})
		pg.places = append(pg.places, m.where)
	})
	p.broadcasts = lists[0]
	for i := 1; i < names; i++ {
		if l := lists[i]; len(l) > 0 {
			p.direct[x.Names[i]] = l
		}
		if l := lists[names+i]; len(l) > 0 {
			p.typed[x.Names[i]] = l
		}
	}
	return nil
}

// reader reads numbers one after the other.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	r.next(n)
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.b)
	r.next(n)
	return v
}

func (r *reader) next(n int) {
	if n <= 0 {
		r.bad, n = true, len(r.b)
	}
	r.b = r.b[n:]
}
