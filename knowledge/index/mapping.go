package index

import (
	"sync"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/registry"
	indexapi "github.com/blevesearch/bleve_index_api"

	"leanctx/knowledge/words"
)

// mappingVersion names the fields and the analyzer. A generation of another version is not opened. Raise it with
// each change of either, that of package words included, and of how the state packs
// versions or hashes values, and of a half-life of package fact, which a summary holds.
const mappingVersion = 19

// Doc is a fact as it is indexed, with all its versions.
type Doc struct {
	ID        string   // category/key, folded; unique
	Category  string   // searched as text, and a filter
	Key       string   // searched as text, and a name
	Aliases   []string // likewise
	Tags      []string // a filter
	Confirmed bool     // that somebody here stands behind it: a filter
	Value     []string // the current value and planned ones
	Former    []string // values of past versions: searched only if a query asks for them
	Questions []string // that the fact answers
	Versions  []string // the ids of the current versions
	Stored    []byte   // what Fact gives back
	Summary   []byte   // what Summaries gives back; nil: nothing

	// Hashes are those of the current values. They are made where they are needed: on disk, and for Hashed.
	Hashes func() []string

	// Pack makes Stored where it is needed: on disk, and for Fact. Nil: Stored is it.
	Pack func() ([]byte, error)
}

// stored is what is kept of a document.
func (d *Doc) stored() ([]byte, error) {
	if d.Pack == nil {
		return d.Stored, nil
	}
	return d.Pack()
}

// hashes are those of the current values.
func (d *Doc) hashes() []string {
	if d.Hashes == nil {
		return nil
	}
	return d.Hashes()
}

// versions are the ids of the current versions as they stand beside the hashes.
func (d *Doc) versions() []string {
	out := make([]string, len(d.Versions))
	for i, id := range d.Versions {
		out[i] = versionTerm(id)
	}
	return out
}

// versionTerm is no hash: none has a blank.
func versionTerm(id string) string { return "id " + id }

// Field is an analysed field.
type Field int

// The analysed fields.
const (
	Key Field = iota
	Aliases
	Category
	Value
	Former
	Questions
	fieldCount
)

// text is what a field of a document holds.
func (d *Doc) text(f Field) []string {
	switch f {
	case Key:
		return []string{d.Key}
	case Aliases:
		return d.Aliases
	case Category:
		return []string{d.Category}
	case Value:
		return d.Value
	case Former:
		return d.Former
	default:
		return d.Questions
	}
}

var fieldNames = [fieldCount]string{"key", "aliases", "category", "value", "former", "questions"}

// The keyword fields, and the one that is only stored.
const (
	nameField     = "name" // ID, key and aliases, folded
	categoryField = "in"   // the category, folded
	tagField      = "tag"
	hashField     = "hash" // and the ids of versions, see versionTerm
	storedField   = "stored"
)

// names are the folded names that a fact is called by.
func (d *Doc) names() []string {
	out := make([]string, 0, 2+len(d.Aliases))
	out = append(out, d.ID, words.FoldName(d.Key))
	for _, a := range d.Aliases {
		out = append(out, words.FoldName(a))
	}
	return out
}

// confirmedTag is the tag of a confirmed fact. No fact has a tag with this character.
const confirmedTag = "\x00confirmed"

// tags are what the filter by tags reads.
func (d *Doc) tags() []string {
	tags := folded(d.Tags)
	if d.Confirmed {
		tags = append(tags, confirmedTag)
	}
	return tags
}

func folded(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = words.FoldName(n)
	}
	return out
}

// data is a document as the mapping takes it apart.
func (d *Doc) data() (map[string]any, error) {
	stored, err := d.stored()
	out := map[string]any{
		nameField:     d.names(),
		categoryField: words.FoldName(d.Category),
		tagField:      d.tags(),
		hashField:     append(d.hashes(), d.versions()...),
		storedField:   string(stored),
	}
	for f, name := range fieldNames {
		out[name] = d.text(Field(f))
	}
	return out, err
}

// analyzer is package words as bleve calls it. Analyzers with a memory of words are not for several goroutines at
// once, and bleve analyses in several: hence the pool.
type analyzer struct{ lexicons sync.Pool }

var analysed = &analyzer{sync.Pool{New: func() any { return words.NewLexicon() }}}

// scan gives each token of a text to emit.
func (a *analyzer) scan(text string, emit func(words.Token)) {
	lexicon := a.lexicons.Get().(*words.Lexicon)
	defer a.lexicons.Put(lexicon)
	lexicon.Scan(text, emit)
}

// Analyze implements analysis.Analyzer. Nothing is asked by position, so none is counted.
func (a *analyzer) Analyze(text []byte) analysis.TokenStream {
	tokens := make([]analysis.Token, 0, len(text)/5)
	a.scan(string(text), func(t words.Token) { tokens = append(tokens, analysis.Token{Term: []byte(t.Term)}) })
	out := make(analysis.TokenStream, len(tokens))
	for i := range tokens {
		out[i] = &tokens[i]
	}
	return out
}

const analyzerName = "words"

// factMapping is the mapping of every generation. The analyzer must be registered with bleve before one is opened.
var factMapping = sync.OnceValues(func() (*mapping.IndexMappingImpl, error) {
	err := registry.RegisterAnalyzer(analyzerName, func(map[string]any, *registry.Cache) (analysis.Analyzer, error) {
		return analysed, nil
	})
	if err != nil {
		return nil, err
	}
	doc := mapping.NewDocumentStaticMapping()
	add := func(name, analyzer string, indexed, stored bool) {
		f := mapping.NewTextFieldMapping()
		f.Analyzer, f.Index, f.Store = analyzer, indexed, stored
		f.IncludeInAll, f.IncludeTermVectors, f.DocValues = false, false, false
		doc.AddFieldMappingsAt(name, f)
	}
	for _, name := range fieldNames {
		add(name, analyzerName, true, false)
	}
	for _, name := range []string{nameField, categoryField, tagField, hashField} {
		add(name, keyword.Name, true, false)
	}
	add(storedField, keyword.Name, false, true)
	m := mapping.NewIndexMapping()
	m.DefaultMapping = doc
	m.DefaultAnalyzer = keyword.Name
	m.ScoringModel = indexapi.BM25Scoring
	m.StoreDynamic, m.IndexDynamic, m.DocValuesDynamic = false, false, false
	return m, nil
})
