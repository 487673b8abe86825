// Package graph links the files of a project by their imports.
package graph

import (
	"path"
	"slices"
	"strings"

	"leanctx/overview/source"
)

// File is what links one file to others. A zero File has no links.
type File struct {
	Path     string // relative to the root, with slashes
	Language source.Language
	Package  string   // as [source.File] has it
	Imports  []string // likewise
}

// Graph is the links between files. Its nodes are the files, by their number, and after
// them groups: Go packages and namespaces. Groups keep it small: a package of
// 100 files that 1,000 files import has 1,100 edges, not 100,000.
type Graph struct {
	files  int
	groups map[string]int32
	from   []int32
	to     []int32
}

// New makes the graph of some files.
func New(files []File) *Graph {
	g := &Graph{files: len(files), groups: map[string]int32{}}
	r := newResolver(g, files)
	for i := range files {
		if files[i].Language != "" {
			r.place(int32(i), &files[i])
		}
	}
	for i := range files {
		for _, spec := range files[i].Imports {
			if to := r.resolve(&files[i], spec); to >= 0 {
				g.edge(int32(i), to)
			}
		}
	}
	return g
}

func (g *Graph) edge(from, to int32) {
	if from != to {
		g.from, g.to = append(g.from, from), append(g.to, to)
	}
}

// group is the node of a group. If there is none, it is created or, without create, -1.
func (g *Graph) group(name string, create bool) int32 {
	n, ok := g.groups[name]
	if !ok && create {
		n = int32(g.files + len(g.groups))
		g.groups[name] = n
		return n
	}
	if !ok {
		return -1
	}
	return n
}

// Near reports for each file whether one of the given files imports it or is imported by it, also
// through a group.
func (g *Graph) Near(given []int) []bool {
	near := make([]bool, g.files+len(g.groups))
	reached := make([]bool, len(near))
	for _, i := range given {
		reached[i] = true
	}
	for i := range g.from {
		a, b := g.from[i], g.to[i]
		near[a], near[b] = near[a] || reached[b], near[b] || reached[a]
	}
	groups := slices.Clone(near[g.files:])
	for i := range g.from {
		a, b := int(g.from[i]), int(g.to[i])
		if a >= g.files && groups[a-g.files] && b < g.files {
			near[b] = true
		}
		if b >= g.files && groups[b-g.files] && a < g.files {
			near[a] = true
		}
	}
	return near[:g.files]
}

// resolver finds the file, or group of files, for an import. It ignores imports from outside
// the project.
//
// An import becomes a path. Where the language says from where it leads, as "./x" does, the
// path is looked for there. Else it is the end of a file's path: of several the one nearest to
// the importer counts. A single word is no path: it must name a module of the project, or a
// file at the top of its sources.
type resolver struct {
	g       *Graph
	files   []File
	paths   map[string]int32
	tails   map[string][]int32 // by the last part of the path, and by the last two
	modules map[string]string  // the name in a module file → its directory
	classes map[string]int32   // Java, Kotlin, C# and PHP: package and file name, with slashes
}

func newResolver(g *Graph, files []File) *resolver {
	r := &resolver{
		g: g, files: files, paths: make(map[string]int32, len(files)), tails: make(map[string][]int32, 2*len(files)),
		modules: map[string]string{}, classes: map[string]int32{},
	}
	for i := range files {
		e := &files[i]
		if e.Path == "" {
			continue
		}
		dir, base := path.Split(e.Path)
		r.paths[e.Path] = int32(i)
		r.tails[base] = append(r.tails[base], int32(i))
		if two := tail(e.Path); two != base {
			r.tails[two] = append(r.tails[two], int32(i))
		}
		if e.Package != "" && (base == "go.mod" || base == "Cargo.toml" || base == "package.json") {
			r.modules[e.Package] = dir
		}
	}
	return r
}

// join is a cleaned path below the root; "" for the root itself.
func join(dir, rel string) string {
	p := path.Join(dir, rel)
	if p == "." {
		return ""
	}
	return p
}

// asDir is a directory with one slash at the end; the root is empty.
func asDir(dir string) string {
	dir = strings.Trim(dir, "/")
	if dir == "" || dir == "." {
		return ""
	}
	return dir + "/"
}

