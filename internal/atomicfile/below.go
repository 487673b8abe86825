package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// WriteBelow writes a file below a directory, name from there, for a caller who may write only there. It makes the folders above
// the file that are not there. It follows no link, not even one that is put there meanwhile. It writes into no folder of another
// user. A file that is there is replaced, and never written into.
func WriteBelow(top, name string, data []byte) (err error) {
	folder, err := os.OpenRoot(top)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }()
	parts := strings.Split(filepath.ToSlash(name), "/")
	base := parts[len(parts)-1]
	for _, part := range parts[:len(parts)-1] {
		next, err := enter(folder, part)
		if err != nil {
			return fmt.Errorf("%s: folder %s: %w", name, part, err)
		}
		_ = folder.Close()
		folder = next
	}
	temporary := strings.TrimSuffix(Temporary(base), "*") + rand.Text()
	f, err := folder.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = RetryBusy(func() error { return folder.Rename(temporary, base) })
	}
	if err != nil {
		err = errors.Join(err, folder.Remove(temporary))
	}
	return err
}

// enter opens a folder of this user in another one, and makes it if it is not there.
func enter(folder *os.Root, name string) (*os.Root, error) {
	if err := folder.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	named, err := folder.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !named.IsDir() {
		return nil, errors.New("is no folder, or a link to one")
	}
	next, err := folder.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	// What was opened is what was looked at: a link may have taken its place.
	opened, err := next.Stat(".")
	switch {
	case err != nil:
	case !os.SameFile(named, opened):
		err = errors.New("was replaced meanwhile")
	case !Owned(opened):
		err = errors.New("is another user's")
	}
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}
