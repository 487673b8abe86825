package formats

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// What the readers of other programs' files share.

// PathIn is a file's path from the root of a project, with slashes. ok is false where
// the file is outside it, or there is no root.
func PathIn(root, file string) (path string, ok bool) {
	abs, err := filepath.Abs(file)
	if err != nil || root == "" {
		return "", false
	}
	path, err = filepath.Rel(root, abs)
	if err != nil || !filepath.IsLocal(path) {
		return "", false
	}
	return filepath.ToSlash(path), true
}

// Words are the words of a text that a name is made of: letters and digits of any
// script, in lower case.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Regexp is an expression that is compiled when it is first used: every command links
// the readers, and few read a file.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
