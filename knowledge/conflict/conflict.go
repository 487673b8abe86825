// Package conflict says whether two facts under different keys are likely to
// contradict each other. It knows no model and no other facts: it looks for one of
// a few forms of contradiction, and is silent where it finds none.
//
//	a version or number   bleve 2.5.3 and bleve 2.6.0; uploads of 10 MB and of 25 MB
//	yes and no            telemetry is enabled and telemetry is off
//	one of a kind         MySQL and PostgreSQL, for the same thing
//	one holder            Tom owns billing and Ada owns billing
//	a replacement         "from Jenkins to GitHub Actions" and "CI runs on Jenkins"
//
// All but the last need the same subject. The words that two facts share, in key or value, must
// be most of what is left without the value that differs. A word for a circumstance (production,
// staging, minimum) that only one of them has makes two subjects. So do different places in a
// series (node 1, node 2; n1, n2). The last needs a newer fact about most of what the older one
// says: prose is full of "no longer" and "instead of".
//
// A missed conflict costs little, since a reader has both facts. A false alarm costs
// trust. So what is unclear is no conflict.
package conflict

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"leanctx/knowledge/verdict"
	"leanctx/knowledge/words"
)

// Statement is a fact as it is compared.
type Statement struct {
	Name  string // category/key
	Value string
}

// Kind is what two facts are to each other.
type Kind uint8

// The kinds.
const (
	None     Kind = iota
	Likely        // they cannot both hold, as it seems
	Replaced      // the newer one says that it takes the older one's place
)

// Form is a statement taken apart.
type Form struct {
	key      []string // stems of the key
	place    []string // whole numbers of the key, and those that count in the value: the place in a series, such as node 2
	value    []string // stems of the value, in order
	subject  map[string]bool
	members  map[string][]string // by class of things that exclude each other
	numbers  []number
	polarity int // of yes (1) and no (-1); 0: it says neither
	replaced [][]string
}

type number struct {
	of   string // the word that it belongs to
	text string
	unit string

	worded bool // it is written as a word, so it is no version
}

// Of takes a statement apart.
func Of(s Statement) Form {
	_, key, _ := strings.Cut(s.Name, "/")
	f := Form{subject: map[string]bool{}, members: map[string][]string{}}
	f.read(key, true)
	ofKey := f.polarity
	f.polarity = 0
	f.read(s.Value, false)
	if f.polarity == 0 { // else the key may repeat the words of its value
		f.polarity = ofKey
	}
	f.replaced = replacements(s.Value)
	return f
}

// read adds the words of a key or a value.
func (f *Form) read(text string, key bool) {
	tokens := tokenize(text)
	last := ""
	seen := map[string]bool{} // words of yes and no: one that is repeated says the same
	for i := 0; i < len(tokens); i++ {
		w := tokens[i]
		next := ""
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		if class, name, both := member(w, next); class != "" {
			if !slices.Contains(f.members[class], name) {
				f.members[class] = append(f.members[class], name)
			}
			last = name
			if both {
				i++
			}
			continue
		}
		if p, ok := polarities[w]; ok && (w != "on" || next == "" || afterOn(next)) { // on is mostly no yes
			if f.polarity == 0 {
				f.polarity = p
			} else if !seen[w] {
				f.polarity *= p
			}
			seen[w] = true
			continue
		}
		if n, ok := numeral(w); ok {
			x := number{of: last, text: n, worded: n != w && numberWords[w] == n}
			if strings.Contains(n, ":") {
				x.unit = "clock"
			} else if u, ok := units[next]; ok {
				x.measure(n, next, u)
				i++
			} else if digits, unit := suffixed(n); units[unit] != "" {
				x.measure(digits, unit, units[unit])
			}
			whole := strings.Trim(n, "0123456789") == "" && x.unit == ""
			if whole && (key || counters(last)) {
				f.place = append(f.place, n)
			}
			if !whole || !counters(last) {
				f.numbers = append(f.numbers, x)
			}
			continue
		}
		if name, n := numbered(w); key && n != "" {
			f.place = append(f.place, n)
			w = name
		}
		if generic(w) || words.IsStop(w) {
			continue
		}
		for _, t := range words.Terms(w) {
			if short, ok := synonyms[t]; ok {
				t = short
			}
			f.subject[t] = true
			last = t
			if key {
				f.key = append(f.key, t)
			} else {
				f.value = append(f.value, t)
			}
		}
	}
}

// Before compares a form with that of a newer statement.
func (old Form) Before(new Form) Kind {
	if old.replacedBy(new) {
		return Replaced
	}
	if !sameCircumstance(old, new) || len(old.place) > 0 && len(new.place) > 0 && !slices.Equal(old.place, new.place) {
		return None
	}
	if old.excludes(new) || old.denies(new) || old.counts(new) || old.holds(new) {
		return Likely
	}
	return None
}

