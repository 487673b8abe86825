package source

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// element is a definition or a comment, and where it is.
type element struct {
	at   int
	name string
	comment
}

// take records definitions and comments in the order of the file.
func (r *reader) take(names []element, remarks []comment) {
	for _, m := range remarks {
		names = append(names, element{at: m.at, comment: m})
	}
	slices.SortStableFunc(names, func(a, b element) int { return cmp.Compare(a.at, b.at) })
	for _, f := range names {
		if f.name != "" {
			r.define(f.name)
		} else {
			r.remark(f.body, f.main)
		}
	}
}

// syntax reads a language by its row of the table.
func (r *reader) syntax(s *syntax, src string) {
	p := strip(s, src)
	var names []element
	for _, m := range s.names().FindAllSubmatchIndex(p.code, -1) {
		from, to := last(m)
		name := string(p.code[from:to])
		head, _, _ := strings.Cut(strings.TrimLeft(string(p.code[m[0]:from]), " \t\n"), " ")
		if !s.calls || !notNames[name] && !notTypes[head] {
			names = append(names, element{at: from, name: name})
		}
	}
	r.take(names, p.remarks)
	for _, m := range s.imports().FindAllSubmatchIndex(p.code, -1) {
		groups := make([]string, len(m)/2)
		for g := range groups {
			if m[2*g] >= 0 {
				groups[g] = string(p.code[m[2*g]:m[2*g+1]])
			}
		}
		specs := []string{cmp.Or(groups[1:]...)}
		if s.specs != nil {
			specs = s.specs(groups)
		}
		for _, spec := range specs {
			r.imports(spec)
		}
	}
	if s.pkg != nil {
		if m := s.pkg().FindSubmatch(p.code); m != nil {
			r.out.Package = string(m[1])
		}
	}
}

// last is the last group that matched.
func last(m []int) (from, to int) {
	for g := len(m) - 2; g > 0; g -= 2 {
		if m[g] >= 0 {
			return m[g], m[g+1]
		}
	}
	return m[0], m[1]
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
	var names []element
	var bodies []ast.Node
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, element{at: int(d.Name.Pos()), name: d.Name.Name})
			if d.Body != nil {
				bodies = append(bodies, d.Body)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, element{at: int(spec.Name.Pos()), name: spec.Name.Name})
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						names = append(names, element{at: int(id.Pos()), name: id.Name})
					}
				}
			}
		}
	}
	var remarks []comment
	for _, c := range f.Comments {
		if slices.ContainsFunc(bodies, func(b ast.Node) bool { return b.Pos() < c.Pos() && c.Pos() < b.End() }) {
			continue
		}
		first := files.Position(c.Pos())
		remarks = append(remarks, comment{int(c.Pos()), src[first.Offset:min(files.Position(c.End()).Offset, len(src))], first.Column == 1})
	}
	r.take(names, remarks)
}
