package verdict

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"leanctx/internal/language"
)

// class is the kind of an atom.
type class uint8

const (
	word     class = iota // compared without case
	name                  // compared as written: an identifier, a version, a path, a symbol
	number                // a number without a unit, its digits not grouped
	quantity              // a number with a unit, in the base unit of its dimension
	pause                 // "," or ";" (any other stop) or "?"
)

// atom is the smallest part of a value that is compared.
type atom struct {
	class class
	text  string // what is compared
	raw   string // as written, empty for what was put together
	step  uint64 // of a time: the unit's length in nanoseconds
	nanos uint64 // of a time: its length, if that is a whole number
}

func (a atom) is(text string) bool { return a.class == word && a.text == text }

// reader collects the atoms of a value.
type reader struct {
	atoms   []atom
	colon   int  // how many atoms stand before the last ":" or "=" that was left out; -1: none
	negated bool // a negation was read
}

// read takes a value apart. colon is the number of atoms before the last mark between a name and
// its value. A list may begin there.
func read(value string) (atoms []atom, colon int) {
	s := unquote(withoutClosingMark(plain(value)))
	r := reader{atoms: make([]atom, 0, len(s)/6+4), colon: -1}
	for f := range strings.FieldsSeq(s) {
		r.field(f)
	}
	if r.colon == len(r.atoms) && r.colon > 0 { // nothing follows it: it divides nothing
		r.atoms = append(r.atoms, atom{class: pause, text: ":"})
	}
	return r.atoms, r.colon
}

// verbatim divides a value only where there is white space. Every mark in a tag or a command counts,
// except back-ticks around it.
func verbatim(value string) (atoms []atom) {
	for f := range strings.FieldsSeq(withoutClosingMark(strings.ReplaceAll(norm.NFC.String(value), "`", ""))) {
		a := atom{class: name, text: f, raw: f}
		if !caseMatters(f) {
			a.class, a.text = word, fold(f)
		}
		atoms = append(atoms, a)
	}
	return atoms
}

// typographic maps characters to the plain ones that mean the same.
var typographic = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`,
	"≥", ">=", "≤", "<=", "≠", "!=", "→", "->", "⇒", "=>", "−", "-", "‑", "-", "‐", "-", "–", "-", "—", " ; ", "µ", "u", "μs", "us")

// plain is a text in one normal form and with plain punctuation.
func plain(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return typographic.Replace(norm.NFC.String(s))
		}
	}
	return s
}

func withoutClosingMark(s string) string {
	s = strings.TrimSpace(s)
	if r, n := utf8.DecodeLastRuneInString(s); n < len(s) && strings.ContainsRune(".!?…。", r) {
		s = strings.TrimSpace(s[:len(s)-n])
	}
	return s
}

// unquote leaves out the quotes, back-ticks and parentheses that enclose whole
// words. Parentheses stay where they group: beside both "and" and "or", and
// behind a negation or an operator.
func unquote(s string) string {
	if !strings.ContainsAny(s, "\"'`()") {
		return s
	}
	grouping := false
	if strings.Contains(s, "(") {
		lower := strings.ToLower(s)
		grouping = strings.Contains(lower, "or ") && strings.Contains(lower, "and ") ||
			slices.ContainsFunc([]string{"not (", "no (", "never (", "without (", "- (", "* (", "/ ("}, func(w string) bool { return strings.Contains(lower, w) })
	}
	const marks = "\"'`("
	open := [len(marks)]int{-1, -1, -1, -1} // where a mark of each kind was opened
	var drop []bool
	content := -1 // the last letter or digit
	start := true // a word could start here
	for i := range len(s) {
		c := s[i]
		kind := strings.IndexByte(marks, c)
		if c == ')' {
			kind = 3
		}
		switch {
		case kind < 0 || kind == 3 && grouping:
		case c != ')' && start && i+1 < len(s) && s[i+1] != ' ':
			open[kind] = i
			continue // a word can start behind it
		case c != '(' && open[kind] >= 0 && content > open[kind] && endsWord(s[i+1:]):
			if drop == nil {
				drop = make([]bool, len(s))
			}
			drop[open[kind]], drop[i] = true, true
			open[kind] = -1
		}
		start = c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '=' || c == ':' || c == ',' || c == '[' || c == '{'
		if c >= utf8.RuneSelf || isDigit(c) || isLetter(c) {
			content = i
		}
	}
	if drop == nil {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if !drop[i] {
			b = append(b, s[i])
		}
	}
	return string(b)
}

