package share

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"time"

	"leanctx/internal/journal"
)

const (
	filesDir    = "files"
	orphanAfter = time.Hour // a push takes no longer than that
)

// keep writes the contents of a share to be. They are on disk, with their
// names, when it returns: the commit that follows must not name what a power
// cut could take.
func (s *Store) keep(id string, texts map[string]string) error {
	root, err := journal.OpenDir(filepath.Join(s.dir, filesDir, id))
	if err != nil {
		return err
	}
	defer root.Close()
	for name, text := range texts {
		if err := s.writeFile(root, name, text); err != nil {
			return err
		}
	}
	if err := s.opts.Fault("sync", "."); err != nil {
		return err
	}
	return syncDir(root)
}

func (s *Store) writeFile(root *os.Root, name, text string) error {
	if err := s.opts.Fault("create", name); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err = s.opts.Fault("write", name); err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = s.opts.Fault("sync", name)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir puts names on disk. Windows knows no such thing and does it itself.
func syncDir(root *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// contents reads what is stored of a file; ok is false when it is not what
// was shared.
func (s *Store) contents(id string, x stored) (text string, ok bool) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return "", false
	}
	defer root.Close()
	data, err := root.ReadFile(path.Join(filesDir, id, x.Hash))
	return string(data), err == nil && hash(data) == x.Hash
}

// drop removes the contents of shares that are not there any more. What cannot
// be removed is an orphan, for sweep.
func (s *Store) drop(ids ...string) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return
	}
	defer root.Close()
	for _, id := range ids {
		name := path.Join(filesDir, id)
		err := s.opts.Fault("remove", name)
		if err == nil {
			err = root.RemoveAll(name)
		}
		if err != nil {
			s.opts.Logger.Debug("shared files were not removed", "share", id, "error", err)
		}
	}
}

// sweep removes what killed processes left: contents of shares that nobody
// committed.
func (s *Store) sweep(known map[string]*shared) {
	entries, err := os.ReadDir(filepath.Join(s.dir, filesDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.opts.Logger.Debug("shared files were not looked through", "error", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && known[e.Name()] == nil && time.Since(info.ModTime()) > orphanAfter {
			s.drop(e.Name())
		}
	}
}
