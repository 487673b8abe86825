// Package graph links the files of a project by their imports, and spreads scores along
// the links.
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
// them groups: Go packages, namespaces, directories. Groups keep it small: a package of
// 100 files that 1,000 files import has 1,100 edges, not 100,000.
type Graph struct {
	files  int
	groups map[string]int32
	from   []int32
	to     []int32
	weight []float64
}

// Flow is how weight spreads in a graph.
type Flow struct {
	Back    float64 // the flow from an imported file to its importer, relative to 1 the other way; more than 0
	Damping float64 // the part that flows on at each step, 0..1
	Steps   int
}

// The weights of edges.
const (
	weighImport  = 1.0
	weighTest    = 1.0 // a test and what it tests
	weighSibling = 0.3 // files of one directory
)

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
		if len(files[i].Imports) > 0 {
			r.resolve(int32(i), &files[i])
		}
	}
	return g
}

func (g *Graph) edge(from, to int32, weight float64) {
	if from == to {
		return
	}
	g.from, g.to, g.weight = append(g.from, from), append(g.to, to), append(g.weight, weight)
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

// Spread is personalised PageRank. seed is each file's own weight, 0 or more. The largest
// result is 1.
func (g *Graph) Spread(seed []float64, f Flow) []float64 {
	n := g.files + len(g.groups)
	total := make([]float64, n)
	for i := range g.from {
		total[g.from[i]] += g.weight[i]
		total[g.to[i]] += f.Back * g.weight[i]
	}
	sum := 0.0
	for _, s := range seed {
		sum += s
	}
	if sum == 0 {
		return make([]float64, g.files)
	}
	rank, next := make([]float64, n), make([]float64, n)
	for i, s := range seed {
		rank[i] = s / sum
	}
	for range f.Steps {
		clear(next)
		for i := range g.from {
			a, b, w := g.from[i], g.to[i], g.weight[i]
			next[b] += f.Damping * rank[a] * w / total[a]
			next[a] += f.Damping * rank[b] * f.Back * w / total[b]
		}
		for i, s := range seed {
			next[i] += (1 - f.Damping) * s / sum
		}
		rank, next = next, rank
	}
	return Scaled(rank[:g.files])
}

// Scaled divides all by the largest, in place.
func Scaled(list []float64) []float64 {
	most := 0.0
	for _, x := range list {
		most = max(most, x)
	}
	if most > 0 {
		for i := range list {
			list[i] /= most
		}
	}
	return list
}

// IsTest reports whether a file is a test by its name or place.
func IsTest(name string) bool {
	base := strings.ToLower(strings.TrimSuffix(path.Base(name), path.Ext(name)))
	if strings.HasSuffix(base, "_test") || strings.HasPrefix(base, "test_") || strings.HasSuffix(base, ".test") || strings.HasSuffix(base, ".spec") || strings.HasSuffix(base, "_spec") {
		return true
	}
	if b := path.Base(name); strings.HasSuffix(b, "Test.java") || strings.HasSuffix(b, "Tests.cs") || strings.HasSuffix(b, "Test.php") || strings.HasSuffix(b, "Test.kt") {
		return true
	}
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		switch strings.ToLower(part) {
		case "test", "tests", "__tests__", "spec", "specs", "testdata", "fixtures", "__snapshots__":
			return true
		}
	}
	return false
}

// Tested lists the paths that a test file may test, judged by its name, the likeliest
// first. For other files the list is empty.
func Tested(name string) (paths []string) {
	dir, base := path.Split(name)
	ext := path.Ext(base)
	stem := tested(strings.TrimSuffix(base, ext))
	above := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(dir, "tests/"), "test/"), "__tests__/")
	for stem != "" {
		if paths = append(paths, dir+stem+ext); above != dir {
			paths = append(paths, above+stem+ext)
		}
		stem = stem[:max(strings.LastIndexByte(stem, '_'), 0)] // lock_windows_test.go may be of lock.go
	}
	return paths
}

// tested is a test's name without its extension and the mark of a test; empty for other
// names.
func tested(base string) string {
	for _, end := range []string{"_test", ".test", ".spec", "_spec", "Tests", "Test"} {
		if s, ok := strings.CutSuffix(base, end); ok {
			return s
		}
	}
	s, _ := strings.CutPrefix(base, "test_")
	if s == base {
		return ""
	}
	return s
}

