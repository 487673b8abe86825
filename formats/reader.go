package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxDepth is how deep values may be nested. Ours need six levels.
const maxDepth = 1000

// MistakeError says what is wrong with a file, and where.
type MistakeError struct {
	Line    int    // 1 is the first; 0 when no one line is to blame
	Field   string // the way to the member, such as facts[3].confidence; may be empty
	Problem string
}

func (e *MistakeError) Error() string {
	s := e.Problem
	if e.Field != "" {
		s = e.Field + ": " + s
	}
	if e.Line > 0 {
		s = "line " + strconv.Itoa(e.Line) + ": " + s
	}
	return s
}

// within puts the name of what an error happened in before its field.
func within(err error, name string) error {
	m, ok := errors.AsType[*MistakeError](err)
	if !ok {
		return err
	}
	if m.Field != "" && m.Field[0] != '[' {
		name += "."
	}
	m.Field = name + m.Field
	return m
}

// reader goes once through a JSON text.
type reader struct {
	data  []byte
	pos   int
	first int               // the number of the first line of data
	words map[string]string // short strings that come again and again
}

func newReader(data []byte, first int) *reader {
	return &reader{data: data, first: first, words: map[string]string{}}
}

func (r *reader) line() int {
	return r.first + bytes.Count(r.data[:min(r.pos, len(r.data))], []byte{'\n'})
}

func (r *reader) fail(format string, args ...any) error {
	return &MistakeError{Line: r.line(), Problem: fmt.Sprintf(format, args...)}
}

// peek passes over white space; 0 is the end of the text.
func (r *reader) peek() byte {
	for r.pos < len(r.data) {
		switch c := r.data[r.pos]; c {
		case ' ', '\n', '\r', '\t':
			r.pos++
		default:
			return c
		}
	}
	return 0
}

// found names the value that begins at the reader's place, for an error.
func (r *reader) found() string {
	switch c := r.peek(); {
	case c == 0 && r.pos >= len(r.data):
		return "the end of the file"
	case c == '{':
		return "an object"
	case c == '[':
		return "a list"
	case c == '"':
		return "a string"
	case c == 't' || c == 'f':
		return "true or false"
	case c == 'n':
		return "null"
	case c == '-' || c >= '0' && c <= '9':
		return "a number"
	default:
		u, _ := utf8.DecodeRune(r.data[r.pos:])
		return strconv.QuoteRune(u)
	}
}

func (r *reader) want(what string) error { return r.fail("want %s, found %s", what, r.found()) }

// expect takes the one character c.
func (r *reader) expect(c byte, what string) error {
	if r.peek() != c {
		return r.want(what)
	}
	r.pos++
	return nil
}

// null takes a null if one stands here.
func (r *reader) null() bool {
	if r.peek() != 'n' || !bytes.HasPrefix(r.data[r.pos:], []byte("null")) {
		return false
	}
	r.pos += 4
	return true
}

// end makes sure that nothing follows.
func (r *reader) end() error {
	if r.peek(); r.pos < len(r.data) {
		return r.fail("more text after the end: %s", r.found())
	}
	return nil
}

func (r *reader) flag() (bool, error) {
	r.peek()
	for _, b := range []bool{true, false} {
		if word := strconv.FormatBool(b); bytes.HasPrefix(r.data[r.pos:], []byte(word)) {
			r.pos += len(word)
			return b, nil
		}
	}
	return false, r.want("true or false")
}

// digits takes a number, of which it checks JSON's grammar.
func (r *reader) digits(what string) ([]byte, error) {
	if c := r.peek(); c != '-' && (c < '0' || c > '9') {
		return nil, r.want(what)
	}
	from := r.pos
	for r.pos < len(r.data) && isNumeral(r.data[r.pos]) {
		r.pos++
	}
	b := r.data[from:r.pos]
	if !isNumber(b) {
		return nil, r.fail("%s is not a number", b)
	}
	return b, nil
}

func isNumeral(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// isNumber reports whether b is a number of JSON, which strconv is more
// generous about.
func isNumber(b []byte) bool {
	plain := len(b) > 0 && (b[0] != '0' || len(b) == 1)
	for _, c := range b {
		plain = plain && c >= '0' && c <= '9'
	}
	return plain || json.Valid(b)
}

func (r *reader) number() (float64, error) {
	b, err := r.digits("a number")
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return 0, r.fail("%s is too large", b)
	}
	return f, nil
}

func (r *reader) count() (int64, error) {
	b, err := r.digits("a whole number")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return 0, r.fail("%s is not a whole number that fits", b)
	}
	return n, nil
}

func (r *reader) serial() (uint64, error) {
	b, err := r.digits("a whole number")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(string(b), 10, 64)
	if err != nil {
		return 0, r.fail("%s is not a number of 0 or more that fits", b)
	}
	return n, nil
}

func (r *reader) time() (time.Time, error) {
	b, err := r.bytes("a time")
	if err != nil {
		return time.Time{}, err
	}
	t, err := parseTime(b)
	if err != nil {
		return time.Time{}, r.fail("%v", err)
	}
	return t, nil
}

// parseTime reads RFC 3339 and gives it in UTC.
func parseTime(b []byte) (time.Time, error) {
	var t time.Time
	if err := t.UnmarshalText(b); err != nil {
		return time.Time{}, fmt.Errorf("%q is not a time as in 2026-01-15T10:00:00Z", clip(string(b)))
	}
	t = t.UTC()
	if y := t.Year(); y < 1 || y > 9999 {
		return time.Time{}, fmt.Errorf("%q: a time lies in the years 1 to 9999", clip(string(b)))
	}
	return t, nil
}

// clip shortens a text for an error, at a whole character.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
