// Package sourcefile tells whether a file that a fact names as its source has changed since
// the fact was asserted.
//
// A source names a file by its path in the project, with or without lines:
// src/auth.ts, src/auth.ts:12, src/auth.ts:12-20. [Files.Read] takes the checksum
// of those lines, or of the file's first MiB where no lines are named.
// [Files.Compare] tells whether that checksum still holds. It asks the file
// system for size and time first and reads the file only if one of them changed.
//
// # Paths
//
// A source is kept relative to the root of its work tree, so that it holds in every clone and says
// nothing of this machine. It may be named from a directory in the project, by an absolute path,
// through a symbolic link, or in another work tree of the project; see [Files.Relative]. A file
// is looked for in the caller's work tree first. It is gone if none of them has it.
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

// Read takes the state of the file that a source names, and gives the source as it is kept: see
// [Files.Relative]. A relative path starts at the caller's directory if there is such a file, else
// at the root. The state is nil, without an error, where the source does not look like the name of a file.
func (f *Files) Read(ref string) (name string, state *formats.FileState, err error) {
	if f.root == "" || strings.TrimSpace(ref) == "" {
		return ref, nil, nil
	}
	name, tree := f.named(ref)
	path, first, last := parse(name)
	looks := first > 0 || filename().MatchString(path)
	rel := filepath.Clean(filepath.FromSlash(path))
	if !filepath.IsLocal(rel) {
		if looks && !strings.Contains(path, "://") {
			return name, nil, &Error{name, "is outside the project"}
		}
		return name, nil, nil
	}
	for _, tree := range f.tops(tree) {
		root, e := os.OpenRoot(tree)
		if e != nil {
			continue // it is away
		}
		var st formats.FileState
		st, err = read(root, rel, first, last)
		_ = root.Close() // it was only read
		if err == nil {
			st.Ref = filepath.ToSlash(rel) + name[len(path):]
			return name, &st, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	switch {
	case err == nil: // the project itself is away
		return name, nil, nil
	case errors.Is(err, fs.ErrNotExist) && !looks:
		return name, nil, nil
	}
	return name, nil, &Error{name, reason(err)}
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

// Now is the state of a file that was read before. there is false where no work tree has it.
// A file that cannot be read has no checksum.
func (f *Files) Now(was formats.FileState) (now formats.FileState, there bool) {
	path, first, last := parse(was.Ref)
	if filepath.IsAbs(path) { // a former version wrote it
		path, first, last = parse(f.Relative(was.Ref))
	}
	rel := filepath.Clean(filepath.FromSlash(path))
	if f.root == "" || !filepath.IsLocal(rel) {
		return formats.FileState{}, false
	}
	tree, _ := f.where()
	if now, there := nowIn(tree, rel, first, last, was); there {
		return now, true
	}
	for _, other := range f.tops(tree)[1:] {
		if now, there := nowIn(other, rel, first, last, was); there {
			return now, true
		}
	}
	return formats.FileState{}, false
}

// nowIn is [Files.Now] in one work tree.
func nowIn(tree, rel string, first, last int, was formats.FileState) (now formats.FileState, there bool) {
	// Size and time alone are asked for without os.Root, which opens every directory
	// on the way. What a link outside the project answers is only compared.
	info, err := os.Stat(filepath.Join(tree, rel))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return formats.FileState{}, false
	case err == nil && unmodified(info, was):
		return was, true
	}
	now = formats.FileState{Ref: was.Ref}
	root, err := os.OpenRoot(tree)
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
