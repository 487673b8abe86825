package source

import (
	"slices"
	"strings"
)

// stripped is a file without what is no code.
type stripped struct {
	src string
	// code is as long as src. Comments are spaces in it; a string is two quotes
	// (") with spaces between. Line feeds within brackets are spaces in languages
	// whose statements end with the line.
	code    []byte
	remarks []remark
}

// remark is one comment, or several lines of them, and where it begins.
type remark struct {
	at   int
	body string
	main bool // it may say what the file is for
}

// value is the text of the string whose opening quote is at i.
func (s *stripped) value(i int) string {
	n := slices.Index(s.code[i+1:], '"')
	if n < 0 {
		n = len(s.code) - i - 1
	}
	return strings.Trim(s.src[i+1:i+1+n], "\"'")
}

// quote is one way to write a string.
type quote struct {
	open, close string
	raw         bool   // a backslash is a backslash
	doubled     bool   // the closing quote twice stands for itself
	lines       bool   // it may go on in the next line; else it ends with the line
	hole        string // begins code within the string, up to a closing brace
}

// syntax says what comments and strings of a language look like.
type syntax struct {
	line   []string // what begins a comment that ends with the line
	nested bool     // block comments stand in each other
	quotes []quote  // the first that fits
}

var (
	double = quote{open: `"`, close: `"`}
	single = quote{open: `'`, close: `'`}
	long   = quote{open: `"""`, close: `"""`, lines: true}
	slash  = []string{"//"}
)

func multi(q quote) quote { q.lines = true; return q }

func withHole(q quote, hole string) quote { q.hole = hole; return q }

var syntaxes = map[Language]syntax{
	JavaScript: {line: slash, quotes: []quote{withHole(multi(quote{open: "`", close: "`"}), "${"), double, single}},
	TypeScript: {line: slash, quotes: []quote{withHole(multi(quote{open: "`", close: "`"}), "${"), double, single}},
	Python:     {line: []string{"#"}, quotes: []quote{long, {open: "'''", close: "'''", lines: true}, double, single}},
	Rust:       {line: slash, nested: true, quotes: []quote{multi(double), single}},
	Java:       {line: slash, quotes: []quote{long, double, single}},
	Kotlin:     {line: slash, nested: true, quotes: []quote{{open: `"""`, close: `"""`, raw: true, lines: true}, withHole(double, "${"), single}},
	C:          {line: slash, quotes: []quote{double, single}},
	CPP:        {line: slash, quotes: []quote{double, single}},
	CSharp: {line: slash, quotes: []quote{
		{open: `@"`, close: `"`, raw: true, doubled: true, lines: true}, {open: `@$"`, close: `"`, raw: true, doubled: true, lines: true},
		{open: `$@"`, close: `"`, raw: true, doubled: true, lines: true}, {open: `"""`, close: `"""`, raw: true, lines: true},
		{open: `$"`, close: `"`, hole: "{"}, double, single}},
	Ruby: {line: []string{"#"}, quotes: []quote{withHole(multi(double), "#{"), multi(single), withHole(multi(quote{open: "`", close: "`"}), "#{")}},
	PHP:  {line: []string{"//", "#"}, quotes: []quote{multi(double), multi(single), multi(quote{open: "`", close: "`"})}},
}

// stripper goes through a file once.
type stripper struct {
	stripped
	syntax
	lang      Language
	i         int
	lineStart bool     // nothing but space since the last line feed
	prev      byte     // the last byte of code that is no space
	depth     int      // of brackets, where a line feed within them ends no statement
	hereDocs  []string // the marks of Ruby's here documents that begin after this line
	inner     int      // how deep in code within strings this is
}

func strip(l Language, src string) *stripped {
	s := &stripper{stripped: stripped{src: src, code: []byte(src)}, syntax: syntaxes[l], lang: l, lineStart: true}
	if strings.HasPrefix(src, "\ufeff") {
		s.blank(len("\ufeff"))
	}
	if l == PHP {
		s.html()
	} else if strings.HasPrefix(src[s.i:], "#!") {
		s.blank(s.lineEnd())
	}
	for s.i < len(src) {
		s.step()
	}
	return &s.stripped
}

