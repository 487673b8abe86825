package source

import "slices"

import "strings"

// quoted reads what begins with a quote.
func (x *lexer) quoted(t *token) {
	c := x.src[x.pos]
	t.kind = text
	switch x.lang {
	case Go:
		x.simple(t, c, c == '`', c != '`')
	case JavaScript, TypeScript:
		if c == '`' {
			x.interpolated(t, c, "${")
			return
		}
		if c == '\'' && x.pos > 0 && isLetter(x.src[x.pos-1]) && x.prev.kind == word && !isOneOf(x.prev.value, "return", "case", "from", "import", "in", "of", "typeof") {
			x.pos++ // the apostrophe in the text of JSX
			t.kind, t.value = punct, "'"
			return
		}
		x.simple(t, c, false, true)
	case Python:
		if triple := x.src[x.pos : x.pos+1]; strings.HasPrefix(x.src[x.pos:], strings.Repeat(triple, 3)) {
			x.delimited(t, 3, strings.Repeat(triple, 3), true)
			return
		}
		x.simple(t, c, false, true)
	case Rust:
		x.rustQuote(t, c)
	case Java, Kotlin:
		x.javaQuote(t, c)
	case CSharp:
		x.csharpQuote(t, c)
	case Ruby:
		if c == '\'' {
			x.simple(t, c, true, true)
			return
		}
		x.interpolated(t, c, "#{")
	case PHP:
		x.simple(t, c, true, true)
	default:
		if c == '\'' {
			t.kind = other
		}
		x.simple(t, c, false, true)
	}
	if c == '\'' && (x.lang == Go || x.lang == Java || x.lang == Kotlin || x.lang == CSharp) {
		t.kind = other
	}
}

// simple reads a string that ends with the byte it begins with. One that may
// not hold a line feed ends before it: it is a mistake, or no string.
func (x *lexer) simple(t *token, quote byte, lines, escapes bool) {
	i := x.pos + 1
	for i < len(x.src) {
		switch c := x.src[i]; {
		case c == '\\' && escapes:
			i++
		case c == quote:
			t.value = x.src[x.pos+1 : i]
			x.pos = i + 1
			return
		case c == '\n' && !lines:
			t.value = x.src[x.pos+1 : i]
			x.pos = i
			return
		}
		i++
	}
	t.value = x.src[min(x.pos+1, len(x.src)):]
	x.pos = len(x.src)
}

// delimited reads a string between marks of n bytes and close.
func (x *lexer) delimited(t *token, n int, closing string, escapes bool) {
	from := min(x.pos+n, len(x.src))
	i := from
	for i < len(x.src) {
		if escapes && x.src[i] == '\\' {
			i += 2
			continue
		}
		if strings.HasPrefix(x.src[i:], closing) {
			break
		}
		i++
	}
	i = min(i, len(x.src))
	t.value = x.src[from:i]
	x.pos = min(i+len(closing), len(x.src))
}

// interpolated reads a string in which mark begins code up to a closing brace.
func (x *lexer) interpolated(t *token, quote byte, mark string) {
	from := x.pos + 1
	x.pos = from
	for x.pos < len(x.src) {
		switch c := x.src[x.pos]; {
		case c == '\\':
			x.pos = min(x.pos+2, len(x.src))
		case c == quote:
			t.value = x.src[from:x.pos]
			x.pos++
			return
		case c == '\n' && quote == '"' && x.lang != Ruby:
			t.value = x.src[from:x.pos]
			return
		case strings.HasPrefix(x.src[x.pos:], mark):
			x.pos += len(mark)
			if mark == "{" && x.pos < len(x.src) && x.src[x.pos] == '{' {
				x.pos++ // {{ is a brace
				continue
			}
			x.code()
		default:
			x.pos++
		}
	}
	t.value = x.src[min(from, len(x.src)):]
}

// codeMost is how deep strings with code in them may stand in each other; what
// is deeper was written to exhaust the stack.
const codeMost = 100

// code passes over the code in a string, up to its closing brace.
func (x *lexer) code() {
	if x.depth++; x.depth > codeMost {
		x.pos = len(x.src)
	}
	defer func() { x.depth-- }()
	x.prev = token{kind: punct, value: "{"}
	for depth := 1; depth > 0; {
		switch t := x.next(); {
		case t.kind == end:
			return
		case t.kind == punct && t.value == "{":
			depth++
		case t.kind == punct && t.value == "}":
			depth--
		}
	}
}

// rustQuote tells a lifetime from a character.
func (x *lexer) rustQuote(t *token, c byte) {
	if c != '\'' {
		x.simple(t, c, c == '"', c == '"')
		return
	}
	t.kind = other
	if i := x.wordEnd(x.pos + 1); i > x.pos+1 && (i >= len(x.src) || x.src[i] != '\'') && x.src[x.pos+1] != '\\' {
		x.pos = i
		return
	}
	x.simple(t, c, false, true)
}

// javaQuote reads strings of Java and Kotlin, which share the long ones.
func (x *lexer) javaQuote(t *token, c byte) {
	switch {
	case c == '"' && strings.HasPrefix(x.src[x.pos:], `"""`):
		x.delimited(t, 3, `"""`, x.lang == Java)
		for x.lang == Kotlin && x.pos < len(x.src) && x.src[x.pos] == '"' {
			x.pos++
		}
	case c == '"' && x.lang == Kotlin:
		x.interpolated(t, c, "${")
	case c == '`' && x.lang == Kotlin:
		x.simple(t, c, false, false)
		t.kind = word
	default:
		x.simple(t, c, false, true)
	}
}

// csharpQuote reads strings of C# without a prefix, and raw ones.
func (x *lexer) csharpQuote(t *token, c byte) {
	n := len(x.src[x.pos:]) - len(strings.TrimLeft(x.src[x.pos:], `"`))
	if n = min(n, 64); c == '"' && n >= 3 {
		x.delimited(t, n, strings.Repeat(`"`, n), false)
		return
	}
	x.simple(t, c, false, true)
}

// prefixed reads a string that a word, such as Python's rb, begins.
func (x *lexer) prefixed(t *token) bool {
	if x.pos >= len(x.src) || len(t.value) > 3 {
		return false
	}
	c := x.src[x.pos]
	if c != '"' && c != '\'' && c != '#' {
		return false
	}
	switch x.lang {
	case Python:
		if c == '#' || strings.Trim(strings.ToLower(t.value), "rbuft") != "" {
			return false
		}
		x.quoted(t)
		return true
	case Rust:
		if c == '\'' || !isOneOf(t.value, "r", "br", "cr") {
			return false
		}
		n := len(x.src[x.pos:]) - len(strings.TrimLeft(x.src[x.pos:], "#"))
		if x.pos+n >= len(x.src) || x.src[x.pos+n] != '"' {
			return false
		}
		t.kind = text
		x.delimited(t, n+1, `"`+strings.Repeat("#", n), false)
		return true
	case C, CPP:
		if c != '"' || !isOneOf(t.value, "R", "LR", "uR", "UR", "u8R") {
			return false
		}
		open := strings.IndexByte(x.src[x.pos:min(len(x.src), x.pos+20)], '(')
		if open < 0 {
			return false
		}
		t.kind = text
		x.delimited(t, open+1, ")"+x.src[x.pos+1:x.pos+open]+`"`, false)
		return true
	}
	return false
}

func isOneOf(s string, list ...string) bool {
	return slices.Contains(list, s)
}
