package source

import "strings"

// python reads definitions at any depth and imports wherever they stand.
func (r *reader) python() {
	depth, before := 0, token{}
	for t := r.next(); t.kind != end; t = r.next() {
		starts := depth == 0 && (t.first || before.is(";") || before.is(":"))
		before = t
		switch {
		case t.kind == punct && strings.Contains("([{", t.value):
			depth++
		case t.kind == punct && strings.Contains(")]}", t.value):
			depth = max(depth-1, 0)
		case t.kind == text && depth == 0 && t.first:
			r.docstring(t.value)
		case t.kind == word && t.value == "async" && starts:
			before = token{kind: punct, value: ";"}
		case t.kind == word && starts:
			r.pythonWord(t)
		}
	}
}

// docstring takes in a string that is a statement: documentation of the module,
// or else of what was defined last.
func (r *reader) docstring(s string) {
	of := len(r.out.Names) + r.out.More
	had := r.out.Doc
	r.say(s, of < 2)
	if had == "" && r.out.Doc != "" && of == 1 {
		r.out.Doc = Clip(r.out.Names[0]+": "+r.out.Doc, docMost)
	}
}

func (r *reader) pythonWord(t token) {
	switch t.value {
	case "def", "class":
		if n := r.next(); n.kind == word {
			r.define(n.value)
		} else {
			r.put(n)
		}
	case "import":
		for {
			r.imports(r.pythonPath())
			n := r.next()
			if n.is("as") && !n.first {
				r.next()
				n = r.next()
			}
			if !n.is(",") {
				r.put(n)
				return
			}
		}
	case "from":
		module := r.pythonPath()
		n := r.next()
		if !n.is("import") {
			r.put(n) // yield from, raise … from
			return
		}
		r.pythonNames(module)
	default:
		if n := r.next(); n.is("=") && t.at == 0 || n.is("=") && r.x.src[t.at-1] == '\n' {
			r.define(t.value)
		} else {
			r.put(n)
		}
	}
}

// pythonPath reads a dotted name on one line, dots before it included.
func (r *reader) pythonPath() string {
	var b strings.Builder
	last := end
	for {
		t := r.next()
		ok := t.is(".") || t.kind == word && last != word && t.value != "import"
		if !ok || t.first || b.Len() > 500 {
			r.put(t)
			return b.String()
		}
		b.WriteString(t.value)
		last = t.kind
	}
}

// pythonNames reads what is imported from a module.
func (r *reader) pythonNames(module string) {
	r.imports(module)
	open := false
	for i := range 2000 {
		t := r.next()
		switch {
		case t.is("(") && i == 0:
			open = true
		case t.kind == word && t.value == "as":
			r.next()
		case t.kind == word && (open || !t.first):
			if module != "" {
				r.imports(module + ":" + t.value)
			}
		case t.is(",") || t.is("*") || t.is(`\`):
		default:
			if !t.is(")") {
				r.put(t)
			}
			return
		}
	}
}

// ruby reads definitions at any depth.
func (r *reader) ruby() {
	before := token{}
	for t := r.next(); t.kind != end; t = r.next() {
		if t.kind == word && !before.is(".") && !before.is(":") {
			switch t.value {
			case "class", "module":
				r.rubyType(t)
			case "def":
				r.rubyDef()
			case "require", "require_relative", "load", "autoload":
				r.rubyRequire(t.value)
			}
		}
		before = t
	}
}

func (r *reader) rubyType(t token) {
	n := r.next()
	if n.kind != word || n.first || n.value[0] < 'A' || n.value[0] > 'Z' {
		r.put(n) // class << self, class: "x", x.class
		return
	}
	for {
		r.define(n.value)
		sep := r.next()
		if !sep.is(":") {
			r.put(sep)
			return
		}
		r.next()
		if n = r.next(); n.kind != word {
			r.put(n)
			return
		}
	}
}

func (r *reader) rubyDef() {
	n := r.next()
	if n.kind != word || n.first {
		r.put(n)
		return
	}
	if sep := r.next(); sep.is(".") {
		n = r.next()
	} else {
		r.put(sep)
	}
	if n.kind == word {
		r.define(n.value)
	}
}

func (r *reader) rubyRequire(verb string) {
	for i := range 6 {
		t := r.next()
		if t.kind == text {
			if verb == "require_relative" {
				r.imports("./" + t.value)
			} else {
				r.imports(t.value)
			}
			return
		}
		if !t.is("(") && verb != "autoload" || t.first || i == 5 || t.kind == end {
			r.put(t)
			return
		}
	}
}
