// Package atomicfile writes a file as a whole: beside its place, under a temporary name, which
// it then exchanges for the real one. A reader finds the former content or the new one, never
// a part. A write that fails leaves the former file, and no other.
//
// Symbolic links are not followed: a link is replaced by the file. The directory must exist.
package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Options says how a file is written.
type Options struct {
	Mode fs.FileMode // 0: only the user may read and write it
	// Sync puts the content on disk before it gets its name, and the name before Write
	// returns. Without it a power failure may leave an empty file: for caches only.
	Sync bool
	// New replaces nothing: the error is [fs.ErrExist] if the file is there.
	New bool
}

// WriteFile writes data to a file.
func WriteFile(path string, data []byte, o Options) error {
	return Write(path, o, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Write writes to a file what content writes. If content fails, the file stays as it is.
func Write(path string, o Options, content func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), Temporary(filepath.Base(path))) // mode 0600
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: "write", Path: path, Err: e.Err} // nobody knows the temporary name
	}
	if err != nil {
		return err
	}
	defer func() {
		if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path == f.Name() {
			err = &fs.PathError{Op: e.Op, Path: path, Err: e.Err}
		}
		if err != nil || o.New {
			if gone := os.Remove(f.Name()); !errors.Is(gone, fs.ErrNotExist) { // after a rename it is
				err = errors.Join(err, gone)
			}
		}
	}()
	buffer := bufio.NewWriterSize(f, 1<<16)
	if err = content(buffer); err == nil {
		err = buffer.Flush()
	}
	if err == nil && o.Mode != 0 {
		if err = f.Chmod(o.Mode); errors.Is(err, errors.ErrUnsupported) {
			err = nil
		}
	}
	if err == nil && o.Sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if o.New {
		err = os.Link(f.Name(), path) // unlike a rename it replaces nothing
	} else {
		err = rename(f.Name(), path)
	}
	if err == nil && o.Sync {
		err = syncDir(filepath.Dir(path))
	}
	return err
}

// Temporary is the pattern of the temporary names of a file. A killed process leaves one.
func Temporary(name string) string { return ".tmp-" + name + "-*" }

// rename renames a file within its directory. An os.Root replaces a file on Windows that others
// have open through one.
func rename(from, to string) error {
	root, err := os.OpenRoot(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer root.Close()
	return RetryBusy(func() error { return root.Rename(filepath.Base(from), filepath.Base(to)) })
}

// syncDir makes a new name durable. Windows and some file systems cannot sync a directory:
// there nothing can be done about it.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err = d.Sync(); errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
