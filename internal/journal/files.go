package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"leanctx/internal/atomicfile"
)

// files are the operations on the files of a directory. They go through an os.Root, so that no
// name, and no symbolic link put there by someone else, leads out of it. Tests inject faults here.
type files struct {
	root  *os.Root
	fault func(op, name string) error // Options.Fault
}

// ShortWrite, returned by Options.Fault before a write, lets the first Bytes
// bytes through and then fails with Err, as a full disk does.
type ShortWrite struct {
	Bytes int
	Err   error
}

func (e *ShortWrite) Error() string { return fmt.Sprintf("short write: %v", e.Err) }

// Unwrap returns Err.
func (e *ShortWrite) Unwrap() error { return e.Err }

// check is called before every operation that changes something.
func (d files) check(op, name string) error {
	if d.fault == nil {
		return nil
	}
	if err := d.fault(op, name); err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

func (d files) open(name string, flag int) (*file, error) {
	if flag&os.O_CREATE != 0 && d.fault != nil {
		if _, err := d.stat(name); errors.Is(err, fs.ErrNotExist) {
			if err := d.check("create", name); err != nil {
				return nil, err
			}
		}
	}
	var f *os.File
	err := atomicfile.RetryBusy(func() (err error) {
		f, err = d.root.OpenFile(name, flag, 0o600)
		return err
	})
	if err != nil {
		return nil, err
	}
	// Where a directory has no size it would be read as an empty file.
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	}
	return &file{f, d, name}, nil
}

func (d files) stat(name string) (fs.FileInfo, error) { return d.root.Stat(name) }

func (d files) rename(from, to string) error {
	if err := d.check("rename", to); err != nil {
		return err
	}
	return atomicfile.RetryBusy(func() error { return d.root.Rename(from, to) })
}

// linkOrRename gives a file a second name, or, where a file can have only one,
// another name.
func (d files) linkOrRename(from, to string) error {
	if d.check("link", to) == nil && d.root.Link(from, to) == nil {
		return nil
	}
	return d.rename(from, to)
}

// remove removes a file that may not exist.
func (d files) remove(name string) error {
	err := d.check("remove", name)
	if err == nil {
		err = atomicfile.RetryBusy(func() error { return d.root.Remove(name) })
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// sync makes the names in the directory durable.
func (d files) sync() error {
	if err := d.check("sync", "."); err != nil {
		return err
	}
	return syncDir(d.root)
}

// read reads a whole file.
func (d files) read(name string) ([]byte, error) {
	f, err := d.open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.readAll()
}

// write makes a file with the given content and syncs it. So a rename that follows never
// gives a name to bytes that are not on disk. A file that could not be written whole is removed.
func (d files) write(name string, text []byte) error {
	return d.writeWith(name, func(f *file) error {
		_, err := f.WriteAt(text, 0)
		return err
	})
}

// writeWith is write for content that fill writes.
func (d files) writeWith(name string, fill func(*file) error) error {
	f, err := d.open(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	if err = fill(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = d.remove(name) // the next write of that name would replace it
	}
	return err
}

// extend appends to a file, which may be new, and syncs it and its name.
func (d files) extend(name string, text []byte) error {
	f, err := d.open(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	fi, err := f.Stat()
	if err == nil {
		if _, err = f.WriteAt(text, fi.Size()); err == nil {
			err = f.Sync()
		}
		if err != nil {
			_ = f.Truncate(fi.Size()) // what is added next begins a line
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return d.sync()
}

// file is an open file.
type file struct {
	*os.File
	files files
	name  string
}

// WriteAt is that of the file, unless a test has it fail.
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	err := f.files.check("write", f.name)
	if err == nil {
		return f.File.WriteAt(p, off)
	}
	n := 0
	if short, ok := errors.AsType[*ShortWrite](err); ok {
		n, _ = f.File.WriteAt(p[:min(short.Bytes, len(p))], off)
	}
	return n, err
}

// Truncate is that of the file, unless a test has it fail.
func (f *file) Truncate(size int64) error {
	if err := f.files.check("truncate", f.name); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// Sync is that of the file, unless a test has it fail.
func (f *file) Sync() error {
	if err := f.files.check("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

// readAll reads what the file holds now.
func (f *file) readAll() ([]byte, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return f.readRange(0, fi.Size())
}

// readRange reads from one offset to another, or to the end if that comes first.
func (f *file) readRange(from, to int64) ([]byte, error) {
	b := make([]byte, max(0, to-from))
	n, err := f.ReadAt(b, from)
	if err == io.EOF {
		err = nil
	}
	return b[:n], err
}

// makeDir makes a directory and those above it, and syncs the parent of each new one. Otherwise
// a power cut could take the directory with every commit that was synced inside it.
func makeDir(dir string) error {
	dir = filepath.Clean(dir)
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	root, err := os.OpenRoot(parent)
	if err != nil {
		return err
	}
	defer root.Close()
	return syncDir(root)
}
