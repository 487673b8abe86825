// Package sourcefile tells whether a file that a fact names as its source has changed since
// the fact was asserted.
//
// A source names a file by its path in the project, with or without lines:
// src/auth.ts, src/auth.ts:12, src/auth.ts:12-20. [Files.Read] takes the checksum
// of those lines, or of the file's first MiB where no lines are named.
// [Files.Compare] tells whether that checksum still holds. It asks the file
// system for size and time first and reads the file only if one of them changed.
//
// What always holds:
//
//   - Only regular files inside the project are read, through an os.Root: a link
//     that leads out is an error, and so are a directory and a pipe.
//   - At most 4 MiB of a file are read. Lines beyond that are an error.
//   - A file that changes while it is read is read again, three times at most.
//   - Every error of Read is a [*Error], whose text says in a few words what is wrong.
package sourcefile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"leanctx/formats"
)

// The limits of what is read of a file.
const (
	maxWhole = 1 << 20 // bytes in the checksum of a file without lines
	maxLines = 4 << 20 // bytes that are searched for the lines
)

// State says whether a file is what it was.
type State string

// The states of a file.
const (
	Same    State = ""
	Changed State = "changed"
	Gone    State = "gone"
)

// Error says why a file that a source names cannot be checked.
type Error struct {
	Ref    string // as the source names the file
	Reason string
}

func (e *Error) Error() string { return e.Ref + " " + e.Reason }

// Files are the files of a project. It is safe for concurrent use.
type Files struct{ root string }

// New is the files of the project at root. An empty root has none.
func New(root string) *Files { return &Files{root} }

var (
	lines    = formats.Regexp(`^(.+?):([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?$`)
	filename = formats.Regexp(`^[^\s:]*[^\s:/.][^\s:/]*\.[A-Za-z][A-Za-z0-9]{0,7}$`)
)

// parse takes a reference apart; first is 0 where no lines are named.
func parse(ref string) (path string, first, last int) {
	m := lines().FindStringSubmatch(ref)
	if m == nil {
		return ref, 0, 0
	}
	first, _ = strconv.Atoi(m[2])
	last = first
	if m[3] != "" {
		last, _ = strconv.Atoi(m[3])
	}
	return m[1], first, last
}

// inside is a path relative to the project's root. ok is false for a path that
// leads out of it.
func (f *Files) inside(path string) (rel string, ok bool) {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		rel, err := filepath.Rel(f.root, path)
		if err != nil || !filepath.IsLocal(rel) {
			rel, err = throughLinks(f.root, path)
		}
		if err != nil {
			return "", false
		}
		path = rel
	}
	path = filepath.Clean(path)
	return path, filepath.IsLocal(path)
}

// throughLinks is an absolute path relative to the root, where a link leads to either.
func throughLinks(root, path string) (string, error) {
	top, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path)) // the file itself may be a link, or be gone
	if err != nil {
		return "", err
	}
	return filepath.Rel(top, filepath.Join(dir, filepath.Base(path)))
}

// Relative is a source with the absolute path of a file in the project made relative to its root: what
// is shared says nothing of where the project is on this machine. Any other source stays as it is.
func (f *Files) Relative(ref string) string {
	path, _, _ := parse(ref)
	if f.root == "" || !filepath.IsAbs(filepath.FromSlash(path)) {
		return ref
	}
	rel, ok := f.inside(path)
	if !ok || rel == "." {
		return ref
	}
	return filepath.ToSlash(rel) + ref[len(path):]
}

// Read takes the state of the file that a source names. It is nil, without an
// error, where the source does not look like the name of a file.
func (f *Files) Read(ref string) (*formats.FileState, error) {
	path, first, last := parse(ref)
	if f.root == "" || strings.TrimSpace(ref) == "" {
		return nil, nil
	}
	looks := first > 0 || filename().MatchString(path)
	rel, ok := f.inside(path)
	if !ok {
		if looks && !strings.Contains(path, "://") {
			return nil, &Error{ref, "is outside the project"}
		}
		return nil, nil
	}
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return nil, nil // the project itself is away
	}
	defer root.Close()
	st, err := read(root, rel, first, last)
	switch {
	case err == nil:
		st.Ref = filepath.ToSlash(rel) + ref[len(path):]
		return &st, nil
	case errors.Is(err, fs.ErrNotExist) && !looks:
		return nil, nil
	}
	return nil, &Error{ref, reason(err)}
}

