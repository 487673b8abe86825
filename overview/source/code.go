package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// shape says how definitions and imports of a language are found. The patterns
// see an outline: the code without bodies of functions and without what is in
// parentheses.
type shape struct {
	keep    *regexp.Regexp // what is before a brace whose content stays in the outline: a type, a namespace
	space   *regexp.Regexp // of those, what is no type: its content is as outside braces
	list    *regexp.Regexp // what is before the braces of a list of imports
	names   *regexp.Regexp // definitions: the first group that matched
	top     *regexp.Regexp // definitions that count outside types only
	imports *regexp.Regexp // outside types
	pkg     *regexp.Regexp
}

var (
	scriptShape = shape{
		keep:    regexp.MustCompile(`\b(?:class|namespace|module)\b[^=]*$`),
		space:   regexp.MustCompile(`\b(?:namespace|module)\s+\w+\s*$`),
		names:   regexp.MustCompile(`\bfunction\s*\*?\s*([\w$]+)|\bclass\s+([\w$]+)[^;={}()]*\{|([\w$]+)\s*(?:<[^<>]*>)?\s*\(\s*\)\s*(?::[^{};=]*)?\{`),
		top:     regexp.MustCompile(`\b(?:interface|(?:const\s+)?enum|type)\s+([\w$]+)|\b(?:const|let|var)\s+([\w$]+)|\b(?:namespace|module)\s+(\w+)\s*\{`),
		imports: regexp.MustCompile(`\b(?:import|export)\b(?:[\w\s,*${}]*?\bfrom)?\s*"`),
	}
	javaMethod = `([\w>\]?]+)\s+(\w+)\s*(?:<[^<>]*>)?\(\s*\)[^;{}=()]*[;{=]`
	shapes     = map[Language]shape{
		JavaScript: scriptShape,
		TypeScript: scriptShape,
		Java: {
			keep:    regexp.MustCompile(`(?:^|[^@.\w])(?:class|interface|enum|record)\s+\w[^=]*$`),
			names:   regexp.MustCompile(`\b(?:class|interface|enum|record)\s+(\w+)|` + javaMethod),
			imports: regexp.MustCompile(`\bimport\s+(?:static\s+)?([\w.]+\*?)\s*;`),
			pkg:     regexp.MustCompile(`\bpackage\s+([\w.]+)`),
		},
		CSharp: {
			keep:    regexp.MustCompile(`\b(?:class|struct|interface|record|enum|namespace)\s+\w[^=]*$`),
			space:   regexp.MustCompile(`\bnamespace\s+[\w.]+\s*$`),
			names:   regexp.MustCompile(`\b(?:class|struct|interface|enum|record(?:\s+struct|\s+class)?)\s+(\w+)|` + javaMethod),
			imports: regexp.MustCompile(`\busing\s+(?:static\s+)?(?:\w+\s*=\s*)?([\w.]+)\s*;`),
			pkg:     regexp.MustCompile(`\bnamespace\s+([\w.]+)`),
		},
		Kotlin: {
			keep:    regexp.MustCompile(`\b(?:class|interface|object)\b[^=]*$`),
			names:   regexp.MustCompile(`\b(?:class|interface|object)\s+(\w+)|\bfun\s+(?:<[^<>]*>\s*)?(?:[\w.<>?, ]+\.)?(\w+)\s*\(|\b(?:val|var)\s+(\w+)`),
			imports: regexp.MustCompile(`\bimport\s+([\w.]+\*?)`),
			pkg:     regexp.MustCompile(`\bpackage\s+([\w.]+)`),
		},
		Rust: {
			keep:    regexp.MustCompile(`\b(?:impl|trait|mod)\b[^=]*$`),
			space:   regexp.MustCompile(`\bmod\s+\w+\s*$`),
			names:   regexp.MustCompile(`\b(?:fn|struct|enum|union|trait|type)\s+(\w+)|\b(?:const|static)\s+(?:mut\s+)?(\w+)\s*:|\bmacro_rules!\s*(\w+)|\bmod\s+(\w+)\s*\{`),
			list:    regexp.MustCompile(`\buse\b[^;]*$`),
			imports: regexp.MustCompile(`\buse\s+([^;]+);|\bmod\s+(\w+)\s*;`),
		},
		PHP: {
			keep:    regexp.MustCompile(`(?i)\b(?:class|interface|trait|enum|namespace)\s+\w[^=]*$`),
			space:   regexp.MustCompile(`(?i)\bnamespace\b[^;]*$`),
			names:   regexp.MustCompile(`(?i)\b(?:class|interface|trait|enum)\s+(\w+)|\bfunction\s+&?\s*(\w+)`),
			list:    regexp.MustCompile(`\buse\b[^;]*$`),
			imports: regexp.MustCompile(`\buse\s+(?:(?:function|const)\s+)?([^;]+);|\b(?:require|include)(?:_once)?\b[^;"]*"`),
			pkg:     regexp.MustCompile(`\bnamespace\s+([\w\\]+)`),
		},
		C:   nativeShape,
		CPP: nativeShape,
	}
	nativeShape = shape{
		keep:  regexp.MustCompile(`\b(?:class|struct|union|enum|namespace)\b[^()=]*$|\bextern\s+"[^()]*$`),
		space: regexp.MustCompile(`\bnamespace\b[^()]*$|\bextern\s+"[^()]*$`),
		names: regexp.MustCompile(`#\s*define\s+(\w+)|\b(?:class|struct|union|enum)\s+(?:\w+\s+)*?(\w+)(?:\s+final)?\s*(?::[^;{}()]*)?\{|` +
			`(?:\w[\s*&]+|>[\s*&]*|::\s*~?)(\w+)\s*\(\s*\)[^;{}=]*[;{=]`),
		imports: regexp.MustCompile(`#[ \t]*include[ \t]*["<]([^">\n]+)[">]`),
		pkg:     regexp.MustCompile(`\bnamespace\s+([\w:]+)`),
	}
)

