package formats

import (
	"bytes"
	"io"
)

// Kind is which format a file turned out to be in.
type Kind string

// The kinds of a [Parsed].
const (
	Native  Kind = "native"  // our own fact file
	LeanCtx Kind = "leanctx" // the fact file of lean-ctx
	Array   Kind = "array"   // a JSON array of records
	JSONL   Kind = "jsonl"   // a record a line
)

// Parsed is what a file holds: a Document when its kind is native or leanctx,
// else Records and the lines that gave none.
type Parsed struct {
	Kind     Kind
	Document *Document
	Records  []Record
	Lines    []int // the line that each record begins on
	Bad      []BadLine
}

// ParseDocument reads a file of any of our formats, which it tells from the
// text. A byte order mark, line feeds of either kind and empty lines do no harm;
// lines may be of any length; a file without any holds nothing. In JSONL and in an array, what is wrong with a
// record is in Bad; the error is for a file that cannot be read on.
func ParseDocument(r io.Reader) (Parsed, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return Parsed{}, err
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return Parsed{}, &MistakeError{Line: 1, Problem: "this is UTF-16 text: save it as UTF-8"}
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	p := newReader(data, 1)
	switch c := p.peek(); {
	case c == 0 && p.pos == len(data):
		return Parsed{Kind: JSONL}, nil // an export of nothing, as JSONL
	case c == '[':
		return parseArray(data)
	case c == '{':
		if top, err := look(data); top.isDocument() {
			return parseDocument(data)
		} else if err == nil && p.skip() == nil && p.end() == nil {
			one := newCollector(JSONL) // a single record, be it over several lines
			start := len(data) - len(bytes.TrimLeft(data, " \t\r\n"))
			one.add(data[start:], 1+bytes.Count(data[:start], []byte{'\n'}))
			return one.Parsed, nil
		}
		return parseJSONL(data), nil
	case bytes.Contains(data, []byte("\n{")):
		return parseJSONL(data), nil
	default:
		return Parsed{}, p.want("a fact file, an array of records or a record a line")
	}
}

func parseDocument(data []byte) (Parsed, error) {
	d, err := DecodeNative(data)
	if err != nil {
		return Parsed{}, err
	}
	if d.Schema == 0 {
		return Parsed{Kind: LeanCtx, Document: d}, nil
	}
	return Parsed{Kind: Native, Document: d}, nil
}

func parseJSONL(data []byte) Parsed {
	p := newCollector(JSONL)
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if text = bytes.TrimSpace(text); len(text) > 0 {
			p.add(text, line)
		}
	}
	return p.Parsed
}

// parseArray reads element by element, so that one bad record does not take the
// others with it. Where the list itself breaks off, nothing can be told of what
// would follow: the whole is an error.
func parseArray(data []byte) (Parsed, error) {
	p := newCollector(Array)
	line, counted := 1, 0
	r := newReader(data, 1)
	_, err := readList(r, func(r *reader, _ *struct{}) error {
		r.peek()
		from := r.pos
		if err := r.skip(); err != nil {
			return err
		}
		line += bytes.Count(data[counted:from], []byte{'\n'})
		counted = from
		p.add(data[from:r.pos], line)
		return nil
	})
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return Parsed{}, err
	}
	return p.Parsed, nil
}
