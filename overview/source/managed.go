package source

import "strings"

// managed reads a word of Java, Kotlin or C# outside bodies.
func (r *reader) managed(t token) {
	kotlin, sharp := r.x.lang == Kotlin, r.x.lang == CSharp
	switch t.value {
	case "package":
		r.out.Package = strings.Clone(r.dotted("."))
	case "import":
		if !sharp {
			if n := r.next(); !n.is("static") {
				r.put(n)
			}
			r.imports(r.dotted("."))
		}
	case "using":
		if sharp && !r.member() {
			r.using()
		}
	case "namespace":
		if sharp {
			r.out.Package = strings.Clone(r.dotted("."))
			if n := r.next(); n.is("{") {
				r.stack = append(r.stack, inSpace)
			} else {
				r.put(n)
			}
		}
	case "class", "interface", "enum", "record", "object":
		if r.back[0].is(":") || t.value == "object" && !kotlin {
			return
		}
		if n := r.next(); !isOneOf(n.value, "class", "struct") || n.kind != word {
			r.put(n)
		}
		r.typeNamed(inType, kotlin || t.value == "record")
	case "struct":
		if sharp {
			r.typeNamed(inType, false)
		}
	case "delegate", "typealias":
		r.opens = inCode
	case "fun":
		if kotlin {
			r.kotlinFun()
		}
	case "val", "var":
		if kotlin {
			r.given = false
			r.typeNamed(inCode, true)
		}
	}
}

// using reads a directive of C#: using A.B; using static A.B.C; using X = A.B.
func (r *reader) using() {
	n := r.next()
	if n.is("(") || n.is("var") {
		return
	}
	if !n.is("static") {
		r.put(n)
	}
	spec := r.dotted(".")
	if n = r.next(); n.is("=") {
		spec = r.dotted(".")
	} else {
		r.put(n)
	}
	r.imports(spec)
}

// kotlinFun reads on to the name of a function: fun <T> Type.name(.
func (r *reader) kotlinFun() {
	r.opens, r.given = inCode, false
	last, depth := token{}, 0
	for range 200 {
		t := r.next()
		switch {
		case t.is("<"):
			depth++
		case t.is(">"):
			depth--
		case t.is("(") && depth == 0, t.is("{"), t.kind == end:
			if last.kind == word {
				r.define(last.value)
			}
			r.put(t)
			return
		case depth == 0:
			last = t
		}
	}
}
