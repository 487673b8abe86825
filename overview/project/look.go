package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"leanctx/internal/refusal"
)

const (
	idFileName = ".lean-ctx-id"
	idMost     = 256 // characters of an identity
	smallFile  = 4 << 10
)

// look sees what can be seen at a path without running git.
func (p *Atlas) look(path string) (*sight, error) {
	dir, err := startDir(path)
	if err != nil {
		return nil, err
	}
	s := &sight{root: dir, now: p.o.Now()}
	s.Root = dir
	for at := dir; ; {
		found, err := s.mark(at)
		if err != nil {
			return nil, err
		}
		up := filepath.Dir(at)
		if found || up == at {
			break
		}
		at = up
	}
	s.root, s.Root = slashed(s.root), slashed(s.Root)
	if s.common == "" {
		return s, nil
	}
	s.head, s.Remote, s.born = s.GitDir, readRemote(s.common), born(s.GitDir, s.common)
	if p.o.Worktrees == "share" {
		s.GitDir = s.common
		if root := mainTree(s.common); root != "" {
			s.Root = slashed(root)
		}
	}
	s.Birth = birth(s.GitDir)
	s.GitDir = slashed(s.GitDir)
	return s, nil
}

// startDir is the directory to look upwards from, with symbolic links resolved.
func startDir(path string) (string, error) {
	if path == "" {
		path = "."
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("the working directory is gone; change to one that exists or name the project: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no directory %s: %w", abs, err)
	}
	if isNotDir(err) {
		return "", noDirectory(abs)
	}
	if err != nil {
		return "", fmt.Errorf("the project at %s cannot be told: %w", abs, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("the project at %s cannot be told: %w", abs, err)
	}
	if !info.IsDir() {
		return "", noDirectory(abs)
	}
	return real, nil
}

// noDirectory refuses a file: its directory may be anything, /etc even, and was not meant.
func noDirectory(name string) error {
	return refusal.Argument("project", "%s is no directory: a project is named by a directory in it", name)
}

// mark reports whether a directory is where a project begins, and notes what says so.
func (s *sight) mark(dir string) (bool, error) {
	id, err := readID(dir)
	if err != nil {
		return false, err
	}
	gitDir, err := gitDirOf(dir)
	if err != nil && id == "" {
		return false, err
	}
	if id == "" && gitDir == "" {
		return false, nil
	}
	s.ID, s.root, s.Root = id, dir, dir
	if gitDir == "" {
		return true, nil
	}
	if filepath.Base(gitDir) == ".git" && filepath.Dir(gitDir) != dir && within(dir, gitDir) {
		s.root, s.Root = filepath.Dir(gitDir), filepath.Dir(gitDir) // inside of the git directory itself
	}
	s.GitDir, s.common = gitDir, commonDir(gitDir)
	return true, nil
}

func within(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, parent+string(filepath.Separator))
}

// readID reads the identity file of a directory; an identity is opaque, it only must be one line
// of text that a person could have meant.
func readID(dir string) (string, error) {
	name := filepath.Join(dir, idFileName)
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || isNotDir(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	bad := func(what string) (string, error) {
		return "", fmt.Errorf("%s %s: it must hold one line, 1 to %d characters, that names the project; mend or remove it", slashed(name), what, idMost)
	}
	if !info.Mode().IsRegular() {
		return bad("is no file")
	}
	text, err := readSmall(name)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	switch {
	case id == "":
		return bad("is empty")
	case len(text) >= smallFile, utf8.RuneCountInString(id) > idMost:
		return bad("is too long")
	case !utf8.ValidString(id):
		return bad("is not UTF-8")
	case strings.ContainsAny(id, "\r\n"):
		return bad("has more than one line")
	case strings.ContainsFunc(id, func(c rune) bool { return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' }):
		return bad("has control characters")
	}
	return id, nil
}

func (s *sight) idFile() string { return s.root + "/" + idFileName }

// readSmall reads the first few KiB of a regular file.
func readSmall(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, smallFile))
	return string(data), err
}

// absolute is a path as it is recorded, whether it exists or not.
func absolute(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	} else if real, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(real, filepath.Base(abs))
	}
	return slashed(abs), nil
}

func slashed(name string) string { return normalPath(name, runtime.GOOS == "windows") }

// normalPath is the one spelling of an absolute path: slashes forward, no slash at the end, the
// drive's letter a capital, no \\?\ in front.
func normalPath(name string, windows bool) string {
	if windows {
		name = strings.ReplaceAll(name, `\`, "/")
		if rest, ok := strings.CutPrefix(name, "//?/UNC/"); ok {
			name = "//" + rest
		}
		name = strings.TrimPrefix(name, "//?/")
		if len(name) >= 2 && name[1] == ':' {
			name = strings.ToUpper(name[:1]) + name[1:]
		}
		if len(name) == 3 && name[1] == ':' {
			return name // C:/
		}
	}
	if len(name) > 1 {
		name = strings.TrimRight(name, "/")
	}
	return name
}

// projectName is the last component of a root.
func projectName(root string) string {
	name := strings.TrimSuffix(path.Base(root), ".git")
	if name == "" || name == "." || name == "/" {
		return root
	}
	return name
}

// standing reports whether something of a recorded place is there. What cannot be seen is
// taken to be there.
func (p Place) standing() bool {
	name := p.GitDir
	if name == "" {
		name = p.Root
	}
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist) && !isNotDir(err)
}

// birth is a mark of a git directory that stays when it is moved or worked in, and that another one
// made in its place would not have: when the file that git writes once, at the beginning, was
// written. Where git has no templates there is no such file: then it is a directory's time that only git's
// housekeeping changes. Empty if there is none.
func birth(gitDir string) string {
	for _, name := range []string{"description", "commondir", "objects/info", "config"} {
		if info, err := os.Stat(filepath.Join(gitDir, name)); err == nil {
			return info.ModTime().UTC().Format(time.RFC3339Nano)
		}
	}
	return ""
}

// coarse reports whether a birth mark is of whole seconds: of a file system, or an archive, that knows
// no better, where others may have it by chance.
func coarse(birth string) bool { return !strings.Contains(birth, ".") }
