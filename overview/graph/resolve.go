package graph

import (
	"path"
	"slices"
	"strings"

	"leanctx/overview/source"
)

// resolver finds the file, or group of files, that an import means. What is
// not in the project means nothing.
type resolver struct {
	g       *Graph
	files   []File
	paths   map[string]int32
	bases   map[string][]int32 // by the last part of the path, where that is how things are found: C, Ruby, PHP
	modules map[string]string  // Go module → directory
	crates  map[string]string  // Rust crate → directory of its sources
	nodes   map[string]string  // Node package → directory
	aliases []alias            // of tsconfig files, the longest prefix first
	roots   []string           // directories that Python, PHP and Ruby look in
	classes map[string]int32   // Java, Kotlin and PHP: package and file name

	last          string // the directory of the file that was placed last
	siblings, pkg int32  // its groups, or -1
}

// alias says where specifiers that begin with from are looked for.
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

// pythonRoot is where the packages of a directory are counted from: the
// directory above it, if that is src, lib or python.
func pythonRoot(dir string) string {
	for _, name := range []string{"src/", "lib/", "python/"} {
		if i := strings.Index("/"+dir, "/"+name); i >= 0 {
			return dir[:i+len(name)]
		}
	}
	return ""
}

// settings takes in a module file.
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

// place puts a file into its groups and beside its test.
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

// resolve adds an edge for each import that is found.
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

// first is the first of some paths that is a file, or -1.
func (r *resolver) first(names ...string) int32 {
	for _, n := range names {
		if i, ok := r.paths[n]; ok {
			return i
		}
	}
	return -1
}

// nearest is the only file among some that are called the same, or the one that is
// closest to dir.
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
