package source

import "strings"

// rust reads a word of Rust outside bodies.
func (r *reader) rust(t token) {
	switch t.value {
	case "mod":
		n := r.next()
		after := r.next()
		if after.is(";") {
			r.imports("mod:" + n.value)
			return
		}
		r.opens, r.name = inSpace, n.value
		r.put(after)
	case "use":
		r.rustUse("")
	case "fn":
		r.typeNamed(inCode, true)
	case "struct", "enum", "union", "const", "static":
		n := r.next()
		if n.is("mut") {
			n = r.next()
		}
		if n.kind == word && !isOneOf(n.value, "fn", "unsafe", "extern", "async") {
			r.define(n.value)
		} else {
			r.put(n)
		}
	case "type":
		r.typeNamed(inCode, true)
	case "trait":
		r.typeNamed(inType, true)
	case "impl":
		r.opens = inType
	case "macro_rules":
		if r.next().is("!") {
			r.typeNamed(inCode, true)
		}
	}
}

// rustPath notes a path that was used.
func (r *reader) rustPath(path string) {
	r.imports(strings.TrimSuffix(strings.TrimSuffix(path, "::"), "::self"))
}

// rustUse reads a tree of paths: a::{b, c::d}.
func (r *reader) rustUse(prefix string) {
	path := prefix
	for range 4000 {
		switch t := r.next(); {
		case t.kind == word && t.value == "as":
			r.next()
		case t.kind == word:
			path += t.value
		case t.is(":"):
			r.next()
			path += "::"
		case t.is("*"):
		case t.is("{"):
			if r.uses++; r.uses < 100 {
				r.rustUse(path)
			}
			r.uses--
			path = ""
		case t.is(","):
			r.rustPath(path)
			path = prefix
		case t.is("}"):
			r.rustPath(path)
			return
		case t.is(";"), t.kind == end:
			r.rustPath(path)
			r.put(t)
			return
		}
	}
}