// resolver finds the file, or group of files, for an import. It ignores imports from outside
// the project.
type resolver struct {
	g       *Graph
	files   []File
	paths   map[string]int32
	bases   map[string][]int32 // by the last part of the path, for C and Ruby
	modules map[string]string  // Go module → directory
	crates  map[string]string  // Rust crate → directory of its sources
	nodes   map[string]string  // Node package → directory
	aliases []alias            // of tsconfig files, the longest prefix first
	roots   []string           // directories that Python, PHP and Ruby look in
	classes map[string]int32   // Java, Kotlin and PHP: package and file name

	last          string // the directory of the last placed file
	siblings, pkg int32  // its groups, or -1
}

// alias replaces the beginning of a specifier, for importers below scope.
type alias struct{ scope, from, to string }

func newResolver(g *Graph, files []File) *resolver {
	r := &resolver{
		g: g, files: files, paths: make(map[string]int32, len(files)), bases: map[string][]int32{},
		modules: map[string]string{}, crates: map[string]string{}, nodes: map[string]string{}, classes: map[string]int32{}, siblings: -1, pkg: -1,
	}
	roots := map[string]bool{"": true}
	for i := range files {
		e := &files[i]
		if e.Path == "" {
			continue
		}
		r.paths[e.Path] = int32(i)
		r.settings(e)
		dir, base := path.Split(e.Path)
		switch e.Language {
		case source.C, source.CPP, source.Ruby:
			r.bases[base] = append(r.bases[base], int32(i))
		case source.Python:
			roots[pythonRoot(dir)] = true
		}
	}
	for root := range roots {
		r.roots = append(r.roots, root)
	}
	slices.Sort(r.roots)
	slices.SortStableFunc(r.aliases, func(a, b alias) int { return len(b.scope+b.from) - len(a.scope+a.from) })
	return r
}

// pythonRoot is the directory that holds the top packages: the nearest src, lib or python
// above dir, else the root.
func pythonRoot(dir string) string {
	for _, name := range []string{"src/", "lib/", "python/"} {
		if i := strings.Index("/"+dir, "/"+name); i >= 0 {
			return dir[:i+len(name)]
		}
	}
	return ""
}

// settings reads a module file.
func (r *resolver) settings(e *File) {
	dir, base := path.Split(e.Path)
	switch {
	case base == "go.mod" && e.Package != "":
		r.modules[e.Package] = dir
	case base == "Cargo.toml" && e.Package != "":
		r.crates[e.Package] = dir + "src/"
	case base == "package.json" && e.Package != "":
		r.nodes[e.Package] = dir
	case strings.HasSuffix(base, ".json") && e.Language != "JSON":
		baseURL, hasBase := "", false
		for _, line := range e.Imports {
			if v, ok := strings.CutPrefix(line, "baseUrl="); ok {
				baseURL, hasBase = v, true
			}
		}
		if hasBase {
			r.aliases = append(r.aliases, alias{dir, "", join(dir, baseURL) + "/"})
		}
		for _, line := range e.Imports {
			v, ok := strings.CutPrefix(line, "paths=")
			from, to, ok2 := strings.Cut(v, "=")
			if ok && ok2 {
				to = join(dir, path.Join(baseURL, strings.TrimSuffix(to, "*")))
				if strings.HasSuffix(from, "/*") {
					to += "/"
				}
				r.aliases = append(r.aliases, alias{dir, strings.TrimSuffix(from, "*"), to})
			}
		}
	}
}

// join is a cleaned path below the root; "" for the root itself.
func join(dir, rel string) string {
	p := path.Join(dir, rel)
	if p == "." {
		return ""
	}
	return p
}

