package source

import "strings"

// mode is what a brace has opened.
type mode uint8

const (
	inCode  mode = iota // a body, a literal: no definitions
	inType              // a class or the like: its methods are definitions
	inSpace             // a namespace or the like: as outside braces
)

// braces reads the languages with braces: what stands outside bodies.
func (r *reader) braces() {
	for t := r.next(); t.kind != end; t = r.next() {
		switch {
		case t.kind == punct:
			r.mark(t.value)
		case t.kind == text && strings.HasPrefix(t.value, "#") && (r.x.lang == C || r.x.lang == CPP):
			r.cDirective(t.value)
		case t.kind == word && !r.back[0].is(".") && !r.inParens():
			if r.body() {
				r.jsCalls(t)
			} else {
				r.declaration(t)
			}
		}
		r.back = [3]token{t, r.back[0], r.back[1]}
	}
}

func (r *reader) inParens() bool {
	return r.paren > 0 && r.x.lang != JavaScript && r.x.lang != TypeScript
}

// body reports whether this is inside a body.
func (r *reader) body() bool {
	return len(r.stack) > 0 && r.stack[len(r.stack)-1] == inCode || r.paren > 0
}

// member reports whether this is inside a type.
func (r *reader) member() bool { return len(r.stack) > 0 && r.stack[len(r.stack)-1] == inType }

// mark deals with punctuation.
func (r *reader) mark(p string) {
	switch p {
	case "(", "[":
		if p == "(" && r.paren == 0 && !r.body() {
			r.call()
		}
		r.paren++
	case ")", "]":
		r.paren = max(r.paren-1, 0)
	case "{":
		r.brace()
	case "}":
		if n := len(r.stack); n > 0 {
			r.stack = r.stack[:n-1]
		}
		r.paren = 0
		r.begin()
	case ";":
		if r.paren == 0 {
			r.begin()
		}
	case "=":
		if r.paren == 0 {
			r.given = true
		}
	}
}

// begin forgets what was known of a statement.
func (r *reader) begin() { r.opens, r.name, r.given, r.named = inCode, "", false, false }

// brace opens a block. Bodies are passed over, but those of JavaScript, in
// which modules are loaded.
func (r *reader) brace() {
	script := r.x.lang == JavaScript || r.x.lang == TypeScript
	if r.opens == inCode || r.given && r.opens != inSpace || r.paren > 0 {
		if !script {
			r.x.skipBlock()
			if r.paren == 0 && !r.given {
				r.begin()
			}
			return
		}
		if r.paren > 0 {
			return // its closing brace ends no statement that matters
		}
		r.stack = append(r.stack, inCode)
		r.begin()
		return
	}
	r.define(r.name)
	r.stack = append(r.stack, r.opens)
	r.begin()
}

// declaration deals with a word where definitions stand.
func (r *reader) declaration(t token) {
	if r.given && r.x.lang != Kotlin {
		r.jsCalls(t)
		return
	}
	switch r.x.lang {
	case JavaScript, TypeScript:
		r.script(t)
	case Rust:
		r.rust(t)
	case Java, Kotlin, CSharp:
		r.managed(t)
	case C, CPP:
		r.native(t)
	case PHP:
		r.php(t)
	}
}

// call notes the function that a parenthesis follows, where one is declared.
func (r *reader) call() {
	name, before := r.back[0], r.back[1]
	if name.kind != word || r.given || r.named || notFunctions[name.value] || before.is("@") || before.is("#") || before.is(".") {
		return
	}
	switch r.x.lang {
	case JavaScript, TypeScript:
		if !r.member() || name.value == "constructor" {
			return
		}
	case Java, CSharp:
		typed := before.kind == word && !isOneOf(before.value, "new", "return") || before.is(">") || before.is("]") || before.is("?")
		if !r.member() || !typed || r.name != "" {
			return
		}
	case C, CPP:
		if r.opens != inCode && r.name == name.value || before.kind == end && r.back[1].at == 0 {
			return
		}
		if before.is(":") && r.back[2].is(":") && r.member() {
			return
		}
	default:
		return
	}
	r.named, r.name, r.opens = true, "", inCode
	r.define(name.value)
}

// notFunctions are words before a parenthesis that name no function.
var notFunctions = map[string]bool{
	"if": true, "for": true, "while": true, "switch": true, "return": true, "catch": true, "sizeof": true, "defined": true, "using": true, "lock": true,
	"__attribute__": true, "__declspec": true, "alignas": true, "decltype": true, "noexcept": true, "static_assert": true, "_Static_assert": true, "typeof": true,
	"super": true, "this": true, "await": true, "function": true, "new": true, "throw": true, "operator": true, "requires": true, "explicit": true, "asm": true, "base": true, "where": true,
}

// typeNamed notes a type whose name follows; it counts once its brace does.
func (r *reader) typeNamed(m mode, always bool) {
	n := r.next()
	if n.kind != word {
		r.put(n)
		r.opens = m
		return
	}
	r.opens, r.name = m, n.value
	if always {
		r.define(n.value)
		r.name = ""
	}
}

// dotted reads a.b.c, a::b or a\b, of the separator given. What follows is put
// back.
func (r *reader) dotted(separator string) string {
	var b strings.Builder
	for last := end; ; {
		t := r.next()
		after := last
		last = t.kind
		switch {
		case t.kind == word && after != word:
			b.WriteString(t.value)
		case t.is("*"):
			b.WriteString("*")
			return b.String()
		case t.kind == punct && strings.Contains(separator, t.value):
			b.WriteString(t.value)
		default:
			r.put(t)
			return b.String()
		}
		if b.Len() > 500 {
			return b.String()
		}
	}
}
