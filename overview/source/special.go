package source

import "strings"

// special reads what only one language has. It leaves everything as it was
// and reports false if nothing of the kind is here.
func (x *lexer) special(t *token, c byte) bool {
	switch x.lang {
	case JavaScript, TypeScript:
		return c == '/' && x.operand() && x.regexp(t)
	case Ruby:
		return x.rubySpecial(t, c)
	case PHP:
		return x.phpSpecial(t, c)
	case C, CPP:
		if c == '#' && x.fresh {
			x.directive(t)
			return true
		}
	case CSharp:
		return x.csharpSpecial(t, c)
	}
	return false
}

// operand reports whether an operand, not an operator, is expected here.
func (x *lexer) operand() bool {
	switch x.prev.kind {
	case text, other:
		return false
	case word:
		return isOneOf(x.prev.value, "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "do", "else", "await", "yield",
			"if", "unless", "when", "and", "or", "not", "elsif", "while", "until", "then")
	case punct:
		return !isOneOf(x.prev.value, ")", "]", "}", "<")
	}
	return true
}

// regexpMost bounds a regular expression in bytes: of a line of a megabyte, all
// would be looked through for each slash.
const regexpMost = 2000

// regexp reads a regular expression, if one ends on this line.
func (x *lexer) regexp(t *token) bool {
	class := false
	for i := x.pos + 1; i < min(len(x.src), x.pos+regexpMost) && x.src[i] != '\n'; i++ {
		switch c := x.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			x.pos = x.wordEnd(i + 1)
			t.kind = other
			return true
		}
	}
	return false
}

func (x *lexer) rubySpecial(t *token, c byte) bool {
	rest := x.src[x.pos:]
	switch {
	case c == '/' && x.rubyOperand():
		return x.regexp(t)
	case c == '<' && strings.HasPrefix(rest, "<<"):
		return x.hereMark(t, rest)
	case c == '%' && x.rubyOperand():
		return x.percent(t, rest)
	case c == '?' && len(rest) > 1 && x.operand() && rest[1] > ' ' && (len(rest) == 2 || !isLetter(rest[2])):
		x.pos += 2
		t.kind = other
		return true
	}
	return false
}

// rubyOperand is operand where a word may be a call without parentheses.
func (x *lexer) rubyOperand() bool {
	if x.operand() {
		return true
	}
	spaced := x.pos > 0 && (x.src[x.pos-1] == ' ' || x.src[x.pos-1] == '\t')
	return x.prev.kind == word && spaced && x.pos+1 < len(x.src) && x.src[x.pos+1] != ' ' && x.src[x.pos+1] != '='
}

// hereMark reads <<~MARK; what it stands for begins after the line.
func (x *lexer) hereMark(t *token, rest string) bool {
	s := rest[2:]
	squiggle := strings.HasPrefix(s, "~") || strings.HasPrefix(s, "-")
	if squiggle {
		s = s[1:]
	}
	mark := ""
	switch {
	case s == "":
		return false
	case s[0] == '"' || s[0] == '\'' || s[0] == '`':
		i := strings.IndexByte(s[1:], s[0])
		if i < 0 {
			return false
		}
		mark, s = s[1:1+i], s[i+2:]
	case s[0] >= 'A' && s[0] <= 'Z' || squiggle && isLetter(s[0]):
		at := len(x.src) - len(s)
		mark = x.src[at:x.wordEnd(at)]
		s = s[len(mark):]
	default:
		return false
	}
	x.here = append(x.here, mark)
	x.pos = len(x.src) - len(s)
	t.kind = text
	return true
}

// skipHere passes over the lines of a here document.
func (x *lexer) skipHere(mark string) {
	for x.pos < len(x.src) {
		from := x.pos
		x.toLineEnd()
		line := strings.TrimSpace(x.src[from:x.pos])
		x.pos = min(x.pos+1, len(x.src))
		if line == mark {
			return
		}
	}
}