// blank makes spaces of all up to end, line feeds too.
func (s *stripper) blank(end int) {
	end = min(end, len(s.src))
	for ; s.i < end; s.i++ {
		s.code[s.i] = ' '
	}
}

// text makes a string of all up to end.
func (s *stripper) text(end int) {
	from := s.i
	if s.blank(end); s.i > from+1 {
		s.code[from], s.code[s.i-1] = '"', '"'
	}
	s.prev, s.lineStart = '"', false
}

func (s *stripper) lineEnd() int { return s.after("\n", s.i) - 1 }

// after is where the next mark from i on ends; without one, behind the end.
func (s *stripper) after(mark string, i int) int {
	if i > len(s.src) {
		return len(s.src) + 1
	}
	if n := strings.Index(s.src[i:], mark); n >= 0 {
		return i + n + len(mark)
	}
	return len(s.src) + 1
}

func (s *stripper) has(prefix string) bool { return strings.HasPrefix(s.src[s.i:], prefix) }

// step passes over a comment, a string, or one byte of code.
func (s *stripper) step() {
	c := s.src[s.i]
	switch {
	case c == '\n':
		if s.depth > 0 && (s.lang == Python || s.lang == JavaScript || s.lang == TypeScript) {
			s.code[s.i] = ' '
		}
		s.i++
		s.lineStart = true
		for _, mark := range s.hereDocs {
			s.hereDocument(mark)
		}
		s.hereDocs = s.hereDocs[:0]
		return
	case c == ' ' || c == '\t' || c == '\r':
		s.i++
		return
	case s.comment() || s.special(c):
		return
	}
	if end := s.stringEnd(s.i); end > 0 {
		s.text(end)
		return
	}
	switch c {
	case '(', '[':
		s.depth++
	case ')', ']':
		s.depth = max(s.depth-1, 0)
	case '{':
		s.depth += bool2int(s.lang == Python)
	case '}':
		s.depth = max(s.depth-bool2int(s.lang == Python), 0)
	}
	s.prev, s.lineStart = c, false
	s.i++
}

func bool2int(b bool) int {
	if b {
		return 1
	}
	return 0
}