// notFunctions are words before a parenthesis that name no function.
var notFunctions = strings.Fields("if for while switch return catch sizeof defined using lock do else try " +
	"__attribute__ __declspec alignas decltype noexcept static_assert _Static_assert typeof " +
	"super this await function new throw operator requires explicit asm base where constructor enum")

// outline is code without what is in bodies and parentheses, with the place of
// each byte in the code.
type outline struct {
	text []byte
	at   []int32
}

func (o *outline) add(c byte, at int) { o.text, o.at = append(o.text, c), append(o.at, int32(at)) }

// outlines makes two: all with types, and that outside types.
func outlines(code []byte, s shape) (all, top outline, bodies [][2]int) {
	type open struct{ typed bool }
	var stack []open
	types, paren, begin := 0, 0, 0 // begin of the statement, in all
	put := func(c byte, i int) {
		all.add(c, i)
		if types == 0 {
			top.add(c, i)
		}
	}
	for i := 0; i < len(code); i++ {
		c := code[i]
		switch {
		case c == '(' || c == '[':
			if paren++; paren == 1 {
				put(c, i)
			}
		case c == ')' || c == ']':
			if paren = max(paren-1, 0); paren == 0 {
				put(c, i)
			}
		case paren > 0:
			if c == '{' { // a function in an argument
				from := i
				i = blockEnd(code, i) - 1
				bodies = append(bodies, [2]int{from, i})
			}
		case c == '{':
			head := all.text[begin:]
			if s.list != nil && s.list.Match(head) {
				for end := blockEnd(code, i); i < end; i++ {
					put(code[i], i)
				}
				i--
				continue
			}
			if !s.keep.Match(head) {
				put(c, i)
				end := blockEnd(code, i)
				bodies = append(bodies, [2]int{i, end})
				if i = end - 1; i < len(code) && code[i] == '}' {
					put('}', i)
				}
				if !strings.ContainsRune(string(head), '=') {
					begin = len(all.text)
				}
				continue
			}
			typed := s.space == nil || !s.space.Match(head)
			put(c, i)
			types += bool2int(typed)
			stack = append(stack, open{typed})
			begin = len(all.text)
		case c == '}':
			if n := len(stack); n > 0 {
				types -= bool2int(stack[n-1].typed)
				stack = stack[:n-1]
			}
			put(c, i)
			begin = len(all.text)
		case c == ';':
			put(c, i)
			begin = len(all.text)
		case c == '\n':
			put(c, i)
		default:
			put(c, i)
		}
	}
	return all, top, bodies
}

