package index

import (
	"strings"
	"sync"

	"leanctx/knowledge/search/segment"
	"leanctx/knowledge/words"
)

// Doc is a fact as the index sees it. ID names one version of it.
type Doc struct {
	ID, Category, Key, Value string
	Aliases                  []string
}

// Field is one of the texts of a fact that a word may stand in.
type Field uint8

const (
	FieldKey Field = iota
	FieldAlias
	FieldCategory
	FieldValue
	FieldCount

	NameFields = FieldValue // the fields before it name a fact
)

// names are the fields' names in the index on disk and in Hit.Parts.
var FieldNames = [FieldCount]string{"key", "alias", "category", "value"}

// allFields are the fields of a segment: those, and at exactNumber the whole names.
var allFields = append(FieldNames[:len(FieldNames):len(FieldNames)], exactField)

const exactNumber = FieldCount

// Texts are a fact's texts by field.
func (d *Doc) Texts() [FieldCount]string {
	return [FieldCount]string{d.Key, strings.Join(d.Aliases, "\n"), d.Category, d.Value}
}

// Lengths sums the lengths of the fields, in tokens, over docs facts.
type Lengths struct {
	Docs int
	Sum  [FieldCount]int
}

func (l *Lengths) subtract(sizes [FieldCount]int) {
	l.Docs--
	for f := range sizes {
		l.Sum[f] -= sizes[f]
	}
}

// Add adds those of other facts.
func (l *Lengths) Add(o Lengths) {
	l.Docs += o.Docs
	for f := range l.Sum {
		l.Sum[f] += o.Sum[f]
	}
}

// exactField holds the whole names a fact is met by, one term each.
const exactField = "exact"

// Ident is what order and masks need of a fact.
type Ident struct {
	ID   string
	Name string // folded category NUL folded key
}

func identOf(d *Doc) Ident {
	return Ident{ID: d.ID, Name: words.FoldName(d.Category) + "\x00" + words.FoldName(d.Key)}
}

// The two ways a whole name is met, as prefixes of the terms of the exact field.
const (
	AsWritten = "="
	ByWords   = "~"
)

// byID before an id is, on disk, one more term of the exact field.
const byID = "#"

// exactNames are the terms under which a fact is found by its whole key, category/key or alias.
func exactNames(a *words.Lexicon, d *Doc) []string {
	var out []string
	for _, name := range append([]string{d.Key, d.Category + "/" + d.Key}, d.Aliases...) {
		if n := words.FoldName(name); n != "" && n != "/" && len(n) <= MaxNameBytes {
			out = append(out, AsWritten+n)
			if c := a.Canonical(name); c != "" {
				out = append(out, ByWords+c)
			}
		}
	}
	return out
}

// MaxNameBytes: a longer name is found by its words only.
const MaxNameBytes = 512

// Source is an index of facts numbered from 0, in memory or on disk, as a search reads it.
type Source interface {
	Slots() int          // one more than the greatest number of a fact
	Sizes() Lengths      // of the facts that are not masked
	Scratch() *sync.Pool // where searches leave their memory for the next ones in this source

	// Count is how many facts hold a term in a field, About how many about, at less cost. Visit gives each, and may
	// leave out those that are not among only, which is in order, where that is not nil.
	Count(term string, f Field) (int, error)
	About(term string, f Field) (int, error)
	Visit(term string, f Field, only []uint32, use func(segment.Posting)) error

	Named(name string, use func(doc uint32)) error // the facts with a name: AsWritten or ByWords and the name
	Similar(term string, how words.Likeness, use func(word string)) error

	// What is told of a fact may be a part of the index's memory.
	ID(doc uint32) (string, error)
	Identify(doc uint32) (Ident, error)
}
