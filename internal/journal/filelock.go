package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// FileLock is a file that this process has locked. The kernel lets go of it
// with the process, however that ends, so whoever can lock it knows that its
// last holder is gone.
type FileLock struct{ k fileLock }

// TryLock locks the file of that name under root, and makes it if there is
// none; the directory it is in must exist. ok is false when somebody else
// holds it, in this process or in another. It never waits. In the file stands
// the holder's process id, for people; nothing rests on it.
//
// A holder that is done may remove the file before Unlock: who has the old one
// open finds that the name no longer stands for it, and locks a new one. With
// the name the lock is let go of.
func TryLock(root *os.Root, name string) (l *FileLock, ok bool, err error) {
	return tryFile(root, fileLock{dir: root.Name(), name: name})
}

// TryShared is [TryLock] for a lock that any number of holders share: it is
// refused while somebody has the file alone, and keeps others from that. A
// holder that wants to remove the file must have it alone for it.
func TryShared(root *os.Root, name string) (l *FileLock, ok bool, err error) {
	return tryFile(root, fileLock{dir: root.Name(), name: name, shared: true})
}

func tryFile(root *os.Root, k fileLock) (l *FileLock, ok bool, err error) {
	l = &FileLock{k}
	ok, err = l.k.try(rootFiles{root})
	if !ok || err != nil {
		if at, isPath := errors.AsType[*fs.PathError](err); isPath && !filepath.IsAbs(at.Path) {
			err = &fs.PathError{Op: at.Op, Path: filepath.Join(root.Name(), at.Path), Err: at.Err} // whose directory, too
		}
		return nil, false, errors.Join(err, l.k.close())
	}
	return l, true, nil
}

// Unlock lets go of the file. The lock must not be used afterwards.
func (l *FileLock) Unlock() error {
	if l.k.f == nil {
		return nil
	}
	return errors.Join(unlock(l.k.f), l.k.close())
}

// OpenDir opens a directory and makes it, with mode 0700, if there is none,
// as a [Log] makes its own: a name that was made is on disk when OpenDir returns.
func OpenDir(dir string) (*os.Root, error) {
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}
