package index

import (
	"sync"

	"leanctx/knowledge/search/segment"
	"leanctx/knowledge/words"
)

// entry is a fact in memory.
type entry struct {
	Ident
	doc   *Doc
	dead  bool
	sizes [FieldCount]int
}

// memory is an index of facts that are not yet in a generation on disk. Not safe for use by several
// goroutines at once.
type memory struct {
	entries []entry
	slots   map[string]uint32
	words   [FieldCount]map[string][]segment.Posting
	exact   map[string][]uint32
	lengths Lengths
	dead    int
	pool    *sync.Pool

	lexicon *words.Lexicon
}

func newMemory() *memory {
	m := &memory{pool: new(sync.Pool), lexicon: words.NewLexicon(), slots: map[string]uint32{}, exact: map[string][]uint32{}}
	for f := range m.words {
		m.words[f] = map[string][]segment.Posting{}
	}
	return m
}

// add takes a fact in; one of the same id gives way.
func (m *memory) add(d *Doc) {
	m.remove(d.ID)
	n := uint32(len(m.entries))
	e := entry{Ident: identOf(d), doc: d}
	for f, text := range d.Texts() {
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

func (m *memory) Slots() int { return len(m.entries) }

func (m *memory) Sizes() Lengths { return m.lengths }

func (m *memory) Scratch() *sync.Pool { return m.pool }

func (m *memory) Count(term string, f Field) (n int, err error) {
	return n, m.Visit(term, f, nil, func(segment.Posting) { n++ })
}

func (m *memory) Visit(term string, f Field, _ []uint32, use func(segment.Posting)) error {
	for _, p := range m.words[f][term] {
		if !m.entries[p.Doc].dead {
			use(p)
		}
	}
	return nil
}

func (m *memory) About(term string, f Field) (int, error) { return m.Count(term, f) }

func (m *memory) Named(name string, use func(doc uint32)) error {
	for _, n := range m.exact[name] {
		if !m.entries[n].dead {
			use(n)
		}
	}
	return nil
}

func (m *memory) Similar(term string, how words.Likeness, use func(string)) error {
	for f := range m.words {
		for w := range m.words[f] {
			if how.Holds(term, w) {
				use(w)
			}
		}
	}
	return nil
}

func (m *memory) Identify(doc uint32) (Ident, error) { return m.entries[doc].Ident, nil }

func (m *memory) ID(doc uint32) (string, error) { return m.entries[doc].Ident.ID, nil }