// percent reads %w[…] and its like.
func (x *lexer) percent(t *token, rest string) bool {
	i := 1
	if i < len(rest) && strings.IndexByte("wWqQiIrsx", rest[i]) >= 0 {
		i++
	}
	if i >= len(rest) || isLetter(rest[i]) || rest[i] <= ' ' || rest[i] >= '0' && rest[i] <= '9' || rest[i] == '=' {
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
	x.pos = min(x.pos+i, len(x.src))
	t.kind = text
	return true
}

func (x *lexer) phpSpecial(t *token, c byte) bool {
	rest := x.src[x.pos:]
	switch {
	case c == '?' && strings.HasPrefix(rest, "?>"):
		x.pos += 2
		x.html = true
		t.kind, t.value = punct, ";"
		return true
	case c == '<' && strings.HasPrefix(rest, "<<<"):
		line, _, _ := strings.Cut(rest[3:], "\n")
		mark := strings.Trim(strings.TrimSpace(line), `"'`)
		if mark == "" || !isLetter(mark[0]) {
			return false
		}
		x.toLineEnd()
		x.pos = min(x.pos+1, len(x.src))
		for x.pos < len(x.src) {
			at := x.pos + leadingSpace(x.src[x.pos:])
			if strings.HasPrefix(x.src[at:], mark) && x.wordEnd(at) == at+len(mark) {
				x.pos = at + len(mark)
				break
			}
			x.toLineEnd()
			x.pos = min(x.pos+1, len(x.src))
		}
		t.kind = text
		return true
	}
	return false
}

// skipHTML passes over what stands outside PHP.
func (x *lexer) skipHTML() {
	x.pos = x.after("<?")
	x.html = x.pos >= len(x.src)
	for _, word := range []string{"php", "="} {
		if strings.HasPrefix(x.src[x.pos:], word) {
			x.pos += len(word)
			return
		}
	}
	if strings.HasPrefix(x.src[x.pos:], "xml") {
		x.html = true
	}
}

// csharpSpecial reads directives and strings with a prefix.
func (x *lexer) csharpSpecial(t *token, c byte) bool {
	if c == '#' && x.fresh {
		x.toLineEnd()
		t.kind = other
		return true
	}
	if c != '@' && c != '$' {
		return false
	}
	n := len(x.src[x.pos:]) - len(strings.TrimLeft(x.src[x.pos:], "@$"))
	at := x.pos + n
	if at >= len(x.src) || x.src[at] != '"' {
		return false
	}
	verbatim := strings.Contains(x.src[x.pos:at], "@")
	x.pos = at
	t.kind = text
	switch {
	case strings.HasPrefix(x.src[at:], `"""`):
		x.csharpQuote(t, '"')
	case verbatim:
		x.pos++
		for x.pos < len(x.src) {
			x.pos = x.after(`"`)
			if x.pos >= len(x.src) || x.src[x.pos] != '"' {
				break
			}
			x.pos++
		}
	default:
		x.interpolated(t, '"', "{")
	}
	return true
}

// directive reads a line of the C preprocessor as one token. Of #if only the
// first branch is read, so that braces come in pairs; of #if 0 the second.
func (x *lexer) directive(t *token) {
	from := x.pos
	x.lineComment()
	line := strings.TrimSpace(strings.TrimPrefix(x.src[from:x.pos], "#"))
	t.kind, t.value = text, "#"+line
	name := line[:len(line)-len(strings.TrimLeft(line, "abcdefghijklmnopqrstuvwxyz"))]
	if name == "else" || name == "elif" || name == "if" && strings.TrimSpace(line[len(name):]) == "0" {
		x.skipBranch(name == "if")
	}
}

// skipBranch passes over the rest of an #if, or of its first branch.
func (x *lexer) skipBranch(first bool) {
	for depth := 1; x.pos < len(x.src); {
		x.pos++
		from := x.pos
		x.toLineEnd()
		line, ok := strings.CutPrefix(strings.TrimLeft(x.src[from:x.pos], " \t"), "#")
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
