package source

import "strings"

type kind uint8

const (
	end   kind = iota
	word       // an identifier or keyword
	text       // a string; its value is what stands between the quotes, as it is written
	other      // a number, character or regular expression
	punct      // one byte
)

type token struct {
	kind  kind
	value string
	first bool // it is the first on its line
	at    int  // offset in the source
}

func (t token) is(value string) bool { return t.kind != text && t.value == value }

// lexer cuts a file into tokens. Comments are kept beside them.
type lexer struct {
	src    string
	lang   Language
	pos    int
	prev   token
	fresh  bool     // nothing but space since the last line feed
	groups []remark // comments since they were last taken, lines without an empty one between them joined
	last   int      // where the last comment ended
	here   []string // Ruby: marks of here documents that begin after this line
	html   bool     // PHP: outside <?php … ?>
	depth  int      // how deep in code within strings this is
}

func newLexer(l Language, src string) *lexer {
	x := &lexer{src: src, lang: l, fresh: true, last: -1, html: l == PHP}
	if strings.HasPrefix(src, "\ufeff") {
		x.pos = len("\ufeff")
	}
	if strings.HasPrefix(src[x.pos:], "#!") && l != PHP {
		x.toLineEnd()
	}
	return x
}

// next is the next token; after the last one, end for ever.
func (x *lexer) next() token {
	for {
		x.space()
		if x.pos >= len(x.src) {
			return token{kind: end, at: len(x.src), first: x.fresh}
		}
		if x.html {
			x.skipHTML()
			continue
		}
		if x.comment() {
			continue
		}
		t := token{first: x.fresh, at: x.pos}
		x.scan(&t)
		x.fresh = false
		x.prev = t
		return t
	}
}

// space passes over white space, and over the here documents that a line feed begins.
func (x *lexer) space() {
	for x.pos < len(x.src) {
		switch x.src[x.pos] {
		case '\n':
			x.pos++
			x.fresh = true
			for _, mark := range x.here {
				x.skipHere(mark)
			}
			x.here = x.here[:0]
		case ' ', '\t', '\r', '\f', '\v':
			x.pos++
		default:
			return
		}
	}
}

// scan reads one token that is no comment.
func (x *lexer) scan(t *token) {
	c := x.src[x.pos]
	switch {
	case isLetter(c) || c == '$' && x.dollars():
		x.pos = x.wordEnd(x.pos)
		t.kind, t.value = word, x.src[t.at:x.pos]
		if x.prefixed(t) {
			return
		}
	case c >= '0' && c <= '9':
		x.number()
		t.kind = other
	case c == '"' || c == '\'' || c == '`':
		x.quoted(t)
	case x.special(t, c):
	default:
		x.pos++
		t.kind, t.value = punct, x.src[t.at:x.pos]
	}
}

// dollars reports whether $ may begin a word.
func (x *lexer) dollars() bool {
	return x.lang == JavaScript || x.lang == TypeScript || x.lang == PHP || x.lang == Java
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

func (x *lexer) wordEnd(i int) int {
	for i < len(x.src) {
		c := x.src[i]
		if !isLetter(c) && (c < '0' || c > '9') && (c != '$' || !x.dollars()) {
			break
		}
		i++
	}
	return i
}

// number passes over a number with its letters, point and separators.
func (x *lexer) number() {
	for x.pos < len(x.src) {
		c := x.src[x.pos]
		switch {
		case isLetter(c) || c >= '0' && c <= '9':
		case c == '.' && x.pos+1 < len(x.src) && x.src[x.pos+1] >= '0' && x.src[x.pos+1] <= '9':
		case c == '\'' && x.lang == CPP && x.pos+1 < len(x.src) && (isLetter(x.src[x.pos+1]) || x.src[x.pos+1] >= '0' && x.src[x.pos+1] <= '9'):
		default:
			return
		}
		x.pos++
	}
}

func (x *lexer) toLineEnd() {
	if i := strings.IndexByte(x.src[x.pos:], '\n'); i >= 0 {
		x.pos += i
	} else {
		x.pos = len(x.src)
	}
}

// after is where the next occurrence of mark ends, or the end of the file.
func (x *lexer) after(mark string) int {
	if i := strings.Index(x.src[x.pos:], mark); i >= 0 {
		return x.pos + i + len(mark)
	}
	return len(x.src)
}

// skipBlock passes over a block whose opening brace was the last token.
func (x *lexer) skipBlock() {
	if x.lang == Go || x.lang == C || x.lang == CPP || x.lang == Java {
		x.skipFast()
		return
	}
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
	x.taken()
}

// skipFast is skipBlock for languages in which a byte tells what it begins.
func (x *lexer) skipFast() {
	src, i := x.src, x.pos
	for depth := 1; depth > 0 && i < len(src); {
		c := src[i]
		if !stops[c] {
			i++
			continue
		}
		switch c {
		case '{':
			depth++
			i++
		case '}':
			depth--
			i++
		case '\n':
			x.fresh = true
			i++
			if j := i + leadingSpace(src[i:]); j < len(src) && src[j] == '#' && (x.lang == C || x.lang == CPP) {
				x.pos = j
				x.directive(&token{})
				i = x.pos
			}
		case '/':
			x.pos = i
			if !x.passComment() {
				x.pos++
			}
			i = x.pos
		default:
			x.pos = i
			if c == '\'' && i > 0 && src[i-1] >= '0' && src[i-1] <= '9' && x.lang == CPP {
				x.pos++ // a digit separator
			} else {
				x.fresh = false
				x.quoted(&token{at: i})
			}
			i = x.pos
		}
	}
	x.pos = i
}

func leadingSpace(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// stops are the bytes that skipFast must look at.
var stops = [256]bool{'{': true, '}': true, '"': true, '\'': true, '`': true, '/': true, '\n': true}
