package sourcefile

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Files are the files of a project in its work trees. It is safe for concurrent use.
type Files struct {
	root  string                    // of a work tree; empty: there are no files
	home  string                    // the user's home directory, which a path may call ~; may be empty
	trees func() []string           // the roots of the other work trees
	where func() (tree, dir string) // the work tree in which the caller works, and where in it
}

// New is the files of the project with a work tree at root. An empty root has none. home is the user's
// home directory, and trees lists the roots of the project's other work trees; both may be left out.
func New(root, home string, trees func() []string) *Files {
	if trees == nil {
		trees = func() []string { return nil }
	}
	return &Files{root: root, home: home, trees: trees, where: func() (string, string) { return root, "." }}
}

// At is the same files for a caller that works in dir: relative paths may start there, and the work tree
// around it comes before the others. An empty directory, or one outside the project, says nothing.
func (f *Files) At(dir string) *Files {
	if f.root == "" || !filepath.IsAbs(dir) {
		return f
	}
	g := *f
	g.trees = sync.OnceValue(f.trees)
	g.where = sync.OnceValues(func() (string, string) {
		// Most callers work in the root itself, and nobody makes a work tree there.
		if filepath.Clean(dir) == f.root {
			return f.root, "."
		}
		if tree, rel, ok := g.place(dir, f.tops(f.root)); ok {
			return tree, rel
		}
		return f.root, "."
	})
	return &g
}

// tops are the roots of all work trees, one of them first.
func (f *Files) tops(first string) []string {
	all := []string{first}
	for _, tree := range append([]string{f.root}, f.trees()...) {
		if tree = filepath.FromSlash(tree); !slices.Contains(all, tree) {
			all = append(all, tree)
		}
	}
	return all
}

// place is where an absolute path is: the innermost work tree around it, and the path from there.
// What is gone has a place too.
func (f *Files) place(path string, tops []string) (tree, rel string, ok bool) {
	find := func(path string) {
		for _, top := range tops {
			for _, spelled := range []string{top, followed(top)} {
				r, err := filepath.Rel(spelled, path)
				if err == nil && filepath.IsLocal(r) && (!ok || len(r) < len(rel)) {
					tree, rel, ok = top, r, true
				}
			}
		}
	}
	path = filepath.Clean(path)
	find(path)
	find(filepath.Join(followed(filepath.Dir(path)), filepath.Base(path))) // the file itself may be a link
	if !ok {
		find(followed(path))
	}
	return tree, rel, ok
}

