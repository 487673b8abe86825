package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteOutput writes the file that a person names for an answer, which only this user may read. An open file
// of the process, by its name in /dev, a device and a pipe of this user's are written to. A regular file that is
// there keeps its mode if it is this user's, and is replaced.
//
// A link is followed if only this user, or root, can have put it there. Any other is replaced: in a
// directory in which others may write, it would have this user overwrite any file of his own.
func WriteOutput(path string, data []byte) error {
	if dir := filepath.Dir(path); dir == "/dev" || dir == "/dev/fd" {
		return writeOpen(path, data)
	}
	for range maxLinks {
		info, err := os.Lstat(path)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		case err != nil:
			return WriteFile(path, data, Options{Sync: true})
		case info.Mode().IsRegular():
			o := Options{Sync: true}
			if Owned(info) {
				o.Mode = info.Mode().Perm()
			}
			return WriteFile(path, data, o)
		case info.Mode().Type() == fs.ModeSymlink && Owned(info) && kept(filepath.Dir(path)):
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(path), to)
			}
			path = to
		case info.Mode().Type() == fs.ModeSymlink:
			return WriteFile(path, data, Options{Sync: true})
		case info.IsDir():
			return &fs.PathError{Op: "write", Path: path, Err: errors.New("is a directory")}
		case Owned(info) && kept(filepath.Dir(path)):
			return writeOpen(path, data)
		default:
			return &fs.PathError{Op: "write", Path: path, Err: errors.New("is no regular file, and not yours")}
		}
	}
	return fmt.Errorf("%s: more than %d links", path, maxLinks)
}

const maxLinks = 40

// kept reports whether only this user and root can put files into a directory.
func kept(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && Owned(info) && !open(info)
}

func writeOpen(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
