package source

// golang reads Go: what stands outside braces.
func (r *reader) golang() {
	last, depth := token{kind: punct, value: ";"}, 0
	for t := r.next(); t.kind != end; t = r.next() {
		starts := (t.first || last.is(";")) && depth == 0
		last = t
		switch {
		case t.is("{"):
			r.x.skipBlock()
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		}
		if !starts || t.kind != word {
			continue
		}
		switch t.value {
		case "package":
			if n := r.next(); n.kind == word {
				r.out.Package = n.value
			}
		case "import":
			r.group(func(t token) {
				if t.kind == text {
					r.imports(t.value)
				}
			})
		case "func":
			r.goFunc()
		case "type", "const", "var":
			r.goSpecs()
		}
	}
}

// group calls f with each token of ( … ), or with those of the line.
func (r *reader) group(f func(token)) {
	t := r.next()
	if !t.is("(") {
		for ; t.kind != end; t = r.next() {
			f(t)
			if t.kind == text || t.is(";") {
				return
			}
			if t.first {
				r.put(t)
				return
			}
		}
		return
	}
	for t = r.next(); t.kind != end && !t.is(")"); t = r.next() {
		f(t)
	}
}

// goFunc reads the name of a function, or of a method behind its receiver.
func (r *reader) goFunc() {
	t := r.next()
	if t.is("(") {
		for depth := 1; depth > 0; {
			switch t = r.next(); {
			case t.kind == end:
				return
			case t.is("("):
				depth++
			case t.is(")"):
				depth--
			}
		}
		t = r.next()
	}
	if t.kind == word {
		r.define(t.value)
	}
}

// goSpecs reads the names behind type, const or var, of one or of a group.
func (r *reader) goSpecs() {
	t := r.next()
	if !t.is("(") {
		r.goNames(t)
		return
	}
	depth, last := 0, token{kind: punct, value: ";"}
	for t = r.next(); t.kind != end; t = r.next() {
		begins := depth == 0 && (last.is(";") || t.first && !continues(last))
		last = t
		switch {
		case t.is("{"):
			r.x.skipBlock()
			last = token{kind: punct, value: "}"}
		case t.is("("), t.is("["):
			depth++
		case t.is(")") && depth == 0:
			return
		case t.is(")"), t.is("]"):
			depth--
		case begins && t.kind == word:
			r.goNames(t)
		}
	}
}

// continues reports whether what t ends goes on in the next line.
func continues(t token) bool {
	return t.kind == punct && !isOneOf(t.value, ")", "]", "}", ";")
}

// goNames defines t and what follows it behind commas.
func (r *reader) goNames(t token) {
	for t.kind == word {
		r.define(t.value)
		if t = r.next(); !t.is(",") {
			break
		}
		t = r.next()
	}
	r.put(t)
}
