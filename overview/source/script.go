package source

// script reads a word of JavaScript or TypeScript outside bodies.
func (r *reader) script(t token) {
	switch t.value {
	case "import":
		r.jsImport()
	case "export":
		n := r.next()
		switch {
		case n.is("*"), n.is("{"):
			r.jsFrom(n)
		default:
			r.put(n)
		}
	case "function":
		n := r.next()
		if n.is("*") {
			n = r.next()
		}
		if n.kind == word {
			r.define(n.value)
		} else {
			r.put(n)
		}
	case "class":
		r.typeNamed(inType, true)
	case "interface", "enum":
		if n := r.next(); n.kind == word && !r.member() {
			r.define(n.value)
		} else {
			r.put(n)
		}
	case "namespace", "module", "declare":
		if t.value != "declare" && !r.member() {
			if n := r.next(); n.kind == word {
				r.opens, r.name = inSpace, n.value
			} else {
				r.put(n)
			}
		}
	case "type":
		if n := r.next(); n.kind == word && !r.member() {
			r.define(n.value)
		} else {
			r.put(n)
		}
	case "const", "let", "var":
		if n := r.next(); n.kind == word && n.value != "enum" && !r.member() {
			r.define(n.value)
		} else {
			r.put(n)
		}
	default:
		r.jsCalls(t)
	}
}

// jsCalls notes require("x") and import("x"), wherever they stand, and what
// is exported by name.
func (r *reader) jsCalls(t token) {
	if r.x.lang != JavaScript && r.x.lang != TypeScript {
		return
	}
	switch t.value {
	case "require", "import":
		n := r.next()
		if !n.is("(") {
			r.put(n)
			return
		}
		if n = r.next(); n.kind == text {
			r.imports(n.value)
			if n = r.next(); n.is(")") {
				return
			}
		}
		r.paren++
		r.put(n)
	case "exports":
		n := r.next()
		if !n.is(".") {
			r.put(n)
			return
		}
		if n = r.next(); n.kind == word {
			r.define(n.value)
		}
	}
}

// jsImport reads an import statement.
func (r *reader) jsImport() {
	switch t := r.next(); {
	case t.is("("):
		if n := r.next(); n.kind == text {
			r.imports(n.value)
		} else {
			r.put(n)
		}
		r.paren++
	case t.is("."): // import.meta
	default:
		r.jsFrom(t)
	}
}

// jsFrom reads on to the module that follows from, or nothing.
func (r *reader) jsFrom(t token) {
	depth, closed := 0, false
	for range 4000 {
		switch {
		case t.kind == text:
			if depth == 0 {
				r.imports(t.value)
				return
			}
		case t.is("{"):
			depth++
		case t.is("}"):
			depth--
			closed = depth == 0
		case t.kind == end, t.is(";"):
			return
		case closed && !t.is("from"):
			r.put(t) // export { a }
			return
		case t.is("="): // import a = require("a")
			return
		}
		t = r.next()
	}
}
