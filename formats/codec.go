package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Optional is a string that is written as null when it is empty.
type Optional string

type (
	encoder = *jsontext.Encoder
	decoder = *jsontext.Decoder
)

// maxDepth is how deep an unknown value may be nested: laid out, it takes its
// depth squared.
const maxDepth = 1000

// encoding is how everything is written.
var encoding = json.JoinOptions(json.Deterministic(true), jsontext.EscapeForJS(true), jsontext.AllowInvalidUTF8(true),
	jsontext.AllowDuplicateNames(true), json.WithMarshalers(json.MarshalToFunc(writeTime)))

// decodingSyntax is which JSON is read.
var decodingSyntax = jsontext.AllowDuplicateNames(true)

// decoding is how everything is read. A null leaves what is there.
var decoding = json.JoinOptions(decodingSyntax, jsonv1.MergeWithLegacySemantics(true), json.WithUnmarshalers(unmarshalers))

var unmarshalers = json.UnmarshalFromFunc(readTime)

// Decode reads JSON that others wrote into a value with records in it, such as the line of a
// replica. It refuses an unknown member that is nested too deep.
func Decode(data []byte, into any) error {
	return json.Unmarshal(data, into, decoding, jsontext.AllowInvalidUTF8(true))
}

// decodingFile is decoding for a fact file: a fact has its defaults before it is read, and
// [Fact.settle] finds what is missing.
var decodingFile = json.JoinOptions(decoding, json.WithUnmarshalers(json.JoinUnmarshalers(
	json.UnmarshalFromFunc(func(_ decoder, x *Fact) error { *x = newFact(); return errors.ErrUnsupported }), unmarshalers)))

// MarshalJSONTo writes null for the empty string.
func (o Optional) MarshalJSONTo(e encoder) error {
	if o == "" {
		return e.WriteToken(jsontext.Null)
	}
	return e.WriteToken(jsontext.String(string(o)))
}

// UnmarshalJSONFrom reads a string or null.
func (o *Optional) UnmarshalJSONFrom(d decoder) error {
	if d.PeekKind() == 'n' {
		*o = ""
		return d.SkipValue()
	}
	return json.UnmarshalDecode(d, (*string)(o))
}

// MarshalJSONTo writes the value.
func (r Raw) MarshalJSONTo(e encoder) error { return e.WriteValue(jsontext.Value(r)) }

// UnmarshalJSONFrom refuses what is nested too deep, also in a commit of the journal. A snapshot
// with it could not be read again.
func (r *Raw) UnmarshalJSONFrom(d decoder) error {
	text, err := d.ReadValue()
	if err != nil {
		return err
	}
	depth, inner := 0, jsontext.NewDecoder(bytes.NewBuffer(text), decodingSyntax)
	for k := text.Kind(); (k == '{' || k == '[') && depth <= maxDepth; {
		if _, err := inner.ReadToken(); err != nil {
			break
		}
		depth = max(depth, inner.StackDepth())
	}
	if depth > maxDepth {
		return fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	v := text.Clone()
	err = v.Compact(decodingSyntax)
	*r = Raw(v)
	return err
}

// writeTime writes RFC 3339 in UTC.
func writeTime(e encoder, t *time.Time) error {
	u := t.UTC()
	if y := u.Year(); y < 1 || y > 9999 {
		return fmt.Errorf("a time lies in the years 1 to 9999, not in %d", y)
	}
	b := append(e.AvailableBuffer(), '"')
	b = u.AppendFormat(b, time.RFC3339Nano)
	return e.WriteValue(append(b, '"'))
}

// readTime reads RFC 3339, or a day, which stands for its start in UTC.
func readTime(d decoder, t *time.Time) error {
	if k := d.PeekKind(); k != '"' {
		if k == 'n' {
			return d.SkipValue()
		}
		return fmt.Errorf("want a time, found %s", kindName(k))
	}
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	text := v[1 : len(v)-1]
	if len(text) == len(time.DateOnly) {
		text = append(text[:len(text):len(text)], "T00:00:00Z"...)
	}
	var u time.Time
	if err := u.UnmarshalText(text); err != nil {
		return fmt.Errorf("%q is not a time as in 2026-01-15T10:00:00Z", clip(string(v[1:len(v)-1])))
	}
	u = u.UTC()
	if y := u.Year(); y < 1 || y > 9999 {
		return fmt.Errorf("%q: a time lies in the years 1 to 9999", clip(string(v[1:len(v)-1])))
	}
	*t = u
	return nil
}

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

// mistake says where in a text an error of the library lies. first is the
// number of the text's first line.
func mistake(err error, text []byte, first int) error {
	m := &MistakeError{}
	var at int64
	var pointer jsontext.Pointer
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		at, pointer, m.Problem = min(e.ByteOffset, int64(len(text))), e.JSONPointer, misfit(e)
		at += int64(len(text[at:]) - len(bytes.TrimLeft(text[at:], " \t\r\n:,"))) // to where the value begins
	} else if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at, pointer, m.Problem = e.ByteOffset, e.JSONPointer, "not JSON: "+strings.TrimPrefix(e.Err.Error(), "jsontext: ")
		if errors.Is(err, io.ErrUnexpectedEOF) {
			m.Problem = "the file ends too early"
		}
	} else {
		return err
	}
	m.Line = first + bytes.Count(text[:min(at, int64(len(text)))], []byte{'\n'})
	for name := range pointer.Tokens() {
		if _, err := strconv.Atoi(name); err == nil {
			m.Field += "[" + name + "]"
		} else {
			m.Field = strings.TrimPrefix(m.Field+"."+name, ".")
		}
	}
	m.Field = clip(m.Field)
	return m
}

// misfit says that a value is not what its place wants.
func misfit(e *json.SemanticError) string {
	want := "another value"
	switch t := e.GoType; {
	case t == nil:
	case t == reflect.TypeFor[time.Time]():
		want = "a time"
	case t.Kind() == reflect.String:
		want = "a string"
	case t.Kind() == reflect.Bool:
		want = "true or false"
	case t.Kind() == reflect.Int || t.Kind() == reflect.Uint64:
		want = "a whole number"
	case t.Kind() == reflect.Float64:
		want = "a number"
	case t.Kind() == reflect.Slice:
		want = "a list"
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer:
		want = "an object"
	}
	switch {
	case e.JSONKind == '0' && len(e.JSONValue) > 0: // of the right kind
		return fmt.Sprintf("%s is not %s that fits", clip(string(e.JSONValue)), want)
	case e.Err != nil:
		return e.Err.Error()
	}
	return "want " + want + ", found " + kindName(e.JSONKind)
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "true or false"
	}
	return k.String()
}

// clip shortens a text for an error, at a whole character.
func clip(s string) string {
	const maxBytes = 60
	if len(s) <= maxBytes {
		return s
	}
	n := maxBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
