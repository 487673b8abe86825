package cost

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"
)

const (
	receipts  = "receipts" // the directory
	foldEvery = 512 << 10  // bytes of a day's file after which its writer folds
	foldOld   = 256 << 10  // bytes in older files at which the first writer of a day folds
)

// files are the receipts on disk.
type files struct {
	dir    string
	create bool // make the data directory
	fault  func(op, name string) error
}

func (f *files) open() (*os.Root, error) {
	if f.create {
		if err := os.MkdirAll(f.dir, 0o700); err != nil {
			return nil, err
		}
	}
	return os.OpenRoot(f.dir)
}

// append adds a block to a day's file and tells whether it is time to fold.
func (f *files) append(name string, block []byte) (folds bool, err error) {
	root, err := f.open()
	if err != nil {
		return false, err
	}
	defer root.Close()
	name = path.Join(receipts, name)
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = root.Mkdir(receipts, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
			file, err = root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		}
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	if err := f.fault("write", name); err != nil {
		return false, err
	}
	if _, err := file.Write(block); err != nil {
		return false, err // never written again: nobody knows how much of it is there
	}
	info, err := file.Stat()
	if err != nil {
		return false, nil // it is written
	}
	before := info.Size() - int64(len(block))
	if before <= 0 {
		return f.older(root, path.Base(name)) > foldOld, nil
	}
	return info.Size()/foldEvery != before/foldEvery, nil
}

// older is how many bytes the files of other days hold.
func (f *files) older(root *os.Root, name string) (size int64) {
	entries, err := fs.ReadDir(root.FS(), receipts)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Name() != name {
			size += info.Size()
		}
	}
	return size
}

// tail is the part of a day's file that was not folded.
type tail struct {
	name     string
	from, to int64 // to is behind the last whole line
	size     int64 // of the file when it was read
	lines    []line
}

// tails reads what stands after the given offsets, in the order of the days.
// With sync the files are synced before they are read.
func (f *files) tails(read map[string]int64, project string, sync bool) ([]tail, error) {
	root, err := os.OpenRoot(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), receipts)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []tail
	for _, e := range entries {
		if _, notDay := time.Parse(time.DateOnly, e.Name()); notDay != nil || !e.Type().IsRegular() {
			continue
		}
		from := read[e.Name()]
		t := tail{name: e.Name(), from: from, to: from}
		data, err := f.read(root, &t, sync)
		if err != nil {
			return nil, err
		}
		t.lines = parseLines(data, project)
		out = append(out, t)
	}
	return out, err
}

// read returns the whole lines of a file after t.from and sets t.to behind them.
func (f *files) read(root *os.Root, t *tail, sync bool) ([]byte, error) {
	name, flag := path.Join(receipts, t.name), os.O_RDONLY
	if sync {
		flag = os.O_RDWR // Windows syncs no other
	}
	file, err := root.OpenFile(name, flag, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // removed since the directory was read, so it was folded
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < t.from {
		t.from = 0 // removed and begun anew
	}
	t.to, t.size = t.from, info.Size()
	data := make([]byte, info.Size()-t.from)
	n, err := file.ReadAt(data, t.from)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if sync && n > 0 {
		// What a fold has read must still be there after a power cut.
		if err := errors.Join(f.fault("sync", name), file.Sync()); err != nil {
			return nil, err
		}
	}
	data = data[:bytes.LastIndexByte(data[:n], '\n')+1]
	t.to += int64(len(data))
	return data, nil
}

// removeOld removes files that are folded whole and in which nobody writes any
// more. A failure leaves a file for the next time.
func (f *files) removeOld(done []tail, now time.Time) {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return
	}
	defer root.Close()
	limit := day(now.AddDate(0, 0, -1))
	for _, t := range slices.DeleteFunc(slices.Clone(done), func(t tail) bool { return t.name >= limit }) {
		name := path.Join(receipts, t.name)
		if info, err := root.Stat(name); err == nil && info.Size() == t.size && f.fault("remove", name) == nil {
			_ = root.Remove(name)
		}
	}
}
