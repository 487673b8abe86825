package verdict

import (
	"cmp"
	"hash/fnv"
	"iter"
	"slices"
	"strings"
	"unicode"

	"leanctx/internal/language"
)

// Form is the canonical form of a value. The zero Form is that of an empty one.
type Form struct {
	atoms []atom // as written, without a beginning that adds nothing
	list  list
	truth string // yes or no, if the value is one word that means it
}

// list is where a form has a list whose order does not count.
type list struct {
	start, end int // its atoms; end 0: there is no list
	or         bool
	items      [][]atom // in canonical order
}

// Canonical is the form of a value under a key, which may be empty. The key says whether the
// order of items or the way of writing counts, and which words a value may repeat from it.
func Canonical(key, value string) Form {
	if speaks(key, notations) {
		atoms := verbatim(value)
		return Form{atoms: atoms[opening(key, atoms):]}
	}
	atoms, colon := read(value)
	n := opening(key, atoms)
	atoms, colon = atoms[n:], colon-n
	f := Form{atoms: atoms}
	if len(atoms) == 1 && atoms[0].class == word && !speaks(key, opposed) {
		f.truth = truths[atoms[0].text]
	}
	if !speaks(key, ordered) {
		f.list = findList(atoms, colon)
	}
	return f
}

// Hash is the same for equal values, in every version of the program that has
// these rules. Values with one hash must still be compared.
func (f Form) Hash() uint64 {
	h := fnv.New64a()
	for a := range f.canonical {
		h.Write([]byte{byte(a.class), byte(len(a.text)), byte(len(a.text) >> 8), byte(len(a.text) >> 16)})
		h.Write([]byte(a.text))
	}
	return h.Sum64()
}

func (f Form) equal(g Form) bool {
	if f.truth != "" || g.truth != "" {
		return f.truth == g.truth
	}
	if len(f.atoms) != len(g.atoms) && (f.list.end == 0 || g.list.end == 0) || (f.list.end == 0) != (g.list.end == 0) ||
		len(f.list.items) != len(g.list.items) {
		return false
	}
	if f.list.end == 0 {
		return slices.EqualFunc(f.atoms, g.atoms, same)
	}
	return f.list.or == g.list.or && f.list.start == g.list.start &&
		slices.EqualFunc(f.atoms[:f.list.start], g.atoms[:g.list.start], same) &&
		slices.EqualFunc(f.list.items, g.list.items, func(a, b []atom) bool { return slices.EqualFunc(a, b, same) }) &&
		slices.EqualFunc(f.atoms[f.list.end:], g.atoms[g.list.end:], same)
}

// Bare reports whether a value is only yes, no or none, numbers or a port. That two facts have it
// says nothing about them.
func (f Form) Bare() bool {
	return f.truth != "" || !slices.ContainsFunc(f.atoms, func(a atom) bool {
		return !numeric(a) && a.class != pause && !a.is("port") && !(a.class == word && language.Negates(a.text)) && strings.ContainsFunc(a.text, unicode.IsLetter)
	})
}

func same(a, b atom) bool { return a.class == b.class && a.text == b.text }

// canonical goes through the atoms in canonical order, with marks around the
// list and its items.
func (f Form) canonical(yield func(atom) bool) {
	each := func(atoms []atom) bool {
		for _, a := range atoms {
			if !yield(a) {
				return false
			}
		}
		return true
	}
	const bracket = class(255)
	if f.truth != "" {
		yield(atom{class: bracket, text: f.truth})
		return
	}
	if f.list.end == 0 {
		each(f.atoms)
		return
	}
	kind := "and"
	if f.list.or {
		kind = "or"
	}
	if !each(f.atoms[:f.list.start]) || !yield(atom{class: bracket, text: kind}) {
		return
	}
	for _, item := range f.list.items {
		if !each(item) || !yield(atom{class: bracket}) {
			return
		}
	}
	each(f.atoms[f.list.end:])
}

// opening counts the atoms at the beginning of a value that add nothing to its key: the words of
// the key, then is or are, or use or uses. Something stands behind them.
func opening(key string, atoms []atom) int {
	n := keyWords(key, atoms)
	skip := func(may func(w string) bool) bool {
		if n+1 >= len(atoms) || atoms[n].class != word || atoms[n+1].class == pause || !may(atoms[n].text) {
			return false
		}
		n++
		return true
	}
	if !skip(func(w string) bool { return w == "is" || w == "are" }) {
		if we := n; skip(func(w string) bool { return w == "we" }) && !skip(func(w string) bool { return w == "use" }) {
			return we
		} else if we == n {
			skip(func(w string) bool { return w == "use" || w == "uses" })
		}
	}
	return n
}

// keyWords counts the atoms at the beginning of a value that repeat the whole key. Some of its
// words alone may tell one thing from another: under staging-prod-host, "staging is db1".
func keyWords(key string, atoms []atom) int {
	rest := fold(strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return c
		}
		return -1
	}, key))
	for n := 0; n+1 < len(atoms) && atoms[n].class == word && atoms[n+1].class != pause; n++ {
		w, found := atoms[n].text, false
		if rest, found = strings.CutPrefix(rest, w); !found || orderings(w) || language.Negates(w) {
			break
		} else if rest == "" {
			return n + 1
		}
	}
	return 0
}

