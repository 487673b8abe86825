package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// disk is the files of a log: all that has to do with bytes and nothing that
// has to do with states and events.
type disk struct {
	dir     string
	o       *Options
	n       names
	root    *os.Root // nil until the directory is there
	fs      files    // on root
	lock    fileLock // for writing the journal and switching files
	compact fileLock // for writing the next snapshot
	j       file     // the journal that pos is in; nil when there is none
	info    fs.FileInfo
	mine    bool // j is open for writing
	untidy  bool // a reader found something that a writer has to repair
	pos     position
	note    func(Warning)
	doubt   *witness // the first commit of a write of ours that is in doubt
}

// names are the files' names.
type names struct {
	snapshot, snapshotPrev, snapshotNew string
	fetched                             string
	journal, journalPrev, journalNew    string
	head, doubt                         string
	lock, compactLock, torn             string
}

func namesOf(stem string) names {
	s, j := stem+".json", stem+".journal"
	return names{
		snapshot: s, snapshotPrev: s + ".prev", snapshotNew: s + ".new", fetched: s + ".fetched",
		journal: j, journalPrev: j + ".prev", journalNew: j + ".new",
		head: stem + ".head", doubt: stem + ".doubt", lock: stem + ".lock", compactLock: stem + ".compact.lock", torn: j + ".torn",
	}
}

// What is between a file's name and the time when it was set aside.
const (
	corruptMark = ".corrupt-"
	rescuedMark = ".rescued-"
)

// position is how far into the journal the state was folded.
type position struct {
	head header
	off  int64     // what is before it is folded
	mark int64     // where the last line begins
	sum  uint32    // that line's checksum
	prev uint32    // the last commit's checksum, to which the next one is chained
	seq  uint64    // the last commit
	at   time.Time // its recorded time

	place uint64 // of the last commit in the remote log; 0: not known
}

func newDisk(dir string, o *Options, note func(Warning)) *disk {
	n := namesOf(o.Name)
	return &disk{
		dir: dir, o: o, n: n, note: note,
		lock:    fileLock{dir: dir, name: n.lock},
		compact: fileLock{dir: dir, name: n.compactLock},
	}
}

func (d *disk) errorf(name string, kind error, format string, args ...any) error {
	return pathError(d.dir, name, kind, format, args...)
}

// attach opens the directory. There may be none: then fs stays nil, unless it
// is to be made.
func (d *disk) attach(create bool) error {
	if d.fs != nil && d.attached() {
		return nil
	}
	d.detach()
	if create {
		if err := makeDir(d.dir); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(d.dir)
	if errors.Is(err, fs.ErrNotExist) && !create {
		return nil
	}
	if err != nil {
		return err
	}
	d.root, d.fs = root, rootFiles{root}
	if d.o.Fault != nil {
		d.fs = faultyFiles{d.fs, d.o.Fault}
	}
	return nil
}

// attached tells whether the directory that is open is still the one of that
// name, and was not removed and made anew.
func (d *disk) attached() bool {
	named, err := os.Stat(d.dir)
	if err != nil {
		return false
	}
	own, err := d.root.Stat(".")
	return err == nil && os.SameFile(named, own)
}

// detach closes the directory and the journal. The locks stay: a goroutine may
// hold them, and they see for themselves when their name stands for another file.
func (d *disk) detach() {
	d.closeJournal()
	if d.root != nil {
		_ = d.root.Close()
	}
	d.root, d.fs = nil, nil
}

func (d *disk) closeJournal() {
	if d.j != nil {
		_ = d.j.Close() // every byte that matters was synced
	}
	d.j, d.info, d.mine, d.pos = nil, nil, false, position{}
}

// size of a file, 0 if there is none.
func (d *disk) size(name string) int64 {
	fi, err := d.fs.stat(name)
	if err != nil {
		return 0
	}
	return fi.Size()
}

// unusedName is a name for a file that is set aside now.
func (d *disk) unusedName(start, end string) (string, error) {
	start += d.o.Now().UTC().Format("20060102T150405.000000000Z")
	for i := 0; ; i++ {
		name := start + end
		if i > 0 {
			name = fmt.Sprintf("%s-%d%s", start, i, end)
		}
		if _, err := d.fs.stat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
	}
}

// asides lists what was set aside: torn writes, damaged files, rescued states.
func (d *disk) asides() ([]string, error) {
	entries, err := d.fs.list()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		name := e.Name()
		if name == d.n.torn || strings.HasPrefix(name, d.n.journal+corruptMark) ||
			strings.HasPrefix(name, d.n.snapshot+corruptMark) || strings.HasPrefix(name, d.n.snapshot+rescuedMark) {
			found = append(found, name)
		}
	}
	return found, nil
}

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

// ShortWrite, returned by Options.Fault before a write, lets the first Bytes
// bytes through and then fails with Err, as a full disk does.
type ShortWrite struct {
	Bytes int
	Err   error
}

func (e *ShortWrite) Error() string { return fmt.Sprintf("short write: %v", e.Err) }

// Unwrap returns Err.
func (e *ShortWrite) Unwrap() error { return e.Err }

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

// writeName makes a file with the given content and syncs it. So a rename that follows never
// gives a name to bytes that are not on disk.
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
