package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"leanctx/internal/prose"
)

// A repository comes from others. So a file in it is edited only where it stands, and a file
// that gets a token is one that nobody commits.

// inProject tells whether a location of the table lies in the project.
func inProject(location string) bool { return strings.HasPrefix(location, "{project}") }

// read reads the file of an edit. Below e.root it follows no link.
func (e edit) read() (file, error) {
	if e.root != "" {
		if err := withoutLinks(e.root, e.path); err != nil {
			return file{}, err
		}
	}
	return readFile(e.path)
}

// withoutLinks fails if a file or a directory on the way from root to it is a link: a repository
// could lead the edit to any file of the user.
func withoutLinks(root, path string) error {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return &FileError{Path: path, Problem: "is not in " + root}
	}
	at := root
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 { // on Windows a junction is irregular
			return &FileError{Path: at, Problem: "is a link in the project: it is not followed. Put a file or a directory in its place"}
		}
	}
	return nil
}

// uncommitted is the edit that keeps the file of another from being committed: a line in the
// repository's list of ignored files that is never shared. It is nil where there is no repository,
// and an error if the file is committed already.
func (m Machine) uncommitted(e edit) (*edit, error) {
	if !inRepository(m.Root) {
		return nil, nil
	}
	if m.Git == nil {
		return nil, &FileError{Problem: "may be committed: that cannot be told without git"}
	}
	rel, err := filepath.Rel(m.Root, e.path)
	if err != nil {
		return nil, err
	}
	rel = filepath.ToSlash(rel)
	out, err := m.Git("rev-parse", "--git-common-dir", "--show-prefix")
	if err != nil {
		return nil, &FileError{Problem: fmt.Sprintf("may be committed: git does not tell: %v", err)}
	}
	tracked, err := m.Git("ls-files", "-z", "--", ":(icase)"+rel)
	if err != nil {
		return nil, &FileError{Problem: fmt.Sprintf("may be committed: git does not tell: %v", err)}
	}
	if len(tracked) > 0 {
		return nil, &FileError{Problem: "is in git, and the token in it would be committed. Take it out of git first: git rm --cached " + rel}
	}
	// A .gitignore of the work tree goes before the list that is never shared. Without a match git fails.
	if out, err := m.Git("check-ignore", "-v", "--no-index", "--", rel); err == nil {
		rule, _, _ := strings.Cut(string(out), "\t")
		if parts := strings.SplitN(rule, ":", 3); len(parts) == 3 && strings.HasPrefix(parts[2], "!") {
			return nil, &FileError{Problem: fmt.Sprintf("would be committed with the token in it: %s line %s takes it out of what git ignores. Take that line out first", prose.ShortLine(parts[0]), parts[1])}
		}
	}
	common, prefix, _ := strings.Cut(string(out), "\n")
	dir := filepath.FromSlash(common)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(m.Root, dir)
	}
	x := edit{
		client: e.client, scope: e.scope, format: lineOfFile, protects: e.path,
		path: filepath.Join(dir, "info", "exclude"), root: dir,
		text: "/" + strings.TrimSuffix(prefix, "\n") + rel,
	}
	if rest, err := filepath.Rel(m.Root, dir); err == nil && filepath.IsLocal(rest) {
		x.root = m.Root
	}
	return &x, nil
}

// exposed says who else can read the token in an entry, or nothing.
func (m Machine) exposed(e edit, f file, entry map[string]any) string {
	if entry["headers"] == nil && entry["http_headers"] == nil {
		return ""
	}
	if f.mode&0o077 != 0 && m.system() != "windows" {
		return fmt.Sprintf("holds a token, and others can read it (%o)", f.mode)
	}
	if _, err := m.uncommitted(e); err != nil && e.root != "" {
		if x, ok := errors.AsType[*FileError](err); ok {
			return "holds a token: it " + x.Problem
		}
	}
	return ""
}

// inRepository tells whether a directory or one above it has a .git.
func inRepository(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, ".git")) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// withLine is a file with a line more, or as it is if it has the line. A file whose last line has no
// end keeps it so: then lines can be taken out in any order, to the byte.
func withLine(data []byte, line string) []byte {
	if lineAt(data, line) >= 0 {
		return data
	}
	nl := newlineOf(data)
	if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
		return append(bytes.Clone(data), nl+line...)
	}
	return append(bytes.Clone(data), line+nl...)
}

// withoutLine is a file without the last line of that text.
func withoutLine(data []byte, line string) []byte {
	at := lineAt(data, line)
	if at < 0 {
		return data
	}
	before, after := data[:at], bytes.TrimPrefix(data[at+len(line):], []byte("\r"))
	if rest, ended := bytes.CutPrefix(after, []byte("\n")); ended {
		return append(bytes.Clone(before), rest...)
	}
	return bytes.Clone(bytes.TrimSuffix(bytes.TrimSuffix(before, []byte("\n")), []byte("\r")))
}

// lineAt is where the last line of that text begins, or -1.
func lineAt(data []byte, line string) int {
	at, found := 0, -1
	for text := range bytes.Lines(data) {
		if string(bytes.TrimRight(text, "\r\n")) == line {
			found = at
		}
		at += len(text)
	}
	return found
}