// comment passes over one comment, and keeps one that is first on its line.
func (s *stripper) comment() bool {
	from, end := s.i, 0
	switch {
	case s.lang == Ruby && s.lineStart && s.has("=begin"):
		end = s.after("\n=end", s.i)
	case s.lang == Ruby && s.lineStart && s.has("__END__"):
		end = len(s.src)
	case s.lang != Python && s.lang != Ruby && s.has("/*"):
		end = s.after("*/", s.i+2)
		if s.nested {
			end = s.nestedEnd()
		}
	default:
		if !slices.ContainsFunc(s.line, s.has) || s.lang == PHP && s.has("#[") {
			return false
		}
		end = s.lineEnd()
		for (s.lang == C || s.lang == CPP) && end < len(s.src) && strings.HasSuffix(strings.TrimSuffix(s.src[from:end], "\r"), `\`) {
			end = s.after("\n", end+1) - 1
		}
		if i := strings.Index(s.src[s.i:min(end, len(s.src))], "?>"); i > 0 && s.lang == PHP {
			end = s.i + i // the end of PHP ends a comment too
		}
	}
	first := s.lineStart
	s.blank(end)
	if first {
		s.addRemark(from)
	}
	return true
}

func (s *stripper) nestedEnd() int {
	depth := 0
	for i := s.i; i+1 < len(s.src); i++ {
		switch s.src[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			i++
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s.src)
}

const remarkMost = 4 << 10 // bytes of comment lines that are joined

// addRemark records the comment that ends here. Lines without an empty one between are
// one remark.
func (s *stripper) addRemark(from int) {
	body := s.src[from:s.i]
	if n := len(s.remarks); n > 0 && !strings.HasPrefix(body, "/*") {
		last := &s.remarks[n-1]
		if between := s.src[min(last.at+len(last.body), from):from]; !strings.HasPrefix(last.body, "/*") && len(last.body) < remarkMost &&
			strings.TrimSpace(between) == "" && strings.Count(between, "\n") < 2 {
			last.body = s.src[last.at:s.i]
			return
		}
	}
	margin := from == 0 || s.src[from-1] == '\n' || from == len("\ufeff")
	// Where definitions are in others, a comment that is made for tools speaks of
	// one too.
	made := strings.HasPrefix(body, "/**") || strings.HasPrefix(body, "///")
	s.remarks = append(s.remarks, remark{from, body, margin || s.lang == Ruby || made && slices.Contains([]Language{Java, Kotlin, CSharp, PHP}, s.lang)})
}

// innerMost is how deep strings with code may be in each other; what is deeper
// was written to exhaust the stack.
const innerMost = 100

// stringEnd is where the string that begins at i ends; 0 if none does.
func (s *stripper) stringEnd(i int) int {
	if c := s.src[i]; c != '"' && c != '\'' && c != '`' && c != '@' && c != '$' {
		return 0
	}
	for _, q := range s.quotes {
		if !strings.HasPrefix(s.src[i:], q.open) || q.open == "'" && s.apostrophe(i) {
			continue
		}
		for j := i + len(q.open); j < len(s.src); {
			switch rest := s.src[j:]; {
			case !q.raw && rest[0] == '\\':
				j += 2
			case strings.HasPrefix(rest, q.close) && q.doubled && strings.HasPrefix(rest[len(q.close):], q.close):
				j += 2 * len(q.close)
			case strings.HasPrefix(rest, q.close):
				j += len(q.close)
				for q.open == `"""` && j < len(s.src) && s.src[j] == '"' {
					j++ // of more quotes than three the last three count
				}
				return j
			case rest[0] == '\n' && !q.lines:
				return j // a mistake, or no string
			case q.hole != "" && strings.HasPrefix(rest, q.hole):
				if j += len(q.hole); q.hole == "{" && strings.HasPrefix(rest, "{{") {
					j++
					continue
				}
				j = s.holeEnd(j)
			default:
				j++
			}
		}
		return len(s.src)
	}
	return 0
}

// holeEnd is where the code that begins at i within a string ends.
func (s *stripper) holeEnd(i int) int {
	s.inner++
	defer func() { s.inner-- }()
	for depth := 1; i < len(s.src) && s.inner < innerMost; i++ {
		switch c := s.src[i]; c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'', '`', '@', '$':
			if end := s.stringEnd(i); end > 0 {
				i = end - 1
			}
		}
	}
	return len(s.src)
}

