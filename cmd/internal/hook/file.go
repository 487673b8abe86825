package hook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"leanctx/internal/atomicfile"
)

// file is a file as it was read.
type file struct {
	path string // behind links
	data []byte
	mode fs.FileMode
	new  bool // it does not exist yet
}

// target follows symbolic links, also to a file that does not exist yet. People keep their
// configuration files in a repository and link to them.
func target(path string) (string, error) {
	for range 40 {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil // it is no link
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", &FileError{Path: path, Problem: "too many links"}
}

// maxBytes is the largest file that is taken for a configuration.
const maxBytes = 64 << 20

func readFile(path string) (file, error) {
	to, err := target(path)
	if err != nil {
		return file{}, err
	}
	info, err := os.Stat(to)
	if errors.Is(err, fs.ErrNotExist) {
		return file{path: to, new: true}, nil
	}
	switch {
	case err != nil:
		return file{}, err
	case info.IsDir():
		return file{}, &FileError{Path: path, Problem: "is a directory"}
	case !info.Mode().IsRegular():
		return file{}, &FileError{Path: path, Problem: "is not a regular file"}
	case info.Size() > maxBytes:
		return file{}, &FileError{Path: path, Problem: "is too large for a configuration"}
	}
	data, err := os.ReadFile(to)
	return file{path: to, data: data, mode: info.Mode().Perm()}, err
}

// sameDir reports whether two paths lead to one directory.
func sameDir(a, b string) bool {
	if a == b {
		return true
	}
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// missingDirs are the directories above a file that do not exist, the outermost first.
func missingDirs(path string) (dirs []string) {
	for dir := filepath.Dir(path); !exists(dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		dirs = append([]string{dir}, dirs...)
	}
	return dirs
}

// removeDirs removes directories that are empty, the innermost first.
func removeDirs(dirs []string) {
	for _, d := range slices.Backward(dirs) {
		if err := os.Remove(d); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return // it is not empty
		}
	}
}

// write replaces the file. It fails if the file has changed since it was read.
func (f file) write(data []byte) error {
	return atomicfile.Write(f.path, atomicfile.Options{Mode: f.mode, Sync: true}, func(w io.Writer) error {
		_, err := w.Write(data)
		return errors.Join(err, f.unchanged())
	})
}

// unchanged fails if the file has changed since it was read.
func (f file) unchanged() error {
	now, err := os.ReadFile(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.new:
		return nil
	case err != nil:
		return err
	case f.new || !bytes.Equal(now, f.data):
		return &FileError{Path: f.path, Problem: "was changed by somebody else meanwhile: run this again"}
	}
	return nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// FileError says why a file is left as it is.
type FileError struct {
	Path    string
	Line    int // from 1; 0: the whole file
	Column  int
	Problem string
}

func (e *FileError) Error() string {
	at := e.Path
	if e.Line > 0 {
		at += fmt.Sprintf(":%d:%d", e.Line, max(e.Column, 1))
	}
	return at + ": " + e.Problem
}
