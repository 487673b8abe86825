package source

import "strings"

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
