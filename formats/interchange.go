package formats

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind is which format a file turned out to be in.
type Kind string

// The kinds of a [Parsed].
const (
	Native  Kind = "native"  // our own fact file
	LeanCtx Kind = "leanctx" // the fact file of lean-ctx
	Array   Kind = "array"   // a JSON array of records
	JSONL   Kind = "jsonl"   // a record a line
	Foreign Kind = "foreign" // another program's memory: see package foreign
)

// Parsed is what a file holds: a Document when its kind is native or leanctx,
// else Records and the lines that gave none.
type Parsed struct {
	Kind     Kind
	Document *Document
	Records  []Record
	Lines    []Position // where each record begins
	Bad      []BadLine
}

// Position is a place in an interchange file. Lines do not tell the elements of an
// array apart that is on one line.
type Position struct {
	Line    int // 1 is the first; 0: not known
	Element int // of an array, 1 is the first; 0 in other files
}

func (p Position) String() string {
	switch {
	case p.Line == 0 && p.Element > 0:
		return fmt.Sprintf("element %d", p.Element)
	case p.Element > 0:
		return fmt.Sprintf("line %d (element %d)", p.Line, p.Element)
	}
	return fmt.Sprintf("line %d", p.Line)
}

// BadLine is a line of an interchange file that gives no record.
type BadLine struct {
	Position
	Err error
}

func (b BadLine) Error() string { return fmt.Sprintf("%v: %v", b.Position, b.Err) }

// Unwrap gives the error without the line.
func (b BadLine) Unwrap() error { return b.Err }

// record reads the one object that a text is; first is the number of its first line.
func record(text []byte, first int) (Record, *BadLine) {
	bad := func(line int, field, problem string) (Record, *BadLine) {
		return Record{}, &BadLine{Position{Line: line}, &MistakeError{Field: field, Problem: problem}}
	}
	if !utf8.Valid(text) {
		return bad(first, "", "not UTF-8 text")
	}
	c := Record{Category: absent, Key: absent, Value: absent}
	if string(bytes.TrimSpace(text)) == "null" {
		return bad(first, "", "want an object, found null")
	}
	if m, ok := errors.AsType[*MistakeError](mistake(json.Unmarshal(text, &c, decoding), text, first)); ok {
		return bad(m.Line, m.Field, m.Problem)
	}
	for _, m := range []struct{ name, text string }{{"category", c.Category}, {"key", c.Key}, {"value", c.Value}} {
		switch {
		case m.text == absent:
			return bad(first, m.name, "missing")
		case strings.TrimSpace(m.text) == "":
			return bad(first, m.name, "empty")
		}
	}
	switch {
	case c.Confidence != nil && (*c.Confidence < 0 || *c.Confidence > 1):
		return bad(first, "confidence", fmt.Sprintf("%v is outside 0..1", *c.Confidence))
	case c.Confirmations < 0:
		return bad(first, "confirmations", "negative")
	case c.ValidFrom != nil && c.ValidUntil != nil && !c.ValidUntil.After(*c.ValidFrom):
		return bad(first, "valid_until", "not after valid_from")
	}
	return c, nil
}

// add keeps the record that a text holds, or what is wrong with it.
func (p *Parsed) add(text []byte, at Position) {
	c, bad := record(text, at.Line)
	if bad != nil {
		bad.Element = at.Element
		p.Bad = append(p.Bad, *bad)
		return
	}
	p.Records = append(p.Records, c)
	p.Lines = append(p.Lines, at)
}

// ParseDocument reads a file of any of our formats, which it recognises by the text. It
// accepts a byte order mark, either kind of line end, empty lines and lines of any length.
// An empty file holds nothing. In JSONL and in an array, Bad lists the records that are
// wrong. The error is for a file that cannot be read further.
func ParseDocument(data []byte) (Parsed, error) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return Parsed{}, &MistakeError{Line: 1, Problem: "this is UTF-16 text: save it as UTF-8"}
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	text := bytes.TrimLeft(data, " \t\r\n")
	first := 1 + bytes.Count(data[:len(data)-len(text)], []byte{'\n'})
	switch {
	case len(text) == 0:
		return Parsed{Kind: JSONL}, nil // an export of nothing, as JSONL
	case text[0] == '[':
		return parseArray(data)
	case text[0] == '{':
		if top, _ := look(data); top.isDocument() {
			return parseDocument(data)
		}
		p := Parsed{Kind: JSONL}
		if jsontext.Value(text).IsValid(decoding) {
			p.add(text, Position{Line: first}) // a single record, be it over several lines
			return p, nil
		}
		return parseJSONL(data)
	case bytes.Contains(data, []byte("\n{")):
		return parseJSONL(data)
	default:
		return Parsed{}, wantFirst("a fact file, an array of records or a record a line", data)
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

// MaxBad is the most records of a file that may be wrong: each is named.
const MaxBad = 10_000

// TooManyBad is the error of a file in which more is wrong.
func TooManyBad(line int) error {
	return &MistakeError{Line: line, Problem: fmt.Sprintf("more than %d records before it are wrong", MaxBad)}
}

func parseJSONL(data []byte) (Parsed, error) {
	p := Parsed{Kind: JSONL}
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if text = bytes.TrimSpace(text); len(text) > 0 {
			if p.add(text, Position{Line: line}); len(p.Bad) > MaxBad {
				return Parsed{}, TooManyBad(line)
			}
		}
	}
	return p, nil
}

// parseArray reads element by element, so that one bad record does not take the
// others with it. Text that is not JSON is an error, because nothing after it can be
// read reliably.
func parseArray(data []byte) (Parsed, error) {
	p := Parsed{Kind: Array}
	line, counted, element := 1, 0, 0
	d := newDecoder(data)
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != ']' {
		var text jsontext.Value
		if text, err = d.ReadValue(); err != nil {
			break
		}
		from := int(d.InputOffset()) - len(text)
		line += bytes.Count(data[counted:from], []byte{'\n'})
		counted = from
		element++
		if p.add(text, Position{line, element}); len(p.Bad) > MaxBad {
			return Parsed{}, TooManyBad(line)
		}
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	if err == nil {
		if _, err = d.ReadToken(); err == io.EOF {
			return p, nil
		}
		if err == nil {
			err = wantFirst("the end of the file", data[d.InputOffset()-1:])
		}
	}
	return Parsed{}, mistake(err, data, 1)
}

// EncodeJSONL writes one record a line. A number or time that JSON has no form
// for is an error that names the record.
func EncodeJSONL(out io.Writer, list []Record) error {
	w := bufio.NewWriter(out)
	e := jsontext.NewEncoder(w, encoding)
	if err := writeRecords(e, list); err != nil {
		return err
	}
	return w.Flush()
}

// EncodeArray writes the records as one indented JSON array.
func EncodeArray(out io.Writer, list []Record) error {
	w := bufio.NewWriter(out)
	e := jsontext.NewEncoder(w, encoding, jsontext.WithIndent("  "))
	if err := cmp.Or(e.WriteToken(jsontext.BeginArray), writeRecords(e, list), e.WriteToken(jsontext.EndArray)); err != nil {
		return err
	}
	return w.Flush()
}

func writeRecords(e *jsontext.Encoder, list []Record) error {
	for i := range list {
		if err := json.MarshalEncode(e, &list[i]); err != nil {
			return fmt.Errorf("record %d (%s/%s): %w", i+1, clip(list[i].Category), clip(list[i].Key), err)
		}
	}
	return nil
}
