package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// files is what the journal asks of a directory, and the seam at which tests
// inject faults.
type files interface {
	open(name string, flag int) (file, error)
	stat(name string) (fs.FileInfo, error)
	rename(from, to string) error
	link(from, to string) error
	remove(name string) error
	syncDir() error
	list() ([]fs.DirEntry, error)
}

// file is an open one of them.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	Stat() (fs.FileInfo, error)
	Fd() uintptr
}

// rootFiles meets files through an os.Root, so that no name, and no symbolic
// link put there by someone else, leads out of the directory.
type rootFiles struct{ root *os.Root }

func (r rootFiles) open(name string, flag int) (file, error) {
	var f *os.File
	err := patiently(func() (err error) {
		f, err = r.root.OpenFile(name, flag, 0o600)
		return err
	})
	if err != nil {
		return nil, err // a nil *os.File must not become a non-nil file
	}
	// Where a directory has no size it would be read as an empty file.
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	}
	return f, nil
}

func (r rootFiles) stat(name string) (fs.FileInfo, error) { return r.root.Stat(name) }
func (r rootFiles) link(from, to string) error            { return r.root.Link(from, to) }
func (r rootFiles) syncDir() error                        { return syncDir(r.root) }

func (r rootFiles) rename(from, to string) error {
	return patiently(func() error { return r.root.Rename(from, to) })
}

func (r rootFiles) remove(name string) error {
	return patiently(func() error { return r.root.Remove(name) })
}

func (r rootFiles) list() ([]fs.DirEntry, error) { return fs.ReadDir(r.root.FS(), ".") }

// faultyFiles asks a hook before every operation that changes something.
type faultyFiles struct {
	files
	fault func(op, name string) error
}

func (f faultyFiles) open(name string, flag int) (file, error) {
	if flag&os.O_CREATE != 0 {
		if _, err := f.stat(name); errors.Is(err, fs.ErrNotExist) {
			if err := f.fault("create", name); err != nil {
				return nil, &fs.PathError{Op: "create", Path: name, Err: err}
			}
		}
	}
	of, err := f.files.open(name, flag)
	if err != nil {
		return nil, err
	}
	return &faultyFile{file: of, name: name, fault: f.fault}, nil
}

func (f faultyFiles) rename(from, to string) error {
	if err := f.fault("rename", to); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return f.files.rename(from, to)
}

func (f faultyFiles) link(from, to string) error {
	if err := f.fault("link", to); err != nil {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: err}
	}
	return f.files.link(from, to)
}

func (f faultyFiles) remove(name string) error {
	if err := f.fault("remove", name); err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return f.files.remove(name)
}

func (f faultyFiles) syncDir() error {
	if err := f.fault("sync", "."); err != nil {
		return &fs.PathError{Op: "sync", Path: ".", Err: err}
	}
	return f.files.syncDir()
}

type faultyFile struct {
	file
	name  string
	fault func(op, name string) error
}

func (f *faultyFile) WriteAt(p []byte, off int64) (int, error) {
	err := f.fault("write", f.name)
	if err == nil {
		return f.file.WriteAt(p, off)
	}
	n := 0
	if short, ok := errors.AsType[*ShortWrite](err); ok {
		n, _ = f.file.WriteAt(p[:min(short.Bytes, len(p))], off)
		err = short.Err
	}
	return n, &fs.PathError{Op: "write", Path: f.name, Err: err}
}

func (f *faultyFile) Truncate(size int64) error {
	if err := f.fault("truncate", f.name); err != nil {
		return &fs.PathError{Op: "truncate", Path: f.name, Err: err}
	}
	return f.file.Truncate(size)
}

func (f *faultyFile) Sync() error {
	if err := f.fault("sync", f.name); err != nil {
		return &fs.PathError{Op: "sync", Path: f.name, Err: err}
	}
	return f.file.Sync()
}

// readAll reads what a file holds now.
func readAll(f file) ([]byte, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readRange(f, 0, fi.Size())
}

// readRange reads from one offset to another, or to the end if that comes first.
func readRange(f file, from, to int64) ([]byte, error) {
	b := make([]byte, to-from)
	n, err := f.ReadAt(b, from)
	if err == io.EOF {
		err = nil
	}
	return b[:n], err
}

// readName reads a whole file.
func readName(fsys files, name string) ([]byte, error) {
	f, err := fsys.open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f)
}

// writeName makes a file with the given content and syncs it, so that a rename
// that follows never gives a name to bytes that are not on disk.
func writeName(fsys files, name string, text []byte) error {
	f, err := fsys.open(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(text, 0)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// removeIfThere removes a file that may not exist.
func removeIfThere(fsys files, name string) error {
	if err := fsys.remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// makeDir makes a directory and those above it, and syncs the parent of each
// one made: otherwise a power cut takes the directory, and every commit that
// was synced inside it.
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
