package scratchpad

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// Where a pad stands in the file. No string can hold these: line feeds in it
// are escaped.
const (
	padBegin = "\n      \"scratchpad\": ["
	padEnd   = "\n      ]"
)

// Sheet is a file while it is written: one JSON object, that has pads as
// members of its parts. It sums up what is no pad.
type Sheet struct {
	w        *bufio.Writer
	n        int64
	sum      uint32
	messages int
	indexes  []*index
}

// NewSheet is one that is written to w.
func NewSheet(w io.Writer) *Sheet { return &Sheet{w: bufio.NewWriterSize(w, 1<<16)} }

// Write writes what is no pad.
func (s *Sheet) Write(p []byte) (int, error) {
	s.n += int64(len(p))
	s.sum = crc32.Update(s.sum, castagnoli, p)
	return s.w.Write(p)
}

// Pad writes a project's messages as a member "scratchpad", a comma before it,
// one message a line.
func (s *Sheet) Pad(hash string, p *Pad) error {
	if _, err := io.WriteString(s, ","+padBegin); err != nil {
		return err
	}
	x := newIndex(hash, s.n)
	sep, end := "\n        ", padEnd[len(padEnd)-1:]
	for m := range p.slips() {
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
		sep, end = ",\n        ", padEnd
		s.messages++
	}
	x.End = s.n
	s.indexes = append(s.indexes, x)
	_, err := io.WriteString(s, end)
	return err
}

// Close writes the index, if there is need of one, and the end of the object.
func (s *Sheet) Close() error {
	if s.messages < indexFrom {
		_, err := io.WriteString(s, "\n}\n")
		return errors.Join(err, s.w.Flush())
	}
	rest, at := s.sum, s.n
	s.sum = 0
	fmt.Fprint(s, indexMark)
	for i, x := range s.indexes {
		line, err := json.Marshal(x)
		if err != nil {
			return err
		}
		fmt.Fprint(s, strings.Repeat(",", min(i, 1)), indexItem)
		fmt.Fprintf(s, "%s%s%s\"}", line[:len(line)-1], slipsMark, base64.StdEncoding.EncodeToString(x.slips))
	}
	fmt.Fprint(s, indexEnd)
	_, err := fmt.Fprintf(s, layoutForm, at, rest, s.sum)
	return errors.Join(err, s.w.Flush())
}
