package args

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

var errIrregular = errors.New("is no regular file; a pipe or a device can be given as -, with its content on standard input")

// File reads a regular file of at most some bytes. It neither waits for a pipe nor follows a
// link out of the project at root ([Inside]). Other errors than those of the file system say
// what is wrong with the file, without its name.
func File(root, name string, most int64) ([]byte, error) {
	if err := Inside(root, name); err != nil {
		return nil, err
	}
	if info, err := os.Stat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errIrregular
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // it became a pipe since
		return nil, errIrregular
	case info.Size() > most:
		return nil, TooLarge(most)
	}
	return Bounded(f, most)
}

// Bounded reads all of at most some bytes.
func Bounded(r io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		err = TooLarge(most)
	}
	return text, err
}

// ErrTooLarge is in the errors about a file that is too large.
var ErrTooLarge = errors.New("is too large")

type tooLarge int64

func (e tooLarge) Error() string      { return fmt.Sprintf("has more than %d MiB", e>>20) }
func (tooLarge) Is(target error) bool { return target == ErrTooLarge }

// TooLarge is the error about a file of more than some bytes.
func TooLarge(most int64) error { return tooLarge(most) }

// Inside returns an error if a name that lies in the project at root leads out of it over a
// link. A file that lies elsewhere was named as such.
func Inside(root, name string) error {
	abs, err := filepath.Abs(name)
	if err != nil || root == "" || !lies(root, abs) {
		return nil
	}
	real, err := followed(abs)
	if err != nil {
		return nil // opening it says so
	}
	if top, err := followed(root); err == nil && !lies(top, real) {
		return fmt.Errorf("is a link that leads out of the project %s", root)
	}
	return nil
}

// lies reports whether a path is the directory or in it.
func lies(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