func reason(err error) string {
	if x, ok := errors.AsType[*Error](err); ok {
		return x.Reason
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "does not exist"
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return "cannot be read: " + err.Error()
}

// Now is the state of a file that was read before. there is false where it is gone.
// A file that cannot be read has no checksum.
func (f *Files) Now(was formats.FileState) (now formats.FileState, there bool) {
	path, first, last := parse(was.Ref)
	rel, ok := f.inside(path)
	if f.root == "" || !ok {
		return formats.FileState{}, false
	}
	// Size and time alone are asked for without os.Root, which opens every directory
	// on the way. What a link outside the project answers is only compared.
	info, err := os.Stat(filepath.Join(f.root, rel))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return formats.FileState{}, false
	case err == nil && unmodified(info, was):
		return was, true
	}
	now = formats.FileState{Ref: was.Ref}
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return now, true
	}
	defer root.Close()
	if st, err := read(root, rel, first, last); err == nil {
		st.Ref = was.Ref
		return st, true
	}
	return now, true
}

// Compare reports whether a file is what it was. A file that cannot be read has changed.
func (f *Files) Compare(was formats.FileState) State {
	now, there := f.Now(was)
	switch {
	case !there:
		return Gone
	case now.Checksum != was.Checksum:
		return Changed
	}
	return Same
}

func unmodified(info fs.FileInfo, was formats.FileState) bool {
	return info.Size() == was.Size && info.ModTime().Equal(was.Modified)
}

// read takes the state of a file, again while somebody writes it.
func read(root *os.Root, rel string, first, last int) (st formats.FileState, err error) {
	for range 3 {
		before, err := root.Stat(rel)
		switch {
		case err != nil:
			return st, err
		case before.IsDir():
			return st, &Error{rel, "is a directory"}
		case !before.Mode().IsRegular():
			return st, &Error{rel, "is not a regular file"}
		}
		st = formats.FileState{Size: before.Size(), Modified: before.ModTime().UTC()}
		if st.Checksum, err = checksum(root, rel, first, last); err != nil {
			return st, err
		}
		if after, err := root.Stat(rel); err == nil && unmodified(after, st) {
			return st, nil
		}
	}
	return st, &Error{rel, "is being changed"}
}

// checksum is that of some lines, or of the file's beginning and its size.
func checksum(root *os.Root, rel string, first, last int) (string, error) {
	file, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not wait for its writer
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() { // it became a pipe since
		return "", &Error{rel, "is not a regular file"}
	}
	sum := sha256.New()
	if first == 0 {
		if _, err := io.Copy(sum, io.LimitReader(file, maxWhole)); err != nil {
			return "", err
		}
		if info.Size() > maxWhole {
			fmt.Fprintf(sum, "\n%d", info.Size())
		}
		return hex.EncodeToString(sum.Sum(nil)[:8]), nil
	}
	if last < first {
		return "", &Error{rel, fmt.Sprintf("has no lines %d-%d", first, last)}
	}
	r := bufio.NewReader(io.LimitReader(file, maxLines))
	n := 0
	for n < last {
		line, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		if len(line) == 0 || err != nil && info.Size() > maxLines {
			break // the file, or what is read of it, ends here
		}
		if n++; n >= first {
			sum.Write(bytes.TrimRight(line, "\r\n")) // a checkout may write other line ends
			sum.Write([]byte{'\n'})
		}
	}
	switch {
	case n >= last:
		return hex.EncodeToString(sum.Sum(nil)[:8]), nil
	case info.Size() > maxLines:
		return "", &Error{rel, fmt.Sprintf("is larger than %d MiB, and line %d is not within them", maxLines>>20, last)}
	}
	return "", &Error{rel, fmt.Sprintf("ends at line %d", n)}
}
