package agents

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
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

const (
	indexFrom   = 2000      // messages in a file that has an index
	partialFrom = 256 << 10 // bytes of a file that is read in parts
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sheet is the file while it is written. It counts, and sums up what is no
// scratchpad.
type sheet struct {
	w    *bufio.Writer
	n    int64
	sum  uint32
	pads []pad
}

func (s *sheet) Write(p []byte) (int, error) {
	s.n += int64(len(p))
	s.sum = crc32.Update(s.sum, castagnoli, p)
	return s.w.Write(p)
}

// pad is the index of one scratchpad.
type pad struct {
	Hash  string   `json:"project_hash"`
	Begin int64    `json:"begin"`
	End   int64    `json:"end"`
	Names []string `json:"names"` // of agents and types, by the numbers that slips have

	slips []byte // see add and each
	last  uint64 // number
	place map[string]uint64
}

func newPad(hash string, begin int64) *pad {
	return &pad{Hash: hash, Begin: begin, Names: []string{""}, place: map[string]uint64{"": 0}}
}

func (p *pad) name(s string) uint64 {
	i, ok := p.place[s]
	if !ok {
		i = uint64(len(p.Names))
		p.place[s] = i
		p.Names = append(p.Names, s)
	}
	return i
}

// add notes a message that stands in the file after gap bytes, as line.
func (p *pad) add(h head, line []byte, gap int) {
	b := p.slips
	b = binary.AppendUvarint(b, h.number-p.last)
	b = binary.AppendUvarint(b, p.name(h.from))
	b = binary.AppendUvarint(b, p.name(h.to))
	b = binary.AppendUvarint(b, p.name(h.toType))
	expires := int64(0)
	if !h.expires.IsZero() {
		expires = h.expires.UnixNano()
	}
	b = binary.AppendVarint(b, expires)
	b = binary.AppendUvarint(b, uint64(gap))
	b = binary.AppendUvarint(b, uint64(len(line)))
	b = append(b, urgency(h.priority))
	p.slips, p.last = binary.LittleEndian.AppendUint32(b, crc32.Checksum(line, castagnoli)), h.number
}

// scratchpad writes a project's, and remembers where each message is.
func (s *sheet) scratchpad(hash string, p *project) error {
	if _, err := io.WriteString(s, ","+boardBegin); err != nil {
		return err
	}
	x := newPad(hash, s.n)
	sep, end := "\n        ", boardEnd[len(boardEnd)-1:]
	for m := range p.board() {
		line, err := m.text()
		if err == nil {
			_, err = s.w.WriteString(sep)
		}
		if err == nil {
			_, err = s.w.Write(line)
		}
		if err != nil {
			return err
		}
		h, ok := parseHead(line)
		if !ok {
			h = m.message().head()
		}
		x.add(h, line, len(sep))
		s.n += int64(len(sep) + len(line))
		sep, end = ",\n        ", boardEnd
	}
	x.End = s.n
	s.pads = append(s.pads, *x)
	_, err := io.WriteString(s, end)
	return err
}

// close writes the index, if there is need of one, and the end of the file.
func (s *sheet) close(messages int) error {
	if messages < indexFrom {
		_, err := io.WriteString(s, "\n}\n")
		return errors.Join(err, s.w.Flush())
	}
	rest, at := s.sum, s.n
	s.sum = 0
	fmt.Fprint(s, indexMark)
	for i := range s.pads {
		p := &s.pads[i]
		line, err := json.Marshal(p)
		if err != nil {
			return err
		}
		fmt.Fprint(s, strings.Repeat(",", min(i, 1)), indexItem)
		fmt.Fprintf(s, "%s%s%s\"}", line[:len(line)-1], slipsMark, base64.StdEncoding.EncodeToString(p.slips))
	}
	fmt.Fprint(s, indexEnd)
	_, err := fmt.Fprintf(s, layoutForm, at, rest, s.sum)
	return errors.Join(err, s.w.Flush())
}

// errPads says that an index is not as we write it.
var errPads = fmt.Errorf("unexpected index")

// parsePads reads an index.
func parsePads(data []byte) ([]*pad, error) {
	data, marked := bytes.CutPrefix(data, []byte(indexMark))
	data, ended := bytes.CutSuffix(data, []byte(indexEnd))
	if !marked || !ended {
		return nil, errPads
	}
	var out []*pad
	for line := range bytes.SplitSeq(data, []byte(indexItem)) {
		if len(line) == 0 {
			continue
		}
		head, slips, cut := bytes.Cut(bytes.TrimSuffix(line, []byte(",")), []byte(slipsMark))
		slips, closed := bytes.CutSuffix(slips, []byte(`"}`))
		p := new(pad)
		if !cut || !closed || json.Unmarshal(append(bytes.Clone(head), '}'), p) != nil {
			return nil, errPads
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
func (x *pad) each(yield func(mark)) (ok bool) {
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

// fill files the messages of a scratchpad of which only the index was read. It
// counts first, so that each list is made once.
func (x *pad) fill(p *project, pg *pages) error {
	names := len(x.Names)
	sizes, total := make([]int, 2*names), 0
	if names == 0 || !x.each(func(m mark) { sizes[m.list(names)]++; total++ }) {
		return errPads
	}
	lists, all := make([][]slip, len(sizes)), make([]slip, total)
	for i, n := range sizes {
		lists[i], all = all[:0:n], all[n:]
	}
	authors := make([]uint32, names)
	for i, name := range x.Names {
		authors[i] = p.authors[name]
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