// followed is a path without symbolic links, as far as it exists. A text may be a path of thousands of parts that do not
// exist: where they end is found by halves.
func followed(path string) string {
	var ends []int // of each part
	for i := range path {
		if i > len(filepath.VolumeName(path)) && os.IsPathSeparator(path[i]) {
			ends = append(ends, i)
		}
	}
	ends = append(ends, len(path))
	there := sort.Search(len(ends), func(i int) bool {
		_, err := os.Lstat(path[:ends[i]])
		return err != nil
	})
	first := path[:ends[max(0, there-1)]]
	rest := strings.TrimLeft(path[len(first):], `/\`)
	for dir := first; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return path
		}
		dir, rest = up, filepath.Join(filepath.Base(dir), rest)
	}
}

// Relative is a source as it is kept: each absolute path in the project, also within a text, is made
// relative to the root of its work tree. What is shared says nothing of where the project is on
// this machine. Any other source stays as it is.
func (f *Files) Relative(ref string) string {
	name, _ := f.relative(ref)
	return name
}

// relative is [Files.Relative], with the work tree of a source that is one absolute path.
func (f *Files) relative(ref string) (name, tree string) {
	if f.root == "" || !strings.ContainsAny(ref, `/\`) {
		return ref, ""
	}
	path, _, _ := parse(ref)
	if full := f.expanded(path); filepath.IsAbs(full) && (!strings.ContainsFunc(path, unicode.IsSpace) || isRegular(full)) {
		if tree, rel, ok := f.place(full, f.tops(f.root)); ok {
			return filepath.ToSlash(rel) + ref[len(path):], tree
		}
	}
	return f.inText(ref), ""
}

// named is a source as it is kept, and the work tree in which its file is to be looked for first.
func (f *Files) named(ref string) (name, tree string) {
	here, dir := f.where()
	name, tree = f.relative(ref)
	switch {
	case tree != "":
		return name, tree
	case name != ref:
		return name, here
	}
	path, _, _ := parse(ref)
	rel := filepath.FromSlash(path)
	if filepath.IsAbs(rel) || strings.Contains(path, "://") || dir == "." && rel == filepath.Clean(rel) && filepath.IsLocal(rel) {
		return ref, here
	}
	full := filepath.Join(here, dir, rel)
	tree, rel, ok := f.place(full, f.tops(here))
	if dotted := strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../"); !ok || !isRegular(full) && !dotted {
		return ref, here
	}
	return filepath.ToSlash(rel) + ref[len(path):], tree
}

// expanded is a path with the system's separators, and without what other programs write before one.
func (f *Files) expanded(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && f.home != "" {
		return filepath.Join(f.home, filepath.FromSlash(rest))
	}
	return filepath.FromSlash(strings.TrimPrefix(path, "file://"))
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// mostLooked is how many paths of one text are looked for on the disk. A path that begins as a work tree does is
// known without a look.
const mostLooked = 8

// pathsInText finds the absolute paths in a text. It takes as long as the text is.
type pathsInText struct {
	*Files
	tops   []string
	roots  []string // of the work trees, as a text may write them
	looked int
}

// beforePath is what a path needs to know of the word up to it.
type beforePath struct {
	last      rune // 0: nothing is before it
	separated bool // it has a slash
	link      bool // it has ://
}

// inText makes the absolute paths in a text relative.
func (f *Files) inText(text string) string {
	p := pathsInText{Files: f, tops: f.tops(f.root)}
	for _, top := range p.tops {
		p.roots = append(p.roots, top, f.underHome(top))
	}
	var b strings.Builder
	var before beforePath
	for i := 0; i < len(text); {
		name, n := p.at(before, text[i:])
		if n == 0 {
			var r rune
			r, n = utf8.DecodeRuneInString(text[i:])
			if endsPath(r) {
				before = beforePath{}
			} else {
				before.last = r
				before.separated = before.separated || r == '/' || r == '\\'
				before.link = before.link || strings.HasSuffix(text[:i+n], "://")
			}
			name = text[i : i+n]
		} else {
			before.last, _ = utf8.DecodeLastRuneInString(text[i : i+n])
			before.separated = true
		}
		b.WriteString(name)
		i += n
	}
	return b.String()
}

// pathAt is how a text that begins with an absolute path in the project has it relative, and how many
// bytes of it that takes the place of; none if there is no such path. before is the word up to there.
func (p *pathsInText) at(before beforePath, text string) (name string, n int) {
	if path, ok := strings.CutPrefix(text, "file://"); ok {
		if name, n = p.at(beforePath{}, path); n > 0 {
			n += len(text) - len(path)
		}
		return name, n
	}
	link := before.link
	if text == "" || !strings.ContainsAny(text[:1], `/\~`) && (filepath.VolumeName(text) == "" || text[0] == '.') || !link && !mayBegin(before) {
		return "", 0
	}
	for _, root := range p.roots {
		rest, ok := cutRoot(text, root)
		if !ok || len(text)-len(rest) <= n || strings.Contains(filepath.ToSlash(text[:endOf(text)]), "/../") {
			continue
		}
		name, n = "", len(text)-len(rest)
		switch r, size := utf8.DecodeRuneInString(rest); {
		case link: // the rest is a part of it
		case size == 0 || endsPath(r) || strings.Trim(rest[:endOf(rest)], `/\.,:;!?`) == "":
			name = "."
		case r == '/' || r == '\\':
			n++
		}
	}
	if n > 0 || link || p.looked >= mostLooked {
		return name, n
	}
	p.looked++
	path, _, _ := parse(strings.TrimRight(text[:endOf(text)], ".,:;!?"))
	full := p.expanded(path)
	if !filepath.IsAbs(full) || strings.Trim(full, `/\`) == "" {
		return "", 0
	}
	_, rel, ok := p.place(full, p.tops)
	if !ok {
		return "", 0
	}
	name = filepath.ToSlash(rel)
	if strings.HasSuffix(path, "/") {
		name += "/"
	}
	return name, len(path)
}

// cutRoot is a text without the root at its beginning.
func cutRoot(text, root string) (rest string, ok bool) {
	if root == "" || filepath.Dir(root) == root || len(text) < len(root) {
		return "", false
	}
	spelled := text[:len(root)]
	if runtime.GOOS == "windows" {
		if !strings.EqualFold(filepath.FromSlash(spelled), root) {
			return "", false
		}
	} else if spelled != root {
		return "", false
	}
	rest = text[len(root):]
	r, size := utf8.DecodeRuneInString(rest)
	return rest, size == 0 || !inName(r) || strings.Trim(rest[:endOf(rest)], ".") == ""
}

// underHome is a root as it may be written from the home directory.
func (f *Files) underHome(root string) string {
	rel, err := filepath.Rel(f.home, root)
	if f.home == "" || err != nil || !filepath.IsLocal(rel) || rel == "." {
		return ""
	}
	return "~/" + filepath.ToSlash(rel)
}

// endOf is where a path at the beginning of a text ends at the latest, unless it has blanks in it.
func endOf(text string) int {
	if end := strings.IndexFunc(text, endsPath); end >= 0 {
		return end
	}
	return len(text)
}

// endsPath reports whether a character of a text ends a path.
func endsPath(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\"'`()[]{}<>|,;“”«»„‘’、，。（）「」", r)
}

// inName reports whether a character goes on with the name before it.
func inName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.~%+@", r)
}

// mayBegin reports whether an absolute path may begin behind a part of a word.
func mayBegin(before beforePath) bool {
	r := before.last
	switch {
	case r == 0:
		return true
	case r >= utf8.RuneSelf: // some languages write no blanks
		return !before.separated
	}
	return !inName(r) && r != '/' && r != '\\'
}
