package arg

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// MaxPath is how many bytes a path has at most.
const MaxPath = 4096

// Path is a path within the project at root, relative to it and with slashes.
// Symbolic links are followed, so that a file has one name; it need not exist.
func Path(root, path string) (string, error) {
	project, given := root, strings.TrimSpace(path)
	switch {
	case given == "":
		return "", refusal.Argument("path", "needs path")
	case len(given) > MaxPath:
		return "", refusal.Argument("path", "path has %d bytes, more than %d", len(given), MaxPath)
	case strings.ContainsRune(given, 0) || !utf8.ValidString(given):
		return "", refusal.Argument("path", "path %q is no file name", prose.Clip(given, maxWord))
	}
	if root == "" {
		root = string(filepath.Separator)
	}
	abs := filepath.FromSlash(given)
	switch {
	case filepath.IsAbs(abs):
	case os.IsPathSeparator(abs[0]): // on Windows: from the top of the drive
		abs = filepath.VolumeName(root) + abs
	default:
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
		return "", refusal.Argument("path", "path %q is outside the project %s", prose.Clip(given, maxWord), project)
	}
	return filepath.ToSlash(rel), nil
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
