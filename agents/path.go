package agents

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

const maxPath = 4096 // bytes

// leaseKey is how paths are compared: as the file system does where that
// pays no heed to case.
func leaseKey(path string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(path)
	}
	return path
}

// place is a path within the project, relative to its root and with slashes.
// Symbolic links are followed, so that a file has one name; it need not exist.
func (s *Store) place(path string) (string, error) {
	given := strings.TrimSpace(path)
	switch {
	case given == "":
		return "", refusal.Argument("path", "needs path")
	case len(given) > maxPath:
		return "", refusal.Argument("path", "path has %d bytes, more than %d", len(given), maxPath)
	case strings.ContainsRune(given, 0) || !utf8.ValidString(given):
		return "", refusal.Argument("path", "path %q is no file name", prose.Clip(given, maxWord))
	}
	root := s.opts.ProjectRoot
	if root == "" {
		root = string(filepath.Separator)
	}
	abs := filepath.FromSlash(given)
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(root, abs)
	}
	if rel, err := filepath.Rel(root, filepath.Clean(abs)); err == nil && filepath.IsLocal(rel) {
		abs = filepath.Join(root, rel)
	}
	real, err := followed(abs)
	if err != nil {
		return "", refusal.Argument("path", "path %q cannot be followed: %v", prose.Clip(given, maxWord), err)
	}
	if r, err := followed(root); err == nil {
		root = r
	}
	rel, err := filepath.Rel(root, real)
	if err != nil || !filepath.IsLocal(rel) {
		return "", refusal.Argument("path", "path %q is outside the project %s", prose.Clip(given, maxWord), s.opts.ProjectRoot)
	}
	return filepath.ToSlash(rel), s.plain("path", filepath.ToSlash(rel))
}

// plain refuses a name that holds a secret: it stands for something, so nothing
// can be taken out of it. The error does not repeat it.
func (s *Store) plain(argument, name string) error {
	if _, found := s.redact(name); len(found) > 0 {
		return refusal.Argument(argument, "%s holds what looks like a secret (%s): it would be shown to every agent", argument, strings.Join(found, ", "))
	}
	return nil
}

var errNowhere = errors.New("a symbolic link in it leads nowhere")

// followed is a path without symbolic links, as far as it exists.
func followed(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if fi, err := os.Lstat(path); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		return "", errNowhere
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path, nil
	}
	if dir, err = followed(dir); err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}
