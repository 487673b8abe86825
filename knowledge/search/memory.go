package search

import (
	"strings"

	"leanctx/knowledge/search/segment"
	"leanctx/knowledge/search/words"
)

// field is one of the texts of a fact that a word may stand in.
type field uint8

const (
	fieldKey field = iota
	fieldAlias
	fieldCategory
	fieldValue
	fieldCount

	nameFields = fieldValue // the fields before it name a fact
)

// names are the fields' names in the index on disk and in Hit.Parts.
var fieldNames = [fieldCount]string{"key", "alias", "category", "value"}

// allFields are the fields of a segment: those, and at exactNumber the whole names.
var allFields = append(fieldNames[:len(fieldNames):len(fieldNames)], exactField)

const exactNumber = fieldCount

// texts are a fact's texts by field.
func (d *Doc) texts() [fieldCount]string {
	return [fieldCount]string{d.Key, strings.Join(d.Aliases, "\n"), d.Category, d.Value}
}

// lengths sums the lengths of the fields, in tokens, over docs facts.
type lengths struct {
	Docs int
	Sum  [fieldCount]int
}

func (l *lengths) subtract(sizes [fieldCount]int) {
	l.Docs--
	for f := range sizes {
		l.Sum[f] -= sizes[f]
	}
}

// negative is what was subtracted from nothing.
func (l lengths) negative() lengths {
	l.Docs = -l.Docs
	for f := range l.Sum {
		l.Sum[f] = -l.Sum[f]
	}
	return l
}

func (l *lengths) add(o lengths) {
	l.Docs += o.Docs
	for f := range l.Sum {
		l.Sum[f] += o.Sum[f]
	}
}

// entry is a fact in memory.
type entry struct {
	ident
	doc   *Doc
	dead  bool
	sizes [fieldCount]int
}

// ident is what order and masks need of a fact.
type ident struct {
	id   string
	name string // folded category NUL folded key
}

// memory is an index of facts that are not yet in a generation on disk. Not safe for use by several
// goroutines at once.
type memory struct {
	entries []entry
	slots   map[string]uint32
	words   [fieldCount]map[string][]segment.Posting
	exact   map[string][]uint32
	lengths lengths
	dead    int
	pool    *slabs

	lexicon *words.Lexicon
}

func newMemory() *memory {
	m := &memory{pool: new(slabs), lexicon: words.NewLexicon(), slots: map[string]uint32{}, exact: map[string][]uint32{}}
	for f := range m.words {
		m.words[f] = map[string][]segment.Posting{}
	}
	return m
}

// add takes a fact in; one of the same id gives way.
func (m *memory) add(d *Doc) {
	m.remove(d.ID)
	n := uint32(len(m.entries))
	e := entry{ident: identOf(d), doc: d}
	for f, text := range d.texts() {
		counts, length := m.lexicon.Count(text)
		e.sizes[f] = length
		for term, c := range counts {
			m.words[f][term] = append(m.words[f][term], segment.Posting{Doc: n, Freq: uint32(c), Len: uint32(max(1, length))})
		}
		m.lengths.Sum[f] += e.sizes[f]
	}
	for _, name := range exactNames(m.lexicon, d) {
		m.exact[name] = append(m.exact[name], n)
	}
	m.lengths.Docs++
	m.entries = append(m.entries, e)
	m.slots[d.ID] = n
}

// remove forgets a fact. Its postings stay, unseen, until the memory is made anew.
func (m *memory) remove(id string) {
	n, ok := m.slots[id]
	if !ok {
		return
	}
	e := &m.entries[n]
	e.dead = true
	m.dead++
	delete(m.slots, id)
	m.lengths.Docs--
	for f := range e.sizes {
		m.lengths.Sum[f] -= e.sizes[f]
	}
}

func identOf(d *Doc) ident {
	return ident{id: d.ID, name: words.FoldName(d.Category) + "\x00" + words.FoldName(d.Key)}
}

// The two ways a whole name is met, as prefixes of the terms of the exact field.
const (
	asWritten = "="
	byWords   = "~"
)

// byID before an id is, on disk, one more term of the exact field.
const byID = "#"

// exactNames are the terms under which a fact is found by its whole key, category/key or alias.
func exactNames(a *words.Lexicon, d *Doc) []string {
	var out []string
	for _, name := range append([]string{d.Key, d.Category + "/" + d.Key}, d.Aliases...) {
		if n := words.FoldName(name); n != "" && n != "/" && len(n) <= maxNameBytes {
			out = append(out, asWritten+n)
			if c := a.Canonical(name); c != "" {
				out = append(out, byWords+c)
			}
		}
	}
	return out
}

// maxNameBytes: a longer name is found by its words only.
const maxNameBytes = 512

// renew makes the memory anew without what was removed, when that is most of it.
func (m *memory) renew() *memory {
	if m.dead < 256 || m.dead < len(m.slots) {
		return m
	}
	fresh := newMemory()
	for i := range m.entries {
		if e := &m.entries[i]; !e.dead {
			fresh.add(e.doc)
		}
	}
	return fresh
}

// The methods of source.

func (m *memory) slotCount() int { return len(m.entries) }

func (m *memory) sizes() lengths { return m.lengths }

func (m *memory) slabs() *slabs { return m.pool }

func (m *memory) count(term string, f field) (n int, err error) {
	return n, m.visit(term, f, nil, func(segment.Posting) { n++ })
}

func (m *memory) visit(term string, f field, _ []uint32, use func(segment.Posting)) error {
	for _, p := range m.words[f][term] {
		if !m.entries[p.Doc].dead {
			use(p)
		}
	}
	return nil
}

func (m *memory) named(name string, use func(doc uint32)) error {
	for _, n := range m.exact[name] {
		if !m.entries[n].dead {
			use(n)
		}
	}
	return nil
}

func (m *memory) similar(term string, how words.Likeness, use func(string)) error {
	for f := range m.words {
		for w := range m.words[f] {
			if how.Holds(term, w) {
				use(w)
			}
		}
	}
	return nil
}

func (m *memory) identify(doc uint32) (ident, error) { return m.entries[doc].ident, nil }

func (m *memory) id(doc uint32) (string, error) { return m.entries[doc].ident.id, nil }