// endsWord reports whether a word ends before rest.
func endsWord(rest string) bool {
	return rest == "" || strings.IndexByte(" \n\t\r,;:.!?)]}\"'`", rest[0]) >= 0
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

const closingMarks = ",;:.!?…。]}"

// field reads what stands between two spaces.
func (r *reader) field(f string) {
	for len(f) > 1 && (f[0] == '[' || f[0] == '{') {
		r.add(atom{class: name, text: f[:1]})
		f = f[1:]
	}
	unopened := strings.Count(f, "]") + strings.Count(f, "}") - strings.Count(f, "[") - strings.Count(f, "{")
	body := f
	for body != "" {
		c, n := utf8.DecodeLastRuneInString(body)
		if !strings.ContainsRune(closingMarks, c) {
			break
		}
		if c == ']' || c == '}' {
			if unopened <= 0 {
				break
			}
			unopened--
		}
		body = body[:len(body)-n]
	}
	if body == "" && utf8.RuneCountInString(f) > 1 {
		r.add(atom{class: name, text: f}) // "..." and the like
		return
	}
	if body != "" {
		r.body(body)
	}
	for _, c := range f[len(body):] {
		r.mark(c)
	}
}

// mark reads a closing mark.
func (r *reader) mark(c rune) {
	switch c {
	case ',':
		r.add(atom{class: pause, text: ","})
	case ';', '.', '!', '。':
		r.add(atom{class: pause, text: ";"})
	case '?':
		r.add(atom{class: pause, text: "?"})
	case ':':
		r.between()
	default:
		r.add(atom{class: name, text: string(c)})
	}
}

// between reads the mark between a name and its value. It does not count,
// except behind a negation, where it may be the end of what is negated.
func (r *reader) between() {
	n := len(r.atoms)
	switch {
	case n == 0 || r.atoms[n-1].class == pause || r.colon == n:
		r.add(atom{class: name, text: ":"})
	case r.negated:
		r.add(atom{class: pause, text: ";"})
	default:
		r.colon = n
	}
}

// body reads a field without its closing marks.
func (r *reader) body(b string) {
	for _, op := range [...]string{">=", "<=", "!=", "==", ">", "<", "="} {
		if rest, ok := strings.CutPrefix(b, op); ok && rest != "" && (isDigit(rest[0]) || isLetter(rest[0]) || strings.IndexByte("-+$", rest[0]) >= 0) {
			r.symbol(op)
			b = rest
			break
		}
	}
	if strings.ContainsAny(b, ",;") && !strings.ContainsAny(b, "([{\"") && !strings.Contains(b, "://") {
		from := 0
		for i := 1; i < len(b)-1; i++ {
			if (b[i] == ',' || b[i] == ';') && i > from && !(isDigit(b[i-1]) && isDigit(b[i+1])) {
				r.pair(b[from:i])
				r.mark(rune(b[i]))
				from = i + 1
			}
		}
		b = b[from:]
	}
	r.pair(b)
}

// pair reads a body that may be a name and its value: port=8080, port:8080.
func (r *reader) pair(b string) {
	if i := strings.IndexByte(b, '='); i > 0 && i+1 < len(b) && strings.Count(b, "=") == 1 && !strings.ContainsAny(b, "/?&(<>!") && identifier(b[:i]) {
		r.token(b[:i])
		r.between()
		r.token(b[i+1:])
		return
	}
	if i := strings.IndexByte(b, ':'); i > 1 && i+1 < len(b) && isDigit(b[i+1]) && strings.Count(b, ":") == 1 && letters(b[:i]) {
		r.token(b[:i])
		r.between()
		r.token(b[i+1:])
		return
	}
	r.token(b)
}

func letters(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsLetter(c) })
}

func identifier(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '-' && c != '.'
	})
}

// symbol reads what has no letters and no digits.
func (r *reader) symbol(s string) {
	switch {
	case s == "&":
		r.add(atom{class: word, text: "and"})
	case s == "=":
		r.between()
	default:
		r.add(atom{class: name, text: s})
	}
}

// token reads one word, name or number.
func (r *reader) token(t string) {
	if !strings.ContainsFunc(t, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) {
		r.symbol(t)
		return
	}
	if r.numeral(unmarkedVersion(t)) {
		return
	}
	if port, ok := strings.CutPrefix(t, ":"); ok && len(port) > 1 && len(port) <= 5 && strings.Trim(port, "0123456789") == "" {
		r.word("port", "port")
		r.numeral(port)
		return
	}
	t = unmarkedVersion(t)
	if caseMatters(t) {
		r.add(atom{class: name, text: t, raw: t})
		return
	}
	w := fold(t)
	if strings.IndexByte(w, '\'') > 0 || w == "cannot" {
		if first, second, ok := contraction(w); ok {
			r.word(first, first)
			r.word(second, second)
			return
		}
	}
	if left, right, ok := strings.Cut(w, "-"); ok {
		if r.hyphenated(left, right) {
			return
		}
	}
	r.word(american(w), t)
}

func (r *reader) word(w, raw string) {
	if n, ok := numberWords[w]; ok {
		r.numberWord(n, w)
		return
	}
	r.negated = r.negated || language.Negates(w)
	r.add(atom{class: word, text: w, raw: raw})
}

// unmarkedVersion is a token without the v of a version that has at least two parts: 1.4.0 for
// v1.4.0. A v before one number stays, since v2 is no quantity.
func unmarkedVersion(t string) string {
	if len(t) < 4 || t[0]|0x20 != 'v' || !isDigit(t[1]) {
		return t
	}
	for i := 1; i < len(t)-1; i++ {
		if t[i] == '.' && isDigit(t[i+1]) {
			return t[1:]
		} else if !isDigit(t[i]) {
			break
		}
	}
	return t
}

