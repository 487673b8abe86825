package source

import "strings"

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
			if len(prefix) < 400 {
				r.rustUse(path)
			}
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

// native reads a word of C or C++ outside bodies.
func (r *reader) native(t token) {
	switch t.value {
	case "class", "struct", "union", "enum":
		n := r.next()
		if n.is("class") || n.is("struct") {
			n = r.next()
		}
		r.opens, r.name = inType, ""
		if n.kind == word {
			r.name = n.value
		} else {
			r.put(n)
		}
	case "namespace":
		r.opens = inSpace
		if name := r.dotted(":"); name != "" && r.out.Package == "" {
			r.out.Package = strings.Clone(name)
		}
	case "extern":
		if n := r.next(); n.kind == text {
			r.opens = inSpace
		} else {
			r.put(n)
		}
	case "using", "friend", "template":
		if t.value == "template" {
			r.angles()
		}
	}
}

// angles passes over <…> after template.
func (r *reader) angles() {
	depth := 0
	for range 500 {
		switch t := r.next(); {
		case t.is("<"):
			depth++
		case t.is(">"):
			if depth--; depth <= 0 {
				return
			}
		case t.is("{"), t.is(";"), t.kind == end:
			r.put(t)
			return
		}
	}
}

// cDirective reads #include and #define.
func (r *reader) cDirective(line string) {
	line = strings.TrimPrefix(line, "#")
	if rest, ok := strings.CutPrefix(line, "include"); ok {
		rest = strings.TrimSpace(rest)
		if len(rest) > 2 && (rest[0] == '"' || rest[0] == '<') {
			if i := strings.IndexAny(rest[1:], `">`); i > 0 {
				r.imports(rest[1 : 1+i])
			}
		}
	}
	if rest, ok := strings.CutPrefix(line, "define"); ok {
		rest = strings.TrimLeft(rest, " \t")
		if name := rest[:wordLen(rest)]; name != "" && strings.TrimSpace(rest[len(name):]) != "" {
			r.define(name)
		}
	}
}

func wordLen(s string) int {
	i := 0
	for i < len(s) && (isLetter(s[i]) || i > 0 && s[i] >= '0' && s[i] <= '9') {
		i++
	}
	return i
}

// php reads a word of PHP outside bodies.
func (r *reader) php(t token) {
	switch strings.ToLower(t.value) {
	case "namespace":
		r.out.Package = strings.Clone(r.dotted(`\`))
		if n := r.next(); n.is("{") {
			r.stack = append(r.stack, inSpace)
		} else {
			r.put(n)
		}
	case "use":
		if !r.member() {
			r.phpUse()
		}
	case "class", "interface", "trait", "enum":
		if n := r.next(); n.kind == word && !r.back[0].is(":") {
			r.opens, r.name = inType, n.value
		} else {
			r.put(n)
		}
	case "function":
		n := r.next()
		if n.is("&") {
			n = r.next()
		}
		if n.kind == word {
			r.define(n.value)
		} else {
			r.put(n)
		}
		r.opens = inCode
	case "require", "require_once", "include", "include_once":
		for range 12 { // require_once __DIR__ . '/a.php';
			n := r.next()
			if n.kind == text {
				r.imports("./" + strings.TrimLeft(n.value, "/"))
				return
			}
			if n.is(";") || n.is("{") || n.is("}") || n.kind == end {
				r.put(n)
				return
			}
		}
	}
}

// phpUse reads use A\B, C\{D, E as F};
func (r *reader) phpUse() {
	prefix := ""
	for range 1000 {
		spec := r.dotted(`\`)
		if spec == "function" || spec == "const" {
			spec = r.dotted(`\`)
		}
		t := r.next()
		if t.is("as") {
			r.next()
			t = r.next()
		}
		if t.is("{") {
			prefix = spec
			continue
		}
		if spec != "" {
			r.imports(strings.TrimPrefix(prefix+spec, `\`))
		}
		switch {
		case t.is("}"):
			prefix = ""
		case !t.is(","):
			r.put(t)
			return
		}
	}
}