// Exclusive reports whether the statement says something that another one can
// contradict, or names something as replaced. Most do not.
func (f Form) Exclusive() bool {
	slot := false
	for t := range f.subject {
		slot = slot || slots(t)
	}
	return slot || len(f.numbers)+len(f.members)+len(f.replaced) > 0 || f.polarity != 0
}

// Words are stems of which a statement that conflicts with this one holds at least
// one, in key or value.
func (f Form) Words() []string {
	out := slices.Collect(maps.Keys(f.subject))
	for from, to := range synonyms {
		if f.subject[to] && !f.subject[from] {
			out = append(out, from)
		}
	}
	for _, removed := range f.replaced {
		for _, t := range removed {
			out = append(out, words.Terms(t)...)
		}
	}
	for _, n := range f.numbers {
		out = append(out, words.Terms(n.of)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Mentions are stems of which a statement that names this one as replaced holds at
// least one.
func (f Form) Mentions() []string {
	out := slices.Collect(maps.Keys(f.subject))
	for _, names := range f.members {
		for _, name := range names {
			for w := range strings.FieldsSeq(name) {
				out = append(out, words.Terms(w)...)
			}
		}
	}
	return out
}

// NamesReplaced reports whether a value names something as replaced. Most values are not even taken apart for it.
func NamesReplaced(value string) bool {
	lower := strings.ToLower(value)
	holds := func(w string) bool { return strings.Contains(lower, w) }
	return slices.ContainsFunc([]string{"from", "replac", "instead", "longer", "rather", "dropped", "supersed"}, holds) && len(replacements(value)) > 0
}

// shared counts the words of the subjects that both have, and those that one has alone.
func shared(a, b Form) (both, onlyA, onlyB int) {
	for t := range a.subject {
		if b.subject[t] {
			both++
		} else {
			onlyA++
		}
	}
	return both, onlyA, len(b.subject) - both
}

// sameSubject reports whether two forms are about the same thing.
func sameSubject(a, b Form) bool {
	both, onlyA, onlyB := shared(a, b)
	own := min(onlyA, onlyB) // words with which each may tell itself apart from the other
	return both > 0 && onlyA+onlyB <= 2*both+1 && (own == 0 || both >= 2 && onlyA+onlyB <= 2)
}

// excludes reports whether each names another one of a kind for the same subject.
func (old Form) excludes(new Form) bool {
	for class, a := range old.members {
		b := new.members[class]
		if len(a) != 1 || len(b) != 1 || a[0] == b[0] {
			continue
		}
		both, onlyA, onlyB := shared(old, new)
		if sameSubject(old, new) || both+onlyA == 0 || both+onlyB == 0 {
			return true
		}
	}
	return false
}

// denies reports whether one says yes and the other no to the same.
func (old Form) denies(new Form) bool {
	return old.polarity*new.polarity < 0 && sameSubject(old, new)
}

// counts reports whether both give a number for the same thing, and not the same one.
func (old Form) counts(new Form) bool {
	for _, a := range old.numbers {
		for _, b := range new.numbers {
			if a.unit != b.unit || a.text == b.text {
				continue
			}
			version := a.unit == "" && !a.worded && !b.worded && (a.of != "" && a.of == b.of || a.of == "" && slices.Contains(old.key, b.of) || b.of == "" && slices.Contains(new.key, a.of))
			switch {
			case version && (named(old, a.of) || named(new, b.of) || sameSubject(old, new)):
				return true
			case a.unit != "" && len(old.numbers) == 1 && len(new.numbers) == 1 && sameSubject(old, new):
				return true
			}
		}
	}
	return false
}

// named reports whether a word is all that a value is about. It is the name of something that
// has one version, and not a slot that many things have.
func named(f Form, w string) bool {
	return w != "" && !slots(w) && (len(f.value) == 0 || len(f.value) == 1 && f.value[0] == w)
}

// holds reports whether both name the one who holds the same office, or the one
// value of the same slot, and not the same one.
func (old Form) holds(new Form) bool {
	if len(old.numbers)+len(new.numbers)+len(old.members)+len(new.members) > 0 || old.polarity != 0 || new.polarity != 0 {
		return false
	}
	slot := false
	for t := range old.subject {
		slot = slot || slots(t) && new.subject[t]
	}
	both, onlyA, onlyB := shared(old, new)
	return slot && both >= 2 && onlyA > 0 && onlyB > 0 && onlyA+onlyB <= 4
}

// sameCircumstance reports whether no word of circumstance stands in one alone.
func sameCircumstance(a, b Form) bool {
	for _, x := range [][2]Form{{a, b}, {b, a}} {
		for t := range x[0].subject {
			if !circumstances(t) || x[1].subject[t] {
				continue
			}
			for u := range x[1].subject {
				if circumstances(u) && !x[0].subject[u] {
					return false
				}
			}
		}
	}
	return true
}

// replacedBy reports whether the newer statement names what the older one says as
// replaced.
func (old Form) replacedBy(new Form) bool {
	for _, gone := range new.replaced {
		if len(gone) == 0 {
			continue
		}
		has := true
		for _, t := range gone {
			found := old.subject[t]
			for _, names := range old.members {
				found = found || slices.Contains(names, t)
			}
			has = has && found
		}
		if !has {
			continue
		}
		both, onlyOld, _ := shared(old, new)
		alone, inBoth, named := 0, 0, false // what the older one says apart from it: by itself, and like the new one
		for t := range old.subject {
			switch {
			case slices.Contains(gone, t):
			case new.subject[t]:
				inBoth++
			default:
				alone++
			}
		}
		for _, names := range old.members {
			named = named || slices.ContainsFunc(names, func(name string) bool { return slices.Contains(gone, name) })
		}
		if (inBoth > 0 || named && (both > 0 || onlyOld <= 1)) && alone <= max(1, len(old.subject)/3) {
			return true
		}
		for class := range old.members {
			if len(new.members[class]) > 0 && onlyOld <= 2 {
				return true
			}
		}
	}
	return false
}

// replacements are the things that a value names as replaced.
func replacements(value string) (out [][]string) {
	for clause := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ';' || r == '(' || r == ')' }) {
		out = append(out, replacedIn(tokenize(clause))...)
	}
	return out
}

// replacedIn are those of one clause.
func replacedIn(tokens []string) (out [][]string) {
	until := func(i int) (terms []string) {
		for ; i < len(tokens) && len(terms) < 3; i++ {
			w, next := tokens[i], ""
			if i+1 < len(tokens) {
				next = tokens[i+1]
			}
			if class, name, _ := member(w, next); class != "" {
				return append(terms, name)
			}
			if words.IsStop(w) || generic(w) {
				if len(terms) > 0 {
					return terms
				}
				continue
			}
			if _, ok := numeral(w); ok {
				continue
			}
			terms = append(terms, words.Terms(w)...)
		}
		return terms
	}
	for i, w := range tokens {
		next := ""
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		switch {
		case w == "from" && i > 0 && slices.Contains([]string{"moved", "migrated", "switched", "changed", "went", "move", "migrate", "switch"}, tokens[i-1]):
			out = append(out, until(i+1))
		case w == "replaces" || w == "replaced" && next != "by" && i > 0 || w == "replacing" || w == "dropped" || w == "superseded":
			out = append(out, until(i+1))
		case w == "instead" && next == "of" || w == "no" && next == "longer" || w == "rather" && next == "than":
			out = append(out, until(i+2))
		}
	}
	return out
}

var spelled = strings.NewReplacer("’", "'", "n't", " not", "->", " to ", "→", " to ")

// tokenize cuts a text into words in lower case. A dot, a dash or a plus within a
// word stays.
func tokenize(text string) []string {
	text = spelled.Replace(strings.ToLower(text))
	var out []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".-+#:%", r)
	}) {
		w = strings.Trim(w, ".-:+")
		switch {
		case w == "":
		case names()[w] != "" || hasDigit(w):
			out = append(out, w)
		default:
			for part := range strings.FieldsFuncSeq(w, func(r rune) bool { return strings.ContainsRune(".-+:", r) }) {
				out = append(out, part)
			}
		}
	}
	return out
}