// place adds a file to its groups and links it to its test.
func (r *resolver) place(i int32, e *File) {
	dir, base := path.Split(e.Path)
	if dir != r.last || r.siblings < 0 {
		r.last, r.siblings, r.pkg = dir, r.g.group("dir:"+dir, true), -1
	}
	r.g.edge(i, r.siblings, weighSibling)
	switch e.Language {
	case source.Go:
		if !strings.HasSuffix(base, "_test.go") {
			if r.pkg < 0 {
				r.pkg = r.g.group("go:"+dir, true)
			}
			r.g.edge(r.pkg, i, weighImport)
		}
	case source.Java, source.Kotlin:
		r.classes[e.Package+"."+strings.TrimSuffix(base, path.Ext(base))] = i
		r.g.edge(r.g.group("java:"+e.Package, true), i, weighImport)
	case source.CSharp:
		if e.Package != "" {
			r.g.edge(r.g.group("cs:"+e.Package, true), i, weighImport)
		}
	case source.PHP:
		r.classes[e.Package+`\`+strings.TrimSuffix(base, path.Ext(base))] = i
	}
	if to := r.first(Tested(e.Path)...); to >= 0 {
		r.g.edge(i, to, weighTest)
		r.g.edge(to, i, weighTest/2)
	}
}

// resolve adds an edge for each import of a file.
func (r *resolver) resolve(i int32, e *File) {
	dir := path.Dir(e.Path)
	if dir == "." {
		dir = ""
	}
	for _, spec := range e.Imports {
		to := int32(-1)
		switch e.Language {
		case source.Go:
			to = r.golang(spec)
		case source.TypeScript, source.JavaScript:
			to = r.script(dir, spec)
		case source.Python:
			to = r.python(dir, spec)
		case source.Rust:
			to = r.rust(e.Path, spec)
		case source.Java, source.Kotlin:
			to = r.java(spec)
		case source.C, source.CPP:
			to = r.include(dir, spec)
		case source.CSharp:
			to = r.g.group("cs:"+spec, false)
		case source.Ruby:
			to = r.ruby(dir, spec)
		case source.PHP:
			to = r.php(dir, spec)
		}
		if to >= 0 {
			r.g.edge(i, to, weighImport)
		}
	}
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

// nearest is the file among some whose path ends with suffix, the closest one to dir.
func (r *resolver) nearest(dir string, among []int32, suffix string) int32 {
	best, score := int32(-1), -1
	for _, i := range among {
		p := r.files[i].Path
		if p != suffix && !strings.HasSuffix(p, "/"+suffix) {
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
	return best
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

// asDir is a directory with one slash at the end; the root is empty.
func asDir(dir string) string {
	dir = strings.Trim(dir, "/")
	if dir == "" {
		return ""
	}
	return dir + "/"
}

// scriptEndings complete a specifier of JavaScript to a file.
var scriptEndings = [...]string{"", ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte",
	"/index.ts", "/index.tsx", "/index.js", "/index.jsx", "/index.mjs"}

func (r *resolver) script(dir, spec string) int32 {
	if strings.HasPrefix(spec, ".") {
		return r.scriptFile(join(dir, spec))
	}
	for _, a := range r.aliases {
		rest, ok := strings.CutPrefix(spec, a.from)
		if !ok || !strings.HasPrefix(dir+"/", a.scope) || rest != "" && a.from != "" && !strings.HasSuffix(a.from, "/") {
			continue
		}
		if i := r.scriptFile(join(a.to, rest)); i >= 0 {
			return i
		}
	}
	name, rest, _ := strings.Cut(spec, "/")
	if strings.HasPrefix(spec, "@") {
		scope, after, _ := strings.Cut(rest, "/")
		name, rest = name+"/"+scope, after
	}
	at, ok := r.nodes[name]
	if !ok {
		return -1
	}
	if rest != "" {
		if i := r.scriptFile(join(at, rest)); i >= 0 {
			return i
		}
		return r.scriptFile(join(at, path.Join("src", rest)))
	}
	for _, main := range []string{"src", "index", "lib", "main"} {
		if i := r.scriptFile(join(at, main)); i >= 0 {
			return i
		}
	}
	return -1
}

func (r *resolver) scriptFile(p string) int32 {
	for _, e := range scriptEndings {
		if i, ok := r.paths[p+e]; ok {
			return i
		}
	}
	// TypeScript imports name the compiled file.
	for from, to := range map[string]string{".js": ".ts", ".jsx": ".tsx", ".mjs": ".mts", ".cjs": ".cts"} {
		if s, ok := strings.CutSuffix(p, from); ok {
			return r.first(s+to, s+".tsx")
		}
	}
	return -1
}

// python finds "a.b", "a.b:name" and, with leading dots, what is relative.
func (r *resolver) python(dir, spec string) int32 {
	module, name, _ := strings.Cut(spec, ":")
	roots := r.roots
	if rest := strings.TrimLeft(module, "."); rest != module {
		for range len(module) - len(rest) - 1 {
			dir = join(dir, "..")
		}
		module, roots = rest, []string{asDir(dir)}
	} else {
		roots = append([]string{asDir(dir)}, roots...)
	}
	p := strings.ReplaceAll(module, ".", "/")
	for _, root := range roots {
		at := strings.TrimSuffix(root+p, "/")
		if name != "" {
			sub := strings.TrimPrefix(at+"/"+name, "/")
			if i := r.first(sub+".py", sub+"/__init__.py", sub+".pyi"); i >= 0 {
				return i
			}
			continue
		}
		if i := r.first(at+".py", strings.TrimPrefix(at+"/__init__.py", "/"), at+".pyi"); i >= 0 {
			return i
		}
	}
	return -1
}

// rust finds "mod:name" beside or below the file. It also finds paths that begin with crate,
// super, self or the name of a crate in the project.
func (r *resolver) rust(file, spec string) int32 {
	dir, base := path.Split(file)
	below := dir + strings.TrimSuffix(base, ".rs") + "/"
	if base == "mod.rs" || base == "lib.rs" || base == "main.rs" {
		below = dir
	}
	if name, ok := strings.CutPrefix(spec, "mod:"); ok {
		return r.first(below+name+".rs", below+name+"/mod.rs")
	}
	parts := strings.Split(spec, "::")
	at := ""
	switch head := parts[0]; head {
	case "crate":
		at = r.crateOf(file)
	case "self":
		at = below
	case "super":
		at = asDir(path.Dir(strings.TrimSuffix(below, "/")))
		for len(parts) > 1 && parts[1] == "super" {
			at, parts = asDir(path.Dir(strings.TrimSuffix(at, "/"))), parts[1:]
		}
	default:
		src, ok := r.crates[head]
		if !ok {
			return -1
		}
		at = src
	}
	for n := len(parts) - 1; n > 0; n-- {
		p := at + strings.Join(parts[1:1+n], "/")
		if i := r.first(p+".rs", p+"/mod.rs"); i >= 0 {
			return i
		}
	}
	return r.first(at+"lib.rs", at+"mod.rs", at+"main.rs", strings.TrimSuffix(at, "/")+".rs")
}

// crateOf is the source directory of a Rust file's crate.
func (r *resolver) crateOf(file string) string {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		at := asDir(strings.TrimPrefix(dir, "."))
		if r.first(at+"lib.rs", at+"main.rs") >= 0 {
			return at
		}
		if dir == "." || dir == "/" {
			return ""
		}
	}
}

// java finds a class by its package and name. An import of all of a package means the package.
// An import of a member or an inner class means its class.
func (r *resolver) java(spec string) int32 {
	if pkg, ok := strings.CutSuffix(spec, ".*"); ok {
		if i := r.g.group("java:"+pkg, false); i >= 0 {
			return i
		}
		spec = pkg
	}
	for ; strings.Contains(spec, "."); spec = spec[:strings.LastIndexByte(spec, '.')] {
		if i, ok := r.classes[spec]; ok {
			return i
		}
		if i := r.g.group("java:"+spec[:strings.LastIndexByte(spec, '.')], false); i >= 0 {
			return i
		}
	}
	return -1
}

// include finds a header beside the file or below a directory that is usual for headers. Else
// it takes the only file of the project with that path.
func (r *resolver) include(dir, spec string) int32 {
	if i := r.first(join(dir, spec), join("", spec), join("include", spec), join("src", spec)); i >= 0 {
		return i
	}
	clean := strings.TrimLeft(path.Clean(spec), "./")
	return r.nearest(dir, r.bases[path.Base(clean)], clean)
}

func (r *resolver) ruby(dir, spec string) int32 {
	if strings.HasPrefix(spec, "./") {
		p := join(dir, spec)
		return r.first(p+".rb", p)
	}
	if i := r.first("lib/"+spec+".rb", spec+".rb", "app/"+spec+".rb", spec); i >= 0 {
		return i
	}
	if !strings.Contains(spec, "/") {
		return r.nearest(dir, r.bases[spec+".rb"], "lib/"+spec+".rb")
	}
	return r.nearest(dir, r.bases[path.Base(spec)+".rb"], spec+".rb")
}

func (r *resolver) php(dir, spec string) int32 {
	if rest, ok := strings.CutPrefix(spec, "./"); ok {
		return r.first(join(dir, rest), join("", rest))
	}
	if i, ok := r.classes[spec]; ok {
		return i
	}
	return -1
}
