// Package tree lists the files of a project as its authors see them: what git
// keeps or would keep, without what is ignored.
//
// # Two ways
//
// In a git work tree git is asked (`git ls-files`), which is right by
// definition and fast. Where there is no git, no repository, or git refuses,
// directories are walked and .gitignore files are read here, with
// .git/info/exclude and the user's own excludes. Both give the same list: a
// test compares them on the same trees.
//
// We match patterns with our own code, after gitignore(5). Libraries were looked at:
// the one that is kept up is part of a whole git (go-git, with twenty modules
// behind it, and tries every pattern of the tree on every file), the others have had
// no commit since 2021 and make a regular expression of each pattern.
//
// # What is not listed
//
// Symbolic links (so that nothing is met twice and no loop is walked), devices
// and sockets, other repositories within (submodules too: they are projects of
// their own), and what is in a git directory. A bare repository has no files.
package tree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options are the settings of List; nil and the zero value work.
type Options struct {
	Git        string        // the git program; default "git"
	GitTimeout time.Duration // for one run of git; default 30 s
	Excludes   string        // the user's own excludes file, where git cannot be asked for it; may be empty
	Most       int           // files to list; default 500,000
	Logger     *slog.Logger
}

// File is one regular file.
type File struct {
	Path    string // relative to the root, with slashes; any bytes but NUL
	Size    int64  // in bytes
	ModTime int64  // nanoseconds since 1970
}

// Tree is the files of a project, sorted by path.
type Tree struct {
	Files []File
	Apart []string // directories not looked into, with a slash at the end: repositories of their own, installed packages
	Git   bool     // git was asked
	Head  string   // the commit that is checked out; empty if there is none
	Note  string   // a sentence on why there are no files, or not all; without a full stop
}

// List lists the files under root, which must be a directory.
func List(ctx context.Context, root string, o *Options) (*Tree, error) {
	l := &lister{root: root, seen: map[string]bool{}}
	if o != nil {
		l.o = *o
	}
	l.o.Git = cmp.Or(l.o.Git, "git")
	l.o.GitTimeout = cmp.Or(l.o.GitTimeout, 30*time.Second)
	l.o.Most = cmp.Or(l.o.Most, 500_000)
	if l.o.Logger == nil {
		l.o.Logger = slog.New(slog.DiscardHandler)
	}
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "list", Path: root, Err: errors.New("not a directory")}
	}
	if err := l.list(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(l.out.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(l.out.Apart)
	return &l.out, nil
}

type lister struct {
	o    Options
	root string
	out  Tree
	seen map[string]bool
}

func (l *lister) list(ctx context.Context) error {
	where, known := l.place(ctx)
	switch {
	case known && where.bare:
		l.out.Note = "a bare repository: no files are checked out"
		return nil
	case known && where.inside:
		l.out.Note = "inside a git directory: it has no files of a project"
		return nil
	case known && where.tree:
		l.out.Head = where.head
		names, err := l.lsFiles(ctx)
		if err == nil {
			l.out.Git = true
			return l.stat(ctx, names)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l.o.Logger.Debug("git did not list the files", "root", l.root, "error", err)
	}
	if !known && isBare(l.root) {
		l.out.Note = "a bare repository: no files are checked out"
		return nil
	}
	return l.walk(ctx)
}

// isBare reports whether a directory looks like a git directory itself.
func isBare(dir string) bool {
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	info, err := os.Stat(filepath.Join(dir, "HEAD"))
	return err == nil && info.Mode().IsRegular()
}

// stat looks at the files that were named. What is gone, or is no regular file, is left out.
func (l *lister) stat(ctx context.Context, names []string) error {
	if len(names) > l.o.Most {
		names = names[:l.o.Most]
		l.full()
	}
	files := make([]File, len(names))
	workers := min(8, 2*runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	top := filepath.Join(l.root, "x")
	top = top[:len(top)-1] // Join for each file would take a tenth of the time
	share := (len(names) + workers - 1) / workers
	for from := 0; from < len(names); from += share {
		wg.Go(func() {
			for i := from; i < min(from+share, len(names)) && ctx.Err() == nil; i++ {
				info, err := os.Lstat(top + filepath.FromSlash(names[i]))
				if err == nil && info.Mode().IsRegular() {
					files[i] = File{names[i], info.Size(), info.ModTime().UnixNano()}
				}
			}
		})
	}
	wg.Wait()
	l.out.Files = slices.DeleteFunc(files, func(f File) bool { return f.Path == "" })
	return ctx.Err()
}

// full notes that not all files are listed.
func (l *lister) full() {
	l.out.Note = fmt.Sprintf("more files than are looked at: only the first %d are listed", l.o.Most)
}