func hasDigit(w string) bool { return strings.IndexFunc(w, unicode.IsDigit) >= 0 }

// numbered parts a name from the number at its end: n and 1 of n1.
func numbered(w string) (name, n string) {
	name = strings.TrimRight(w, "0123456789")
	if name == "" || name == w || strings.ContainsAny(name, "0123456789") {
		return w, ""
	}
	return name, w[len(name):]
}

// numeral reads a number, a version or a number word.
func numeral(w string) (string, bool) {
	if n, ok := numberWords[w]; ok {
		return n, true
	}
	v := strings.TrimPrefix(w, "v")
	if v == "" || !unicode.IsDigit(rune(v[0])) {
		return "", false
	}
	letters := strings.IndexFunc(v, unicode.IsLetter)
	if letters >= 0 && units[v[letters:]] == "" {
		return "", false // a name with digits
	}
	return v, true
}

// suffixed parts a number from the unit that is written to it.
func suffixed(n string) (digits, unit string) {
	i := strings.IndexFunc(n, func(r rune) bool { return unicode.IsLetter(r) || r == '%' })
	if i < 0 {
		return n, ""
	}
	return n[:i], n[i:]
}

// measure gives a number its unit. Two quantities are the same where package verdict says so.
func (x *number) measure(digits, unit, dimension string) {
	x.unit, x.text = dimension, digits+" "+unit
	if form, ok := verdict.Quantity(digits, unit); ok {
		x.text = form
	}
}

// member finds a name of a class, of one word or of two.
func member(w, next string) (class, name string, both bool) {
	if c := names()[w+" "+next]; c != "" && next != "" {
		return c, w + " " + next, true
	}
	if c := names()[w]; c != "" {
		if same := sameNames[w]; same != "" {
			w = same
		}
		return c, w, false
	}
	return "", "", false
}
