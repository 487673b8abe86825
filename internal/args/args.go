// Package args reads what several stores take as an argument: a path in the project, an
// agent's id.
package args

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// AgentType is the type of an agent by its id, which is the type and four or more hex digits.
// It is empty for a name that is no id.
func AgentType(id string) string {
	i := strings.LastIndexByte(id, '-')
	if i < 1 || len(id)-i <= 4 || strings.Trim(id[i+1:], "0123456789abcdef") != "" {
		return ""
	}
	return id[:i]
}

// maxRegexp is the most bytes of a regular expression.
const maxRegexp = 1000

// Regexp is the regular expression (RE2) of an argument called regexp, which must be given. Errors are a
// [refusal.ArgumentError] about it.
func Regexp(text string) (*regexp.Regexp, error) {
	if err := refusal.Required("regexp", text); err != nil {
		return nil, err
	}
	if len(text) > maxRegexp {
		return nil, refusal.Argument("regexp", "regexp has %d bytes, more than %d", len(text), maxRegexp)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, refusal.Argument("regexp", "regexp %q: %v", prose.Clip(text, 60), err)
	}
	return re, nil
}

// MaxPath is the maximum length of a path in bytes.
const MaxPath = 4096

// Path is a path relative to the project at root, with slashes. It follows symbolic links, so
// that a file has one name. The file need not exist. The error is what is wrong with the path,
// without its name.
func Path(root, given string) (string, error) {
	switch {
	case len(given) > MaxPath:
		return "", fmt.Errorf("has %d bytes, more than %d", len(given), MaxPath)
	case strings.ContainsRune(given, 0) || !utf8.ValidString(given):
		return "", errors.New("is not a valid file name")
	}
	project := root
	if root == "" {
		root = string(filepath.Separator)
	}
	abs := filepath.FromSlash(given)
	switch {
	case filepath.IsAbs(abs):
	case abs != "" && os.IsPathSeparator(abs[0]): // on Windows: from the top of the drive
		abs = filepath.VolumeName(root) + abs
	default:
		abs = filepath.Join(root, abs)
	}
	if rel, err := filepath.Rel(root, filepath.Clean(abs)); err == nil && filepath.IsLocal(rel) {
		abs = filepath.Join(root, rel)
	}
	real, err := followed(abs)
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		err = named.Err
	}
	if err != nil {
		return "", fmt.Errorf("cannot be resolved: %w", err)
	}
	if r, err := followed(root); err == nil {
		root = r
	}
	rel, err := filepath.Rel(root, real)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("is outside the project %s", project)
	}
	return filepath.ToSlash(rel), nil
}

var errNowhere = errors.New("it contains a broken symbolic link")

// followed resolves the symbolic links in a path, as far as the path exists.
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
