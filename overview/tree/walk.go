package tree

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Vendored reports whether a file is somebody else's, kept within the project: the
// directory that says so, with a slash at the end.
func Vendored(name string) (dir string, ok bool) {
	for from := 0; ; {
		i := strings.IndexByte(name[from:], '/')
		if i < 0 {
			return "", false
		}
		if part := name[from : from+i]; vendors[part] || installed[part] {
			return name[:from+i+1], true
		}
		from += i + 1
	}
}

// vendors are directories of others' code that is kept with the project.
var vendors = map[string]bool{"vendor": true, "third_party": true, "thirdparty": true, "3rdparty": true, "Godeps": true, "_vendor": true}

// installed are directories that a package manager fills. They are not looked
// into where git does not say that they are kept.
var installed = map[string]bool{
	"node_modules": true, "bower_components": true, "jspm_packages": true, ".venv": true, "site-packages": true, "__pycache__": true,
	".tox": true, ".nox": true, ".mypy_cache": true, ".pytest_cache": true, ".ruff_cache": true, "Pods": true, "Carthage": true, ".gradle": true, ".yarn": true,
}

// caches are directories of a home directory that programs keep things in which
// they can get again. Only at the top of a walk they are taken for that.
var caches = map[string]bool{
	".cache": true, ".npm": true, ".cargo": true, ".rustup": true, ".pyenv": true, ".nvm": true, ".m2": true, ".local": true, ".bun": true, ".deno": true, ".Trash": true,
}

// pending is a directory to be walked.
type pending struct {
	dir   string // relative, with a slash at the end; empty for the root
	rules *rules
}

// walk lists the files without git, directory by directory.
func (l *lister) walk(ctx context.Context) error {
	base := &rules{}
	base = base.with("", readRules(l.excludesFile(ctx)))
	base = base.with("", readRules(filepath.Join(l.root, ".git", "info", "exclude")))
	todo, names := []pending{{"", base}}, []string(nil)
	for len(todo) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		files, below := l.directory(next)
		todo, names = append(todo, below...), append(names, files...)
		if len(names) > l.o.Most {
			break // stat says so
		}
	}
	return l.stat(ctx, names)
}

// directory gives the files of one directory, and the directories below it. One
// that cannot be read has none.
func (l *lister) directory(at pending) (files []string, below []pending) {
	full := filepath.Join(l.root, filepath.FromSlash(at.dir))
	entries, err := os.ReadDir(full)
	if err != nil && len(entries) == 0 {
		l.o.Logger.Debug("a directory is left out", "directory", full, "error", err)
		return nil, nil
	}
	has := func(name string) bool {
		_, found := slices.BinarySearchFunc(entries, name, func(e os.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
		return found
	}
	if at.dir != "" && has(".git") { // a work tree of its own
		l.out.Apart = append(l.out.Apart, at.dir)
		return nil, nil
	}
	active := at.rules
	if has(".gitignore") {
		active = active.with(at.dir, readRules(filepath.Join(full, ".gitignore")))
	}
	for _, e := range entries {
		name := at.dir + e.Name()
		switch {
		case e.Name() == ".git":
		case e.IsDir():
			if active.ignore(name, true) {
				continue
			}
			if installed[e.Name()] || at.dir == "" && caches[e.Name()] || name == "go/pkg" {
				l.out.Apart = append(l.out.Apart, name+"/")
				continue
			}
			below = append(below, pending{name + "/", active})
		case e.Type().IsRegular():
			if !active.ignore(name, false) {
				files = append(files, name)
			}
		}
	}
	return files, below
}

// rules are the patterns that hold in a directory: its own, and those of the
// directories above.
type rules struct {
	above *rules
	dir   string // relative, with a slash at the end
	own   []pattern
}

// with adds the patterns of a directory.
func (r *rules) with(dir string, own []pattern) *rules {
	if len(own) == 0 {
		return r
	}
	return &rules{r, dir, own}
}

// ignore tells whether a path is ignored: the last pattern that matches
// decides, those of deeper directories first.
func (r *rules) ignore(name string, isDir bool) bool {
	for ; r != nil; r = r.above {
		rest := strings.TrimPrefix(name, r.dir)
		for i := len(r.own) - 1; i >= 0; i-- {
			if p := &r.own[i]; p.matches(rest, path.Base(rest), isDir) {
				return !p.negated
			}
		}
	}
	return false
}