// apostrophe says that a single quote begins no string: a lifetime of Rust, a
// digit separator of C++, a letter in the text of JSX.
func (s *stripper) apostrophe(i int) bool {
	before := i > 0 && isWord(s.src[i-1])
	switch s.lang {
	case Rust:
		end := i + 1
		for end < len(s.src) && isWord(s.src[end]) {
			end++
		}
		return end > i+1 && (end == len(s.src) || s.src[end] != '\'')
	case CPP, C:
		return before && s.src[i-1] <= '9'
	case JavaScript, TypeScript:
		return before && !s.afterWord("return", "case", "from", "import", "in", "of", "typeof")
	}
	return false
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// afterWord says whether the last word of the code is one of some.
func (s *stripper) afterWord(words ...string) bool {
	code := strings.TrimRight(string(s.code[max(0, s.i-20):s.i]), " \t\n")
	from := len(code)
	for from > 0 && isWord(code[from-1]) {
		from--
	}
	return slices.Contains(words, code[from:])
}

// special passes over what only one language has.
func (s *stripper) special(c byte) bool {
	switch s.lang {
	case JavaScript, TypeScript:
		return c == '/' && s.operand() && s.regexp()
	case Rust:
		if c == 'r' && (s.i == 0 || !isWord(s.src[s.i-1]) || s.src[s.i-1] == 'b' || s.src[s.i-1] == 'c') {
			hashes := len(s.src[s.i+1:]) - len(strings.TrimLeft(s.src[s.i+1:], "#"))
			if strings.HasPrefix(s.src[s.i+1+hashes:], `"`) {
				s.text(s.after(`"`+strings.Repeat("#", hashes), s.i+2+hashes))
				return true
			}
		}
	case C, CPP:
		if c == '#' && s.lineStart {
			s.directive()
			return true
		}
		if c == 'R' && s.has(`R"`) {
			if mark, _, ok := strings.Cut(s.src[s.i+2:min(len(s.src), s.i+20)], "("); ok {
				s.text(s.after(")"+mark+`"`, s.i))
				return true
			}
		}
	case CSharp:
		if c == '#' && s.lineStart {
			s.blank(s.lineEnd())
			return true
		}
	case Ruby:
		return s.ruby(c)
	case PHP:
		return s.php()
	}
	return false
}

// operand says whether an operand, not an operator, is expected here.
func (s *stripper) operand() bool {
	switch {
	case isWord(s.prev):
		return s.afterWord("return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "do", "else", "await", "yield",
			"if", "unless", "when", "and", "or", "not", "elsif", "while", "until", "then")
	case s.prev == 0:
		return true
	}
	return !strings.ContainsRune(`)]}<"`, rune(s.prev))
}

// regexpMost bounds a regular expression in bytes: of a line of a megabyte, all
// would be looked through for each slash.
const regexpMost = 2000

// regexp passes over a regular expression, if one ends on this line.
func (s *stripper) regexp() bool {
	class := false
	for i := s.i + 1; i < min(len(s.src), s.i+regexpMost) && s.src[i] != '\n'; i++ {
		switch c := s.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.text(i + 1)
			return true
		}
	}
	return false
}

// directive passes over a line of the C preprocessor. #include and #define stay.
// Of #if only the first branch is read, so that braces come in pairs; of #if 0
// the second.
func (s *stripper) directive() {
	from, end := s.i, s.lineEnd()
	line := strings.TrimLeft(strings.TrimPrefix(s.src[from:min(end, len(s.src))], "#"), " \t")
	name := line[:len(line)-len(strings.TrimLeft(line, "abcdefghijklmnopqrstuvwxyz"))]
	if name == "include" {
		s.i = min(end, len(s.src))
		return
	}
	for end < len(s.src) && strings.HasSuffix(strings.TrimSuffix(s.src[from:end], "\r"), `\`) {
		end = s.after("\n", end+1) - 1
	}
	value := strings.TrimSpace(line[len(name):])
	if name == "define" && strings.ContainsAny(value, " \t(") {
		s.i += strings.Index(s.src[s.i:], value) + len(value) - len(strings.TrimLeftFunc(value, func(r rune) bool { return r >= 0x80 || isWord(byte(r)) }))
	} else if name != "define" {
		s.code[from] = ' '
	} else {
		s.blank(from + 1)
	}
	s.blank(end)
	if name == "else" || name == "elif" || name == "if" && value == "0" {
		s.skipBranch(name == "if")
	}
}

// skipBranch passes over the rest of an #if, or of its first branch.
func (s *stripper) skipBranch(first bool) {
	for depth := 1; s.i < len(s.src); {
		s.i++
		from := s.i
		s.blank(s.lineEnd())
		line, ok := strings.CutPrefix(strings.TrimLeft(s.src[min(from, len(s.src)):s.i], " \t"), "#")
		if !ok {
			continue
		}
		switch line = strings.TrimLeft(line, " \t"); {
		case strings.HasPrefix(line, "if"):
			depth++
		case strings.HasPrefix(line, "endif"):
			if depth--; depth == 0 {
				return
			}
		case strings.HasPrefix(line, "el") && depth == 1 && first:
			return
		}
	}
}

func (s *stripper) ruby(c byte) bool {
	operand := s.operand()
	if !operand && isWord(s.prev) { // a word may be a call without parentheses
		operand = s.i > 0 && (s.src[s.i-1] == ' ' || s.src[s.i-1] == '\t') && s.i+1 < len(s.src) && s.src[s.i+1] != ' ' && s.src[s.i+1] != '='
	}
	rest := s.src[s.i:]
	switch {
	case c == '/' && operand:
		return s.regexp()
	case c == '<' && strings.HasPrefix(rest, "<<"):
		mark := strings.TrimLeft(rest[2:min(len(rest), 80)], "~-")
		if quoted := strings.IndexAny(mark, "\"'`"); quoted == 0 {
			mark, _, _ = strings.Cut(mark[1:], mark[:1])
		} else if n := wordEnd(mark); n > 0 && (mark[0] >= 'A' && mark[0] <= 'Z' || len(mark) < len(rest[2:])) {
			mark = mark[:n]
		} else {
			return false
		}
		if mark == "" || mark[0] >= '0' && mark[0] <= '9' {
			return false
		}
		s.hereDocs = append(s.hereDocs, mark)
		s.text(s.i + strings.Index(rest, mark) + len(mark))
		return true
	case c == '%' && operand:
		return s.percent(rest)
	case c == '?' && len(rest) > 1 && operand && rest[1] > ' ' && (len(rest) == 2 || !isWord(rest[2])):
		s.text(s.i + 2)
		return true
	}
	return false
}

