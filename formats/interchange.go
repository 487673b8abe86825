package formats

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// BadLine is a line of an interchange file that gives no record.
type BadLine struct {
	Line int // 1 is the first
	Err  error
}

func (b BadLine) Error() string { return fmt.Sprintf("line %d: %v", b.Line, b.Err) }

// Unwrap gives the error without the line.
func (b BadLine) Unwrap() error { return b.Err }

func (c *Record) fields(p *pass) {
	p.word("category", &c.Category)
	p.text("key", &c.Key)
	p.text("value", &c.Value)
	p.share("confidence", &c.Confidence)
	p.textOmit("source", &c.Source)
	p.moment("valid_from", &c.ValidFrom)
	p.moment("valid_until", &c.ValidUntil)
	if p.w == nil || c.Confirmations != 0 {
		p.count("confirmations", &c.Confirmations)
	}
	p.moment("timestamp", &c.Timestamp)
	p.wordOmit("privacy", &c.Privacy)
}

// extra is for what a record has besides; other programs' members have no
// place in a fact.
func (c *Record) extra() *map[string]json.RawMessage { return new(map[string]json.RawMessage) }

// share is a number of 0..1 that may be left out.
func (p *pass) share(name string, f **float64) {
	if p.w != nil && *f == nil {
		return
	}
	member(p, name, f, func(w *writer, f *float64) { w.number(*f) }, func(r *reader) (*float64, error) {
		f, err := r.number()
		if err == nil && (f < 0 || f > 1) {
			err = r.fail("%v is outside 0..1", f)
		}
		return &f, err
	})
}

// moment is a time that may be left out: RFC 3339, or a day, which stands for
// its start in UTC.
func (p *pass) moment(name string, t **time.Time) {
	if p.w != nil {
		p.maybeOmit(name, t)
		return
	}
	member(p, name, t, nil, func(r *reader) (*time.Time, error) {
		b, err := r.bytes("a time")
		if err != nil {
			return nil, err
		}
		if len(b) == len(time.DateOnly) {
			b = append(b[:len(b):len(b)], "T00:00:00Z"...)
		}
		t, err := parseTime(b)
		if err != nil {
			return nil, r.fail("%v", err)
		}
		return &t, nil
	})
}

// record reads the one object that r's text is.
func (r *reader) record() (Record, *BadLine) {
	first := r.first
	bad := func(line int, field, problem string) (Record, *BadLine) {
		return Record{}, &BadLine{line, &MistakeError{Field: field, Problem: problem}}
	}
	if !utf8.Valid(r.data) {
		return bad(first, "", "not UTF-8 text")
	}
	c := Record{Category: absent, Key: absent, Value: absent}
	err := r.read(&c)
	if err == nil {
		err = r.end()
	}
	if m, ok := errors.AsType[*MistakeError](err); ok {
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
	case c.Confirmations < 0:
		return bad(first, "confirmations", "negative")
	case c.ValidFrom != nil && c.ValidUntil != nil && !c.ValidUntil.After(*c.ValidFrom):
		return bad(first, "valid_until", "not after valid_from")
	}
	return c, nil
}

// collector gathers what the records of one file hold.
type collector struct {
	Parsed
	r reader
}

func newCollector(k Kind) *collector {
	return &collector{Parsed{Kind: k}, reader{words: map[string]string{}}}
}

// add keeps the record that data holds, or what is wrong with it.
func (p *collector) add(data []byte, line int) {
	p.r.data, p.r.pos, p.r.first = data, 0, line
	c, bad := p.r.record()
	if bad != nil {
		if !json.Valid(data) {
			bad.Err = fmt.Errorf("not JSON: %w", bad.Err)
		}
		p.Bad = append(p.Bad, *bad)
		return
	}
	p.Records = append(p.Records, c)
	p.Lines = append(p.Lines, line)
}

// writeRecords writes list. A number or time that JSON has no form for is an
// error that names the record.
func writeRecords(w *writer, list []Record, each func(*Record)) error {
	for i := range list {
		if each(&list[i]); w.err != nil {
			return fmt.Errorf("record %d (%s/%s): %w", i+1, clip(list[i].Category), clip(list[i].Key), w.err)
		}
	}
	return nil
}

// EncodeJSONL writes one record a line.
func EncodeJSONL(out io.Writer, list []Record) error {
	w := &writer{out: out, compact: true}
	err := writeRecords(w, list, func(c *Record) {
		w.write(c)
		w.buf = append(w.buf, '\n')
	})
	if err != nil {
		return err
	}
	w.flush()
	return w.err
}

// EncodeArray writes the records as one indented JSON array.
func EncodeArray(out io.Writer, list []Record) error {
	w := &writer{out: out}
	w.open('[')
	err := writeRecords(w, list, func(c *Record) {
		w.element()
		w.write(c)
	})
	if err != nil {
		return err
	}
	w.close(']')
	w.buf = append(w.buf, '\n')
	w.flush()
	return w.err
}
