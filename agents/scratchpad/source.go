package scratchpad

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"sync/atomic"
)

// Source is a file out of which pads are filled: one in memory, or one that
// stays open and of which only the index was read.
type Source struct {
	texts   [][]byte
	indexes []*index
	file    io.ReaderAt
	failed  atomic.Pointer[ReadError]
}

// Split takes the pads out of a file. rest is the file with empty ones.
func Split(data []byte) (s *Source, rest []byte) {
	s = new(Source)
	for {
		i := bytes.Index(data, []byte(padBegin))
		if i < 0 {
			return s, append(rest, data...)
		}
		i += len(padBegin)
		rest, data = append(rest, data[:i]...), data[i:]
		n := 0
		if !bytes.HasPrefix(data, []byte("]")) {
			n = max(bytes.Index(data, []byte(padEnd)), 0)
		}
		s.texts, data = append(s.texts, data[:n]), data[n:]
	}
}

// Open reads of a file with an index all but the pads. checksum is the file's
// own, which stands in it. The error is that the file has no index, or that
// something is wrong with what was read.
func Open(f io.ReaderAt, size int64, checksum string) (s *Source, rest []byte, err error) {
	end, err := readRange(f, size-layoutSize, size)
	if err != nil {
		return nil, nil, err
	}
	var at int64
	var around, index uint32
	n, err := fmt.Sscanf(strings.TrimSpace(string(end)), strings.TrimSpace(layoutForm), &at, &around, &index)
	if err != nil || n != 3 || fmt.Sprintf(layoutForm, at, around, index) != string(end) || at < 0 || at > size-layoutSize {
		return nil, nil, errIndex
	}
	data, err := readRange(f, at, size-layoutSize)
	if err != nil {
		return nil, nil, err
	}
	if crc32.Checksum(data, castagnoli) != index {
		return nil, nil, errIndex
	}
	s = &Source{file: f}
	if s.indexes, err = parseIndex(data); err != nil {
		return nil, nil, err
	}
	if rest, err = s.around(at); err != nil {
		return nil, nil, err
	}
	if i := bytes.Index(rest, []byte(checksum)); i >= 0 {
		copy(rest[i:], "00000000") // as it was when the sum was made
	}
	if crc32.Checksum(rest, castagnoli) != around {
		return nil, nil, errIndex
	}
	return s, append(rest, '}'), nil
}

// around reads what stands around the pads, up to end.
func (s *Source) around(end int64) ([]byte, error) {
	var text []byte
	at := int64(0)
	for _, x := range append(slices.Clone(s.indexes), &index{Begin: end, End: end}) {
		if x.Begin < at || x.End < x.Begin || x.End > end {
			return nil, errIndex
		}
		part, err := readRange(s.file, at, x.Begin)
		if err != nil {
			return nil, err
		}
		text, at = append(text, part...), x.End
	}
	return text, nil
}

func readRange(f io.ReaderAt, from, to int64) ([]byte, error) {
	b := make([]byte, max(to-from, 0))
	_, err := f.ReadAt(b, max(from, 0))
	if errors.Is(err, io.EOF) {
		err = nil // its sum tells whether all of it was there
	}
	return b, err
}

// Len is how many pads the file has.
func (s *Source) Len() int { return len(s.texts) + len(s.indexes) }

// Fill is the i-th pad, from 0, which must be that of the project with this hash.
func (s *Source) Fill(i int, hash string) (*Pad, error) {
	p := New()
	if s.file == nil {
		return p, p.fill(s.texts[i])
	}
	if s.indexes[i].Hash != hash {
		return nil, errIndex
	}
	return p, s.indexes[i].fill(p, &pages{file: s.file, failed: &s.failed})
}

// Err is a [*ReadError] once a message could not be read from the file: what
// was made of the pads since may be wrong. A nil source has none.
func (s *Source) Err() error {
	if s == nil {
		return nil
	}
	if e := s.failed.Load(); e != nil {
		return e
	}
	return nil
}

// fill files the messages of a pad, a line each.
func (p *Pad) fill(text []byte) error {
	pg := new(pages)
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		line = bytes.TrimSuffix(bytes.TrimSpace(line), []byte(","))
		if len(line) == 0 {
			continue
		}
		if h, ok := parseHead(line); ok {
			x := p.slip(h)
			x.pages, x.page = pg, uint32(len(pg.lines))
			pg.lines = append(pg.lines, line)
			p.file(h, x)
			continue
		}
		m := new(Message)
		if err := json.Unmarshal(line, m); err != nil {
			return err
		}
		p.keep(m)
	}
	return nil
}