func wordEnd(s string) (n int) {
	for n < len(s) && isWord(s[n]) {
		n++
	}
	return n
}

// hereDocument passes over the lines of a here document of Ruby.
func (s *stripper) hereDocument(mark string) {
	for s.i < len(s.src) {
		from := s.i
		s.blank(s.lineEnd())
		line := strings.TrimSpace(s.src[from:s.i])
		s.i = min(s.i+1, len(s.src))
		if line == mark {
			return
		}
	}
}

// percent passes over %w[…] and its like.
func (s *stripper) percent(rest string) bool {
	i := 1
	if i < len(rest) && strings.IndexByte("wWqQiIrsx", rest[i]) >= 0 {
		i++
	}
	if i >= len(rest) || isWord(rest[i]) || rest[i] <= ' ' || rest[i] == '=' {
		return false
	}
	open, closing := rest[i], rest[i]
	if j := strings.IndexByte("([{<", open); j >= 0 {
		closing = ")]}>"[j]
	}
	depth := 1
	for i++; i < len(rest) && depth > 0; i++ {
		switch rest[i] {
		case '\\':
			i++
		case closing:
			depth--
		case open:
			depth++
		}
	}
	s.text(s.i + i)
	return true
}

func (s *stripper) php() bool {
	switch {
	case s.has("?>"):
		s.i += 2
		s.code[s.i-2], s.code[s.i-1] = ';', ' '
		s.html()
		return true
	case s.has("<<<"):
		line, _, _ := strings.Cut(s.src[s.i+3:], "\n")
		mark := strings.Trim(strings.TrimSpace(line), `"'`)
		if mark == "" || !isWord(mark[0]) {
			return false
		}
		for end := s.after("\n", s.i); ; end = s.after("\n", end) {
			if end >= len(s.src) {
				s.text(len(s.src))
				return true
			}
			rest := strings.TrimLeft(s.src[end:], " \t")
			if strings.HasPrefix(rest, mark) && wordEnd(rest) == len(mark) {
				s.text(len(s.src) - len(rest) + len(mark))
				return true
			}
		}
	}
	return false
}

// html passes over what is outside <?php … ?>.
func (s *stripper) html() {
	for s.i < len(s.src) {
		s.blank(s.after("<?", s.i))
		if !s.has("xml") {
			break
		}
	}
	for _, word := range []string{"php", "="} {
		if s.has(word) {
			s.blank(s.i + len(word))
			return
		}
	}
}
