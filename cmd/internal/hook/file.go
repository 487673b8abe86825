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

// mostLinks is the most symbolic links that are followed in a row.
const mostLinks = 40

// target follows symbolic links, also to a file that does not exist yet. People keep their
// configuration files in a repository and link to them.
func target(path string) (string, error) {
	for range mostLinks {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", fmt.Errorf("%s: too many links", path)
}

// mostBytes is the largest file that is taken for a configuration.
const mostBytes = 64 << 20

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
	case info.Size() > mostBytes:
		return file{}, &FileError{Path: path, Problem: "is too large for a configuration"}
	}
	data, err := os.ReadFile(to)
	return file{path: to, data: data, mode: info.Mode().Perm()}, err
}

// sameDir tells whether two paths lead to one directory.
func sameDir(a, b string) bool {
	if a == b {
		return true
	}
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// makeDirs makes the directory of a file and its parents. It returns the new ones, the
// outermost first.
func makeDirs(path string, mode fs.FileMode) (made []string, err error) {
	var missing []string
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		missing = append(missing, dir)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := os.Mkdir(missing[i], mode); err != nil {
			return made, err
		}
		made = append(made, missing[i])
	}
	return made, nil
}

func removeDirs(dirs []string) {
	for _, d := range slices.Backward(dirs) {
		if os.Remove(d) != nil {
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
