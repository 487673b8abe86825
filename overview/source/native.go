package source

import "strings"

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