// place adds a file to the group of its package.
func (r *resolver) place(i int32, e *File) {
	dir, base := path.Split(e.Path)
	switch e.Language {
	case source.Go:
		if !strings.HasSuffix(base, "_test.go") {
			r.g.edge(r.g.group("go:"+dir, true), i)
		}
	case source.Java, source.Kotlin, source.CSharp, source.PHP:
		if pkg := slashed(e.Package); pkg != "" {
			r.classes[pkg+"/"+stem(base)] = i
			r.g.edge(r.g.group("package:"+pkg, true), i)
		}
	}
}

func stem(base string) string { return strings.TrimSuffix(base, path.Ext(base)) }

// slashed is the name of a package or class with slashes.
func slashed(name string) string { return strings.NewReplacer(".", "/", `\`, "/").Replace(name) }

// resolve is the file or the group that an import names, or -1.
func (r *resolver) resolve(e *File, spec string) int32 {
	dir := asDir(path.Dir(e.Path))
	relative := strings.HasPrefix(spec, ".")
	switch e.Language {
	case source.Go:
		return r.golang(spec)
	case source.TypeScript, source.JavaScript:
		if !relative {
			return r.script(dir, spec)
		}
		if i := r.at(join(dir, spec), scripts); i >= 0 {
			return i
		}
		return r.at(strings.TrimSuffix(join(dir, spec), path.Ext(spec)), scripts[1:]) // TypeScript's imports name the compiled file
	case source.Python:
		return r.python(dir, spec)
	case source.Rust:
		return r.rust(e.Path, spec)
	case source.Ruby:
		if relative {
			return r.at(join(dir, spec), []string{".rb", ""})
		}
		return r.ending(dir, spec+".rb")
	case source.C, source.CPP:
		if i := r.first(join(dir, spec)); i >= 0 {
			return i
		}
		return r.ending(dir, strings.TrimLeft(path.Clean(spec), "./"))
	case source.PHP:
		if relative {
			return r.first(join(dir, spec), join("", spec))
		}
		return r.class(spec)
	case source.Java, source.Kotlin, source.CSharp:
		return r.class(spec)
	}
	return -1
}

// first is the number of the first path that is a file, or -1.
func (r *resolver) first(names ...string) int32 {
	for _, n := range names {
		if i, ok := r.paths[n]; ok {
			return i
		}
	}
	return -1
}

// at is the file with a path that lacks one of the endings, or -1.
func (r *resolver) at(p string, endings []string) int32 {
	for _, end := range endings {
		if i, ok := r.paths[strings.TrimPrefix(p+end, "/")]; ok {
			return i
		}
	}
	return -1
}

// tops are the directories at whose top an importer looks, by their names.
var tops = map[string]bool{".": true, "src": true, "lib": true, "include": true, "app": true, "python": true}

// ending is the file whose path is one of the names or ends with it, or -1: of the first name
// that has one, the file that is closest to dir.
func (r *resolver) ending(dir string, names ...string) int32 {
	for _, name := range names {
		best, score := int32(-1), -1
		for _, i := range r.tails[tail(name)] {
			p := r.files[i].Path
			above, ok := strings.CutSuffix("/"+p, "/"+name)
			if !ok || !strings.Contains(name, "/") && asDir(above) != dir && !tops[path.Base(asDir(above))] {
				continue
			}
			n := 0
			for n < len(p) && n < len(dir) && p[n] == dir[n] {
				n++
			}
			if n > score {
				best, score = i, n
			}
		}
		if best >= 0 {
			return best
		}
	}
	return -1
}

// tail is the last two parts of a path, or the one that it has. Many files have the same last
// part, such as __init__.py.
func tail(p string) string {
	above := p[:max(strings.LastIndexByte(p, '/'), 0)]
	return p[strings.LastIndexByte(above, '/')+1:]
}

// golang finds a package by its module, the longest prefix of its path. The module std of
// the standard library is no prefix.
func (r *resolver) golang(spec string) int32 {
	for prefix := spec; prefix != ""; {
		if dir, ok := r.modules[prefix]; ok {
			rest := strings.TrimPrefix(strings.TrimPrefix(spec, prefix), "/")
			return r.g.group("go:"+asDir(dir+rest), false)
		}
		prefix = prefix[:max(strings.LastIndexByte(prefix, '/'), 0)]
	}
	if dir, ok := r.modules["std"]; ok {
		return r.g.group("go:"+asDir(dir+spec), false)
	}
	return -1
}

// scripts complete a specifier of JavaScript to a file.
var scripts = []string{"", ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte",
	"/index.ts", "/index.tsx", "/index.js", "/index.jsx", "/index.mjs"}

// script finds what a package of the project exports, or what an alias such as "~/x" or "@/x"
// stands for.
func (r *resolver) script(dir, spec string) int32 {
	name, rest, _ := strings.Cut(spec, "/")
	if scope := name; strings.HasPrefix(spec, "@") && scope != "@" {
		name, rest, _ = strings.Cut(rest, "/")
		name = scope + "/" + name
	}
	if at, ok := r.modules[name]; ok {
		for _, p := range []string{rest, path.Join("src", rest), "index", "lib", "main"} {
			if i := r.at(join(at, p), scripts[1:]); i >= 0 {
				return i
			}
		}
		return -1
	}
	alias := strings.Trim(name, "@~#$") == ""
	for _, p := range []string{spec, rest} {
		if !strings.Contains(p, "/") && (p == "" || p == spec || !alias) {
			continue // the name of a package, or what is in it
		}
		for _, end := range scripts {
			if i := r.ending(dir, p+end); i >= 0 {
				return i
			}
		}
	}
	return -1
}

// python finds "a.b", "a.b:name" and, with leading dots, what is relative.
func (r *resolver) python(dir, spec string) int32 {
	spec, name, from := strings.Cut(spec, ":")
	module := strings.TrimLeft(spec, ".")
	p := strings.ReplaceAll(module, ".", "/")
	if from {
		p = strings.TrimPrefix(p+"/"+name, "/")
	}
	files := []string{".py", "/__init__.py", ".pyi"}
	if dots := len(spec) - len(module); dots > 0 {
		return r.at(join(dir, strings.Repeat("../", dots-1)+p), files)
	}
	return r.ending(dir, p+files[0], p+files[1], p+files[2])
}

// rust finds "mod:name" beside or below the file. It also finds paths that begin with crate,
// super, self or the name of a crate in the project.
func (r *resolver) rust(file, spec string) int32 {
	dir, base := path.Split(file)
	below := dir + stem(base) + "/"
	if base == "mod.rs" || base == "lib.rs" || base == "main.rs" {
		below = dir
	}
	if name, ok := strings.CutPrefix(spec, "mod:"); ok {
		return r.at(below+name, []string{".rs", "/mod.rs"})
	}
	parts := strings.Split(spec, "::")
	at, crate := r.modules[parts[0]]
	at += "src/"
	switch {
	case parts[0] == "crate":
		at = file[:max(strings.LastIndex("/"+file, "/src/"), 0)] + "src/"
	case parts[0] == "self":
		at = below
	case parts[0] == "super":
		for at = below; len(parts) > 0 && parts[0] == "super"; parts = parts[1:] {
			at = asDir(path.Dir(strings.TrimSuffix(at, "/")))
		}
		parts = append([]string{""}, parts...)
	case !crate:
		return -1
	}
	for n := len(parts) - 1; n > 0; n-- {
		if i := r.at(at+strings.Join(parts[1:1+n], "/"), []string{".rs", "/mod.rs"}); i >= 0 {
			return i
		}
	}
	return r.first(at+"lib.rs", at+"mod.rs", at+"main.rs", strings.TrimSuffix(at, "/")+".rs")
}

// class finds a class by its package and name. An import of all of a package means the package.
// An import of a member or an inner class means its class.
func (r *resolver) class(spec string) int32 {
	for p := strings.TrimSuffix(slashed(spec), "/*"); p != ""; p = p[:max(strings.LastIndexByte(p, '/'), 0)] {
		if i, ok := r.classes[p]; ok {
			return i
		}
		if i := r.g.group("package:"+p, false); i >= 0 {
			return i
		}
	}
	return -1
}