// hyphenated reads "twenty-five", "three-node" and "five-minute".
func (r *reader) hyphenated(left, right string) bool {
	n, ok := numberWords[left]
	if !ok {
		return false
	}
	if ones, ok := numberWords[right]; ok && n >= 20 && n < 100 && ones > 0 && ones < 10 {
		r.numberWord(n, left)
		r.numberWord(ones, right)
		return true
	}
	digits := decimal(n)
	if q, ok := measured(digits, right, false); ok {
		r.add(q)
		return true
	}
	r.add(atom{class: word, text: digits + "-" + right})
	return true
}

// fold is a word without case.
func fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			if !utf8.ValidString(s) {
				return s
			}
			return cases.Fold().String(s)
		}
	}
	return strings.ToLower(s)
}

// caseMatters reports whether a word is written like an identifier. It holds one of _ / \ . $ @,
// begins like an option (-C), or has capitals after its first letter beside small letters (userId, OAuth2). A word all in
// capitals (JWT) is ordinary emphasis.
func caseMatters(w string) bool {
	letters, innerUpper, lower := 0, false, false
	if len(w) > 1 && w[0] == '-' && isLetter(w[1]) {
		return true
	}
	for _, c := range w {
		switch {
		case strings.ContainsRune(`_/\.$@`, c):
			return true
		case unicode.IsUpper(c):
			innerUpper = innerUpper || letters > 0
			letters++
		case unicode.IsLetter(c):
			lower = lower || unicode.IsLower(c)
			letters++
		}
	}
	return innerUpper && lower
}

// add takes an atom in. It joins atoms that are one: digits grouped by spaces, a number and its
// unit, hours and minutes.
func (r *reader) add(a atom) {
	n := len(r.atoms)
	if n == 0 || r.colon == n {
		r.atoms = append(r.atoms, a)
		return
	}
	last := &r.atoms[n-1]
	switch {
	case a.class == pause:
	case article(*last, n == 1 || r.atoms[n-2].class == pause) && takesArticle(a, last.text):
		r.replace(r.afterArticle(a))
		return
	case last.is("version") && (a.class == number || a.class == name) && isDigit(a.text[0]) && strings.Contains(a.text, "."):
		r.replace(1, a)
		return
	case last.class == number && a.class == number:
		if groups(*last, a) {
			last.text += a.text
			last.raw = ""
			return
		}
	case last.class == number:
		of := a.raw
		if of == "" {
			of = a.text
		}
		if by, ok := multiplier(of); ok {
			if text, ok := times(last.text, by); ok {
				last.text, last.raw = text, "+"
				return
			}
		}
		if q, ok := measured(last.text, of, false); ok && a.class != quantity {
			r.replace(1, q)
			return
		}
	case a.is("cent") && last.is("per") && n > 1 && r.atoms[n-2].class == number:
		if q, ok := measured(r.atoms[n-2].text, "%", false); ok {
			r.replace(2, q)
			return
		}
	case last.step > a.step && a.nanos > 0 && last.nanos > 0 && last.nanos+a.nanos > last.nanos:
		r.replace(1, timeOf(last.nanos+a.nanos, a.step))
		return
	}
	r.atoms = append(r.atoms, a)
}

// afterArticle is the atom in the place of an article, what follows it, and sometimes what stands
// before it: an hour is 1 hour, half a minute is 30 s. last counts the atoms that it replaces.
func (r *reader) afterArticle(a atom) (last int, _ atom) {
	n, count := len(r.atoms), "1"
	last = 1
	switch {
	case n > 1 && r.atoms[n-2].is("half"):
		last, count = 2, "0.5"
	case a.is("second") || n > 1 && !prepositions(r.atoms[n-2].text) && !copulas(r.atoms[n-2].text) && !r.atoms[n-2].is("after") && !r.atoms[n-2].is("within"):
		return 1, a
	}
	if q, ok := measured(count, a.text, false); ok && q.nanos > 0 && a.class == word && !r.atoms[n-1].is("the") {
		return last, q
	}
	return 1, a
}

// replace puts one atom in the place of the last ones.
func (r *reader) replace(last int, a atom) {
	r.atoms = r.atoms[:len(r.atoms)-last]
	r.add(a)
}

// article reports whether an atom is one, if a word follows. A capital A inside
// a sentence is a name.
func article(a atom, first bool) bool {
	if a.class != word {
		return false
	}
	switch a.text {
	case "the", "an":
		return true
	case "a":
		return a.raw == "a" || first
	}
	return false
}

// takesArticle reports whether a word of this kind stands behind an article. An
// "a" before a symbol or a preposition is a name: a + b, plan a is better.
func takesArticle(a atom, article string) bool {
	switch a.class {
	case word:
		return article != "a" || !prepositions(a.text) && !copulas(a.text) && a.text != "and" && a.text != "or"
	case name:
		return strings.ContainsFunc(a.text, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) })
	}
	return true
}
