package formats

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// NewerError is what reading a fact file gives that a newer build wrote.
type NewerError struct {
	Got int // the file's schema
	Max int // the newest that this build reads
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("schema %d is newer than this build reads (up to %d): use a newer build", e.Got, e.Max)
}

// EncodeNative writes d as a fact file: indented JSON, "schema" first, lists in a
// fixed order. The same d gives the same bytes. A schema of 0 is written as
// [Schema]. A newer one is an error. d is not changed.
func EncodeNative(w io.Writer, d *Document) error {
	if d.Schema > Schema {
		return &NewerError{d.Schema, Schema}
	}
	c := canonical(d)
	if c.Schema == 0 {
		c.Schema = Schema
	}
	if err := json.MarshalWrite(w, c, encoding, jsontext.WithIndent("  ")); err != nil {
		return err
	}
	_, err := w.Write([]byte{'\n'})
	return err
}

// canonical is a copy of d whose lists are in the order they are written in.
func canonical(d *Document) *Document {
	c := *d
	c.Extra = Unowned[Document](d.Extra)
	c.Facts = sortFacts(d.Facts)
	c.Patterns = sorted(d.Patterns, func(a, b Pattern) int {
		return cmp.Or(compareNames(a.Type, b.Type), strings.Compare(a.Description, b.Description), a.CreatedAt.Compare(b.CreatedAt))
	})
	c.Gotchas = sorted(d.Gotchas, func(a, b Gotcha) int {
		return cmp.Or(compareNames(a.Category, b.Category), strings.Compare(a.Trigger, b.Trigger),
			a.FirstSeen.Compare(b.FirstSeen), strings.Compare(a.ID, b.ID))
	})
	c.Relations = sorted(d.Relations, func(a, b Relation) int {
		return cmp.Or(a.From.compare(b.From.Name), a.To.compare(b.To.Name), strings.Compare(a.Kind, b.Kind), a.CreatedAt.Compare(b.CreatedAt))
	})
	c.Reminders = sorted(d.Reminders, func(a, b Reminder) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	c.JudgedPairs = sorted(d.JudgedPairs, func(a, b JudgedPair) int {
		return cmp.Or(strings.Compare(a.KeyA, b.KeyA), strings.Compare(a.KeyB, b.KeyB), a.JudgedAt.Compare(b.JudgedAt))
	})
	c.Disputes = sorted(d.Disputes, func(a, b Dispute) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID)) })
	c.History = sorted(d.History, func(a, b Insight) int { return a.Timestamp.Compare(b.Timestamp) })
	c.Tombstones = sorted(d.Tombstones, func(a, b Tombstone) int {
		return cmp.Or(compareNames(a.Category, b.Category), compareNames(a.Key, b.Key), a.ErasedAt.Compare(b.ErasedAt))
	})
	c.Renames = sorted(d.Renames, func(a, b Rename) int { return cmp.Or(a.At.Compare(b.At), a.From.compare(b.From), a.To.compare(b.To)) })
	return &c
}

func sorted[T any](list []T, by func(a, b T) int) []T {
	if slices.IsSortedFunc(list, by) {
		return list
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, by)
	return list
}

func compareNames(a, b string) int { return strings.Compare(FoldName(a), FoldName(b)) }

func (n Name) compare(m Name) int {
	return cmp.Or(compareNames(n.Category, m.Category), compareNames(n.Key, m.Key))
}

// sortFacts folds each name once: there may be 100,000.
func sortFacts(facts []*Fact) []*Fact {
	type folded struct {
		category, key string
		fact          *Fact
	}
	list := make([]folded, len(facts))
	for i, f := range facts {
		list[i] = folded{FoldName(f.Category), FoldName(f.Key), f}
	}
	by := func(a, b folded) int {
		if c := cmp.Or(strings.Compare(a.category, b.category), strings.Compare(a.key, b.key)); c != 0 {
			return c
		}
		return cmp.Or(a.fact.ValidFrom.Compare(b.fact.ValidFrom), a.fact.RecordedFrom.Compare(b.fact.RecordedFrom),
			strings.Compare(a.fact.ID, b.fact.ID))
	}
	if slices.IsSortedFunc(list, by) {
		return facts
	}
	slices.SortStableFunc(list, by)
	out := make([]*Fact, len(list))
	for i := range list {
		out[i] = list[i].fact
	}
	return out
}