// blockEnd is where the block that is opened at i ends.
func blockEnd(code []byte, i int) int {
	for depth := 0; i < len(code); i++ {
		switch code[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(code)
}

// find is one definition or import, and where it is.
type find struct {
	at   int
	text string
}

// matches are what a pattern finds in an outline: its groups, or the string at
// its end.
func (o *outline) matches(p *regexp.Regexp, s *stripped) (all []find) {
	if p == nil {
		return nil
	}
	for _, m := range p.FindAllSubmatchIndex(o.text, -1) {
		f := find{at: int(o.at[m[0]])}
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 {
				f.at, f.text = int(o.at[m[g]]), string(o.text[m[g]:m[g+1]])
			}
		}
		if f.text == "" && o.text[m[1]-1] == '"' {
			f.text = s.value(int(o.at[m[1]-1]))
		}
		all = append(all, f)
	}
	return all
}

// braces reads the languages with braces.
func (r *reader) braces(l Language, src string) {
	s, shape := strip(l, src), shapes[l]
	all, top, bodies := outlines(s.code, shape)
	names := slices.Concat(all.matches(shape.names, s), top.matches(shape.top, s))
	imports := top.matches(shape.imports, s)
	script := l == JavaScript || l == TypeScript
	if script && (strings.Contains(src, "require") || strings.Contains(src, "import") || strings.Contains(src, "exports.")) {
		code := outline{text: s.code, at: identity(len(s.code))}
		imports = slices.Concat(imports, code.matches(scriptCalls, s))
		names = slices.Concat(names, code.matches(scriptExports, s))
	}
	if p := top.matches(shape.pkg, s); len(p) > 0 && l != JavaScript && l != TypeScript {
		r.out.Package = strings.Clone(p[0].text)
	}
	if l != Rust && l != Kotlin && l != PHP { // there a word tells that a name follows
		names = slices.DeleteFunc(names, func(f find) bool { return slices.Contains(notFunctions, f.text) })
	}
	r.take(s, names, imports, bodies, func(spec string) []string {
		switch l {
		case Rust:
			return usePaths(spec, "::")
		case PHP:
			return usePaths(spec, `\`)
		}
		return []string{spec}
	})
}

var (
	scriptCalls   = regexp.MustCompile(`\b(?:require|import)\s*\(\s*"`)
	scriptExports = regexp.MustCompile(`\bexports\.([\w$]+)\s*=`)
)

func identity(n int) []int32 {
	at := make([]int32, n)
	for i := range at {
		at[i] = int32(i)
	}
	return at
}

// take notes what was found, in the order of the file, and hears the comments
// that are in no body.
func (r *reader) take(s *stripped, names, imports []find, bodies [][2]int, specs func(string) []string) {
	byPlace := func(a, b find) int { return a.at - b.at }
	slices.SortStableFunc(names, byPlace)
	slices.SortStableFunc(imports, byPlace)
	for _, remark := range s.remarks {
		for len(names) > 0 && names[0].at < remark.at {
			r.define(names[0].text)
			names = names[1:]
		}
		if !slices.ContainsFunc(bodies, func(b [2]int) bool { return b[0] < remark.at && remark.at < b[1] }) {
			r.remark(remark.body, remark.main)
		}
	}
	for _, n := range names {
		r.define(n.text)
	}
	for _, i := range imports {
		for _, spec := range specs(i.text) {
			r.imports(spec)
		}
	}
}

// usePaths are the paths of a use of Rust or PHP: a::{b, c::d as e}.
func usePaths(spec, separator string) (paths []string) {
	if separator == "::" && !strings.ContainsAny(spec, ":{") && wordEnd(spec) == len(spec) && spec != "" {
		return []string{"mod:" + spec}
	}
	var walk func(prefix, tree string, depth int)
	walk = func(prefix, tree string, depth int) {
		for len(tree) > 0 && depth < innerMost {
			end, open := 0, 0
			for ; end < len(tree) && (tree[end] != ',' || open > 0); end++ {
				switch tree[end] {
				case '{':
					open++
				case '}':
					open--
				}
			}
			one := tree[:end]
			tree = tree[min(end+1, len(tree)):]
			if at, inner, ok := strings.Cut(one, "{"); ok {
				walk(prefix+strings.TrimSpace(at), strings.TrimSuffix(strings.TrimSpace(inner), "}"), depth+1)
				continue
			}
			one, _, _ = strings.Cut(strings.TrimSpace(one), " as ")
			path := prefix + strings.TrimSpace(strings.TrimSuffix(one, "*"))
			path = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(path, "self"), separator), separator)
			if separator == `\` && one == "" {
				continue
			}
			paths = append(paths, strings.TrimPrefix(path, separator))
		}
	}
	if strings.HasPrefix(spec, "./") || separator == `\` && strings.Contains(spec, "/") || separator == `\` && strings.HasSuffix(spec, ".php") {
		return []string{"./" + strings.TrimLeft(strings.TrimPrefix(spec, "./"), "/")}
	}
	walk("", strings.Join(strings.Fields(spec), " "), 0)
	return paths
}

var (
	pythonNames   = regexp.MustCompile(`(?m)^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]+)?=[^=]`)
	pythonImports = regexp.MustCompile(`(?m)(?:^|[;:])[ \t]*(?:import[ \t]+([\w., \t]+)|from[ \t]+([\w.]+)[ \t]+(import[^\n;]+))`)
	pythonDocs    = regexp.MustCompile(`(?m)^[ \t]*[rRuU]?"`)
)

// python reads definitions at any depth and imports wherever they are.
func (r *reader) python(src string) {
	s := strip(Python, src)
	code := outline{text: s.code, at: identity(len(s.code))}
	// A string that is a statement documents the module, or what was defined
	// last.
	for _, m := range pythonDocs.FindAllIndex(s.code, -1) {
		s.remarks = append(s.remarks, remark{at: m[0], body: "\"" + s.value(m[1]-1)})
	}
	slices.SortStableFunc(s.remarks, func(a, b remark) int { return a.at - b.at })
	names := code.matches(pythonNames, s)
	for i := range s.remarks {
		if doc, ok := strings.CutPrefix(s.remarks[i].body, "\""); ok {
			before := 0
			for _, n := range names {
				before += bool2int(n.at < s.remarks[i].at)
			}
			had := r.out.Doc
			s.remarks[i].body, s.remarks[i].main = doc, before < 2
			if before == 1 && had == "" {
				defer func() {
					if d := sentence(tidy(doc)); r.out.Doc == d && d != "" {
						r.out.Doc = Clip(names[0].text+": "+d, docMost)
					}
				}()
			}
		}
	}
	var imports []find
	for _, m := range pythonImports.FindAllSubmatchIndex(s.code, -1) {
		group := func(g int) string {
			if m[2*g] < 0 {
				return ""
			}
			return string(s.code[m[2*g]:m[2*g+1]])
		}
		add := func(spec string) { imports = append(imports, find{m[0], spec}) }
		for name := range strings.SplitSeq(group(1), ",") {
			name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
			add(strings.Trim(name, "\t"))
		}
		if module := group(2); module != "" {
			add(module)
			for name := range strings.SplitSeq(strings.Trim(strings.TrimPrefix(group(3), "import"), " \t()\\"), ",") {
				name, _, _ = strings.Cut(strings.Trim(name, " \t()\\"), " ")
				if name != "" && name != "*" {
					add(module + ":" + name)
				}
			}
		}
	}
	r.take(s, names, imports, nil, func(spec string) []string { return []string{spec} })
}

var (
	rubyNames   = regexp.MustCompile(`(?m)(?:^|[^.:\w"])(?:def[ \t]+(?:\w+\.)?(\w+)|(?:class|module)[ \t]+([A-Z]\w*(?:::[A-Z]\w*)*))`)
	rubyImports = regexp.MustCompile(`(?m)(?:^|[;\s])(?:(?:require|load)[ \t(]+"|autoload[ \t(]+[^\n"]*"|(require_relative)[ \t(]+")`)
)

// ruby reads definitions at any depth.
func (r *reader) ruby(src string) {
	s := strip(Ruby, src)
	code := outline{text: s.code, at: identity(len(s.code))}
	var names, imports []find
	for _, f := range code.matches(rubyNames, s) {
		for part := range strings.SplitSeq(f.text, "::") {
			names = append(names, find{f.at, part})
		}
	}
	for _, m := range rubyImports.FindAllSubmatchIndex(s.code, -1) {
		spec := s.value(m[1] - 1)
		if m[2] >= 0 {
			spec = "./" + spec
		}
		imports = append(imports, find{m[0], spec})
	}
	r.take(s, names, imports, nil, func(spec string) []string { return []string{spec} })
}

// golang reads Go with its own parser, as far as it goes.
func (r *reader) golang(name, src string) {
	files := token.NewFileSet()
	f, _ := parser.ParseFile(files, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if f == nil {
		return
	}
	if f.Name != nil {
		r.out.Package = f.Name.Name
	}
	for _, i := range f.Imports {
		if spec, err := strconv.Unquote(i.Path.Value); err == nil {
			r.imports(spec)
		}
	}
	s := &stripped{}
	var names []find
	var bodies [][2]int
	add := func(id *ast.Ident) { names = append(names, find{int(id.Pos()), id.Name}) }
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(d.Name)
			if d.Body != nil {
				bodies = append(bodies, [2]int{int(d.Body.Pos()), int(d.Body.End())})
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						add(id)
					}
				}
			}
		}
	}
	for _, c := range f.Comments {
		first := files.Position(c.Pos())
		body := src[first.Offset:min(files.Position(c.End()).Offset, len(src))]
		s.remarks = append(s.remarks, remark{int(c.Pos()), body, first.Column == 1})
	}
	r.take(s, names, nil, bodies, nil)
}
