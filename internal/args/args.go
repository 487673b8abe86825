// Package args reads what several stores take as an argument: a path in the project, an
// agent's id.
package args

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
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

// The most that a regular expression of an argument has. The time to look for it grows with its steps and with the text.
const (
	maxRegexp = 1000 // bytes
	maxSteps  = 2000
)

// MaxSearch is how long a search by a regular expression goes on. Then it tells how far it came.
const MaxSearch = 10 * time.Second

// Regexp is the regular expression (RE2) of an argument called regexp, which must be given. Errors are a
// [refusal.ArgumentError] about it.
func Regexp(text string) (*regexp.Regexp, error) {
	if err := refusal.Required("regexp", text); err != nil {
		return nil, err
	}
	if len(text) > maxRegexp {
		return nil, refusal.Argument("regexp", "regexp has %d bytes, more than %d", len(text), maxRegexp)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, refusal.Argument("regexp", "regexp %q: %v", prose.Clip(text, 60), err)
	}
	if Steps(tree, maxSteps+1) > maxSteps {
		return nil, refusal.Argument("regexp", "regexp %q repeats too much: give one without large counts", prose.Clip(text, 60))
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, refusal.Argument("regexp", "regexp %q: %v", prose.Clip(text, 60), err)
	}
	return re, nil
}

// Search is a search through many texts, which ends.
type Search struct {
	Context context.Context
	Until   time.Time
}

// Goes reports whether it goes on with the next text.
func (s *Search) Goes() bool { return s.Context.Err() == nil && time.Now().Before(s.Until) }

// Steps is how many instructions a regular expression has, as far as most.
func Steps(x *syntax.Regexp, most int) int {
	n := 1
	switch x.Op {
	case syntax.OpLiteral:
		n = len(x.Rune)
	case syntax.OpRepeat:
		n = 0
	case syntax.OpCapture, syntax.OpAlternate:
		n = 1 + len(x.Sub)
	}
	for _, sub := range x.Sub {
		if n += Steps(sub, most); n >= most {
			return most
		}
	}
	if x.Op == syntax.OpRepeat {
		n *= max(x.Min, x.Max, 1)
	}
	return min(n, most)
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