var errEmpty = errors.New("the file is empty")

// DecodeNative reads a fact file, ours or the one of lean-ctx, which has no schema. It keeps
// members and enum values that it does not know. A field that our fact lacks gets the value
// of a new fact. One that a fact of lean-ctx lacks gets that program's default: see
// [ReadLeanCtxDir]. A fact without an id gets one that depends only on the file. Errors are
// [*NewerError] for a newer schema, else [*MistakeError] with the line and the field. The
// caller judges whether values make sense.
func DecodeNative(data []byte) (*Document, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	top, err := look(data)
	switch {
	case err != nil && !top.hasFacts: // else reading it whole tells the place better
		return nil, err
	case top.schema > Schema:
		return nil, &NewerError{top.schema, Schema}
	case top.hasSchema && top.schema < 1:
		return nil, &MistakeError{Field: "schema", Problem: fmt.Sprintf("there is no schema %d", top.schema)}
	case !top.isDocument():
		return nil, &MistakeError{Problem: "this is no fact file: it has neither a schema nor facts"}
	}
	d := new(Document)
	if err := json.Unmarshal(data, d, decodingFile); err != nil {
		return nil, mistake(err, data, 1)
	}
	if d.Schema > Schema { // a second member of that name
		return nil, &NewerError{d.Schema, Schema}
	}
	if !top.hasSchema {
		d.adopt()
	}
	if err := d.settle(); err != nil {
		return nil, err
	}
	if !top.hasSchema {
		d.link()
	}
	return d, nil
}

// outline is what the top level of an object shows before it is read whole.
type outline struct {
	schema    int
	hasSchema bool
	hasFacts  bool
}

func (o outline) isDocument() bool { return o.hasSchema || o.hasFacts }

// look reads only as far as the schema, which is first in our files. The version must be
// known before the rest is read.
func look(data []byte) (o outline, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return o, errEmpty
	}
	d := newDecoder(data)
	if d.PeekKind() != '{' {
		return o, wantFirst("an object", data)
	}
	if _, err := d.ReadToken(); err != nil {
		return o, mistake(err, data, 1)
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return o, mistake(err, data, 1)
		}
		switch name.String() {
		case "schema":
			o.hasSchema = true
			return o, mistake(json.UnmarshalDecode(d, &o.schema, decoding), data, 1)
		case "facts":
			o.hasFacts = d.PeekKind() == '['
		}
		if err := d.SkipValue(); err != nil {
			return o, mistake(err, data, 1)
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return o, mistake(err, data, 1)
	}
	return o, nil
}

func newDecoder(data []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(data), decoding)
}

// wantFirst is the error for a text that begins with something else.
func wantFirst(what string, data []byte) error {
	text := bytes.TrimLeft(data, " \t\r\n")
	line := 1 + bytes.Count(data[:len(data)-len(text)], []byte{'\n'})
	r, _ := utf8.DecodeRune(text)
	found := strconv.QuoteRune(r)
	if k := jsontext.Value(text[:1]).Kind(); strings.ContainsRune(`{["0`, rune(k)) {
		found = kindName(k)
	}
	return &MistakeError{Line: line, Problem: "want " + what + ", found " + found}
}

// EncodeSparse writes facts as JSON without zero fields. It is for caches: a reader must
// not put defaults in place of the missing fields.
func EncodeSparse(facts []*Fact) ([]byte, error) {
	return json.Marshal(facts, encoding, json.OmitZeroStructFields(true))
}
