package search

import (
	"errors"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2/analysis"
	index "github.com/blevesearch/bleve_index_api"
)

// exactField holds the whole names a fact is met by, one term each; identField is bleve's own.
const (
	exactField = "exact"
	identField = "_id"
)

// document is a fact as a bleve segment takes it in.
type document struct {
	id     string
	fields []*textField
}

// document analyses a fact. What the index must know of it beside its words (order, lengths) goes into
// its external id, which bleve keeps for every document and reads back without a stored field.
func (a *lexicon) document(d *Doc) *document {
	out := &document{}
	var sizes [fieldCount]int
	for f, text := range d.texts() {
		if text == "" {
			continue
		}
		field := &textField{name: fieldNames[f], options: index.IndexField}
		field.terms, field.length = a.count(text)
		sizes[f] = field.length
		out.fields = append(out.fields, field)
	}
	exact := &textField{name: exactField, options: index.IndexField, terms: map[string]int{byID + d.ID: 1}}
	for _, name := range a.exactNames(d) {
		exact.terms[name]++
	}
	out.fields = append(out.fields, exact)
	out.id = externalID(identOf(d), sizes)
	return out
}

// externalID is id NUL category NUL key NUL lengths.
func externalID(who ident, sizes [fieldCount]int) string {
	var s strings.Builder
	s.WriteString(who.id + "\x00" + who.name + "\x00")
	for _, n := range sizes {
		s.WriteString(strconv.FormatInt(int64(n), 36) + " ")
	}
	return s.String()
}

var errIdent = errors.New("malformed identity of a fact")

func parseExternalID(s string) (who ident, sizes [fieldCount]int, err error) {
	id, rest, ok := strings.Cut(s, "\x00")
	cut := strings.LastIndexByte(rest, 0)
	if !ok || cut < 0 {
		return who, sizes, errIdent
	}
	f := strings.Fields(rest[cut+1:])
	if len(f) != int(fieldCount) {
		return who, sizes, errIdent
	}
	for i := range sizes {
		n, err := strconv.ParseInt(f[i], 36, 32)
		if err != nil {
			return who, sizes, errIdent
		}
		sizes[i] = int(n)
	}
	return ident{id, rest[:cut]}, sizes, nil
}

// The rest implements index.Document.

func (d *document) ID() string { return d.id }

func (d *document) Size() int { return len(d.id) }

func (d *document) VisitFields(visit index.FieldVisitor) {
	for _, f := range d.fields {
		visit(f)
	}
}

func (d *document) VisitComposite(index.CompositeFieldVisitor) {}

func (d *document) HasComposite() bool { return false }

func (d *document) NumPlainTextBytes() uint64 { return 0 }

func (d *document) StoredFieldsBytes() uint64 { return 0 }

func (d *document) Indexed() bool { return true }

// AddIDField implements index.Document.
func (d *document) AddIDField() {
	d.fields = append(d.fields, &textField{
		name:    identField,
		value:   []byte(d.id),
		options: index.IndexField | index.StoreField,
		terms:   map[string]int{d.id: 1},
	})
}

// textField is one field of a document. It implements index.Field itself, since its length leaves out stop
// words, which bleve's own text field would count.
type textField struct {
	name    string
	value   []byte // only of the stored field
	options index.FieldIndexingOptions
	terms   map[string]int
	length  int
	freqs   index.TokenFrequencies // of terms, made once
}

func (f *textField) Name() string { return f.name }

func (f *textField) Value() []byte { return f.value }

func (f *textField) ArrayPositions() []uint64 { return nil }

func (f *textField) EncodedFieldType() byte { return 't' }

func (f *textField) Analyze() {}

func (f *textField) Options() index.FieldIndexingOptions { return f.options }

func (f *textField) NumPlainTextBytes() uint64 { return uint64(len(f.value)) }

// AnalyzedLength implements index.Field. bleve keeps 1/√length, so none may be 0.
func (f *textField) AnalyzedLength() int { return max(1, f.length) }

// AnalyzedTokenFrequencies implements index.Field.
func (f *textField) AnalyzedTokenFrequencies() index.TokenFrequencies {
	if f.freqs != nil {
		return f.freqs
	}
	f.freqs = make(index.TokenFrequencies, len(f.terms))
	each := make([]index.TokenFreq, len(f.terms))
	for term, n := range f.terms {
		freq := &each[len(f.freqs)]
		freq.Term = []byte(term)
		freq.SetFrequency(n)
		f.freqs[term] = freq
	}
	return f.freqs
}

// Analyzer is the one analyzer as bleve knows analyzers, for bleve's own tools.
type Analyzer struct{}

// Analyze implements analysis.Analyzer.
func (Analyzer) Analyze(text []byte) analysis.TokenStream {
	var out analysis.TokenStream
	scan(string(text), func(t token) {
		out = append(out, &analysis.Token{Term: []byte(t.term), Position: len(out) + 1, Type: analysis.AlphaNumeric})
	})
	return out
}

// lengths are those of this fact alone.
func (d *document) lengths() lengths {
	out := lengths{Docs: 1}
	for _, f := range d.fields {
		for i, name := range fieldNames {
			if f.name == name {
				out.Sum[i] = f.length
			}
		}
	}
	return out
}
