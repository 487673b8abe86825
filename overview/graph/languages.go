package graph

import (
	"path"
	"strings"
)

// golang finds a package by the module whose path its path begins with. The
// standard library's own module is called std and stands in no path.
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

// scriptEndings are what may follow a specifier of JavaScript.
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
	// TypeScript names the file that it will be compiled to.
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

// rust finds "mod:name" beside or below the file, and paths from crate, super,
// self or the name of a crate in the project.
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

// crateOf is the directory of the sources that a file of Rust belongs to.
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

// java finds a class by its package and name; an import of all of a package
// means the package, one of a member or inner class its class.
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

// include finds a header beside the file, below a directory that is usual for
// headers, or wherever the project has the only one of that path.
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
