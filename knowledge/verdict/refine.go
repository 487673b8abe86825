package verdict

import (
	"slices"
	"strings"
	"unicode"

	"leanctx/internal/language"
	"leanctx/knowledge/words"
)

// term is an atom that carries meaning, with what denies it.
type term struct {
	atom
	denied string // the negations before it
	paused bool   // a pause stands before it
}

// content is what a form says: its atoms without pauses and empty words, with
// negations as marks on the next of them.
func content(atoms []atom) []term {
	out := make([]term, 0, len(atoms))
	denied, paused := "", false
	flush := func() { // negations that deny nothing stand for themselves
		if denied != "" {
			out = append(out, term{atom: atom{class: word, text: denied}, paused: paused})
			denied = ""
		}
	}
	for i, a := range atoms {
		switch {
		case a.class == pause:
			flush()
			paused = true
			continue
		case a.class == word && language.Negates(a.text), comparison(atoms[i:]):
			if len(denied) > 64 {
				flush()
			}
			denied += a.text + " "
			continue
		case a.class == word && fillers(a.text):
			continue
		case denied != "" && (a.is("of") || a.is("than")):
			continue
		}
		out = append(out, term{a, denied, paused})
		denied, paused = "", false
	}
	flush()
	return out
}

// comparison reports whether atoms begin with "instead of" or "rather than".
func comparison(atoms []atom) bool {
	return len(atoms) > 1 && (atoms[0].is("instead") && atoms[1].is("of") || atoms[0].is("rather") && atoms[1].is("than"))
}

// refinedBy reports whether f says all that old says, and more.
func (old Form) refinedBy(f Form) bool {
	if len(old.atoms) == 0 || limitsOf(f.atoms) != limitsOf(old.atoms) {
		return false
	}
	was, is := content(old.atoms), content(f.atoms)
	if len(was) == 0 || len(is) <= len(was) {
		return false
	}
	if within(was, is) {
		return true
	}
	if old.list.end == 0 || f.list.end == 0 || old.list.or != f.list.or {
		return false
	}
	// The items in any order.
	items := f.list.items
	for _, item := range old.list.items {
		i := slices.IndexFunc(items, func(other []atom) bool { return slices.EqualFunc(item, other, same) })
		if i < 0 {
			return false
		}
		items = items[i+1:] // both are in canonical order
	}
	around := func(f Form) (before, after []term) {
		return content(f.atoms[:f.list.start]), content(f.atoms[f.list.end:])
	}
	before, after := around(old)
	beforeNow, afterNow := around(f)
	return within(before, beforeNow) && within(after, afterNow)
}

// ResolvedBy reports whether f tells that what old says came to its end, as a bug or a task does:
// the same and "fixed in #412", or that alone.
func (old Form) ResolvedBy(f Form) bool {
	resolution := func(a atom) bool { return a.class == word && resolutions(a.text) }
	if !slices.ContainsFunc(f.atoms, resolution) || slices.ContainsFunc(old.atoms, resolution) ||
		limitsOf(f.atoms).denials != limitsOf(old.atoms).denials {
		return false
	}
	if within(content(old.atoms), content(f.atoms)) {
		return true
	}
	return resolution(f.atoms[0]) && (len(f.atoms) == 1 || f.atoms[1].class == pause || f.atoms[1].is("in") || f.atoms[1].is("by") || f.atoms[1].is("with"))
}

// SaysMoreThan reports whether old says all that f says, and f only leaves something out that is
// no item of a list.
func (old Form) SaysMoreThan(f Form) bool { return old.list.end == 0 && f.refinedBy(old) }

// limits counts what may make a refinement something else. A refinement has as
// many of each as the old value.
type limits struct {
	denials int // outright negations
	endings int // words of ending
	ranges  int // what leads from one value to another
}

func limitsOf(atoms []atom) (l limits) {
	from := false
	for i, a := range atoms {
		if a.class != word && a.class != name {
			continue
		}
		switch {
		case a.text == "used" && i > 0 && copulas(atoms[i-1].text), a.text == "without", comparison(atoms[i:]):
		case a.text == "from":
			from = true
		case a.text == "to" && (from || i > 0 && numeric(atoms[i-1]) && i+1 < len(atoms) && numeric(atoms[i+1])):
			l.ranges++
		case language.Negates(a.text):
			l.denials++
		case endings(a.text):
			l.endings++
		}
	}
	return l
}

func numeric(a atom) bool { return a.class == number || a.class == quantity }

// within reports whether the old content stands in the new one, in its order
// and without too much between what stood together.
func within(was, is []term) bool {
	i, last := 0, -1
	for j := 0; j < len(is) && i < len(was); j++ {
		if !was[i].sameAs(is[j]) {
			continue
		}
		if i > 0 && (!insertion(is[last+1:j], was[i], is[j]) || j == last+2 && capital(is[last]) && capital(is[last+1]) && capital(is[j])) {
			return false
		}
		i, last = i+1, j
		if j+1 < len(is) && numeric(is[j].atom) && numeric(is[j+1].atom) && !is[j+1].paused && (i == len(was) || !was[i].sameAs(is[j+1])) {
			return false // a second number stands beside it
		}
	}
	return i == len(was)
}

// capital reports whether a word is written with a capital. One between two
// others makes another name: Rocky Horror Picture Show.
func capital(a term) bool { return a.class == word && a.raw != "" && unicode.IsUpper(rune(a.raw[0])) }

// insertion reports whether what was put in before an old atom leaves what was
// said before it and after it together.
func insertion(added []term, old, now term) bool {
	if now.paused && !old.paused {
		return false
	}
	if len(added) == 0 {
		return true
	}
	if len(added) == 2 && added[0].is("and") && !added[1].paused && !old.paused { // errors [and panics] go to Sentry
		return true
	}
	for _, a := range added {
		if a.paused || a.class == word && (a.text == "and" || a.text == "while" || a.text == "which" || a.text == "that" || a.text == "who") {
			return false
		}
	}
	switch {
	case old.paused, old.class == word && (prepositions(old.text) || old.text == "and"):
		return len(added) <= 6
	case old.class == word:
		return len(added) == 1
	}
	return len(added) == 1 && added[0].class == word
}

// sameAs reports whether two atoms say the same, whatever the ending of a word.
func (a term) sameAs(b term) bool {
	if a.class != b.class || a.denied != b.denied {
		return false
	}
	return a.text == b.text || a.class == word && inflected(a.text, b.text) && slices.Equal(words.Terms(a.text), words.Terms(b.text))
}

// inflected reports whether two words differ in an ending of declension or conjugation alone.
func inflected(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n < 3 {
		return false
	}
	suffix := func(s string) bool {
		switch s {
		case "", "s", "es", "ed", "d", "ing", "e", "y", "ies", "ied":
			return true
		}
		return false
	}
	return suffix(a[n:]) && suffix(b[n:]) && strings.TrimLeft(a[n:]+b[n:], "abcdefghijklmnopqrstuvwxyz") == ""
}