// speaks reports whether a key has a word of some kind.
func speaks(key string, kind func(w string) bool) bool {
	for part := range wordsOf(key) {
		if kind(strings.ToLower(part)) {
			return true
		}
	}
	return false
}

// ordered reports whether a word of a key says that order counts.
func ordered(w string) bool { return orderings(w) || w == "and" || w == "or" }

// opposed reports whether a word of a key may turn yes into no: under disable-cache, true is not
// enabled.
func opposed(w string) bool {
	return truths[w] != "" || language.Negates(w) || endings(w) || opposites(w)
}

// wordsOf goes through the words of a key, those in camel case by themselves and together.
func wordsOf(key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for part := range strings.FieldsFuncSeq(key, func(c rune) bool { return !unicode.IsLetter(c) }) {
			from := 0
			for i, c := range part {
				if i > from && unicode.IsUpper(c) {
					if !yield(part[from:i]) {
						return
					}
					from = i
				}
			}
			if !yield(part[from:]) || from > 0 && !yield(part) {
				return
			}
		}
	}
}

// longestItem bounds the atoms of an item: longer ones are clauses.
const longestItem = 4

// findList finds the one list of a value. There is none if order counts, if
// there are several, or if it is not clear where the items begin and end.
func findList(atoms []atom, colon int) list {
	from := 0
	for _, a := range atoms {
		if (a.class == word || a.class == name) && orderings(a.text) || a.is("to") && from > 0 {
			return list{}
		}
		if a.is("from") {
			from++
		}
	}
	var found list
	for start := 0; start < len(atoms); {
		end := start
		for end < len(atoms) && !(atoms[end].class == pause && atoms[end].text != ",") {
			end++
		}
		if l := clauseList(atoms, start, end, colon); l.end > 0 {
			if found.end > 0 {
				return list{}
			}
			found = l
		}
		start = end + 1
	}
	return found
}

// clauseList finds the list of the clause atoms[start:end].
func clauseList(atoms []atom, start, end, colon int) list {
	clause := start
	if colon > start && colon < end {
		start = colon
	}
	// The separators: commas, and one "and" or "or" before the last item.
	type span struct{ from, to int }
	var parts []span
	from, conjunction, or := start, false, false
	for i := start; i < end; i++ {
		a := atoms[i]
		comma := a.class == pause
		joins := a.is("and") || a.is("or")
		if !comma && !joins {
			continue
		}
		if conjunction { // something follows the last item
			return list{}
		}
		if joins && i == from && len(parts) > 0 { // ", and"
			conjunction, or, from = true, a.is("or"), i+1
			continue
		}
		parts = append(parts, span{from, i})
		from = i + 1
		if joins {
			conjunction, or = true, a.is("or")
		}
	}
	parts = append(parts, span{from, end})
	k := len(parts)
	if k < 2 || k == 2 && (!conjunction || or) {
		return list{}
	}
	first, last := parts[0], parts[k-1]
	n := last.to - last.from
	if k > 2 {
		n = parts[1].to - parts[1].from
	} else if first.from == 0 && first.to-first.from < n { // Redis and Postgres are required
		n = first.to - first.from
	}
	if n < 1 || n > longestItem || first.to-first.from < n || last.to-last.from < n {
		return list{}
	}
	for _, p := range parts[1 : k-1] {
		if p.to-p.from != n {
			return list{}
		}
	}
	head, tail := atoms[:first.to-n], atoms[last.from+n:last.to]
	switch {
	case len(tail) > 0 && (len(head) > 0 || !conclusions(tail[0].text)):
		return list{}
	case first.to-n > first.from && !introduces(atoms[first.to-n-1].text): // only an introduced list has words before it
		return list{}
	}
	if slices.ContainsFunc(atoms[clause:first.to-n], enumerates) {
		return list{} // the items may belong to several things, in their order
	}
	l := list{start: first.to - n, end: last.from + n, or: or}
	l.items = append(l.items, atoms[first.to-n:first.to])
	for _, p := range parts[1 : k-1] {
		l.items = append(l.items, atoms[p.from:p.to])
	}
	l.items = append(l.items, atoms[last.from:last.from+n])
	for _, item := range l.items {
		if slices.ContainsFunc(item, func(a atom) bool { return a.class == word && language.Negates(a.text) }) {
			return list{}
		}
	}
	if !conjunction && !slices.ContainsFunc(l.items, func(item []atom) bool { return !numeric(item[0]) || n > 1 }) {
		return list{} // as in a colour, or sizes of layers
	}
	slices.SortFunc(l.items, func(a, b []atom) int {
		return slices.CompareFunc(a, b, func(a, b atom) int {
			return cmp.Or(cmp.Compare(a.class, b.class), strings.Compare(a.text, b.text))
		})
	})
	return l
}

// enumerates reports whether an atom joins several things.
func enumerates(a atom) bool {
	return a.class == pause || a.is("and") || a.is("or") || a.class == name && strings.Contains(a.text, "/")
}
