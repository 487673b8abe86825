package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// fileLock is a lock between processes, and between logs of one process. One
// goroutine uses it at a time. The file holds the process id of its last
// holder, for people; nothing rests on it.
//
// A lock that is taken is tried again after a random pause until it is free. There is no queue.
// A writer that has taken the lock again at once for some time yields for longer than a pause. So
// others find the lock free: without that, one of 8 writers waited 3 s for its turn.
type fileLock struct {
	dir, name string
	f         *file     // kept open between acquisitions
	shared    bool      // with others that share it; such a lock is not signed
	since     time.Time // when it last yielded
	released  time.Time
}

// The pauses between two tries: at first about as long as an append takes. Each is
// made shorter or longer by up to a half, at random.
const (
	firstPause   = 200 * time.Microsecond
	longestPause = 3 * time.Millisecond
	yieldAfter   = 50 * time.Millisecond // how long a writer takes the lock again at once
	yieldFor     = longestPause + longestPause/2
)

// acquire waits until the lock is free or ctx ends. It tries at least once.
func (k *fileLock) acquire(ctx context.Context, d files) error {
	if now := time.Now(); now.Sub(k.released) > firstPause {
		k.since = now
	} else if now.Sub(k.since) > yieldAfter {
		time.Sleep(yieldFor)
		k.since = now.Add(yieldFor)
	}
	for wait := firstPause; ; wait = min(2*wait, longestPause) {
		if ok, err := k.try(d); ok || err != nil {
			return err
		}
		if err := pause(ctx, wait/2+rand.N(wait)); err == errLockTimeout {
			holder := "another process"
			if pid := k.pid(); pid > 0 {
				holder = fmt.Sprintf("process %d", pid)
			}
			return pathError(k.dir, k.name, ErrLocked, "%s holds the lock of the store; wait until it ends, or stop it, and try again", holder)
		} else if err != nil {
			return err
		}
	}
}

// pause waits for a time. The error is why ctx ended before.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// hold runs do while the lock is held.
func (k *fileLock) hold(ctx context.Context, d files, do func() error) error {
	if err := k.acquire(ctx, d); err != nil {
		return err
	}
	defer func() {
		_ = unlock(k.f) // cannot fail but for a closed file, and with that the lock is gone
		k.released = time.Now()
	}()
	return do()
}

// try takes the lock if nobody has it. The lock is on the file, not on its name. If somebody
// removed the file meanwhile, another process may lock a new one of that name. So both must be
// the same.
func (k *fileLock) try(d files) (bool, error) {
	for {
		if k.f == nil {
			f, err := d.open(k.name, os.O_RDWR)
			if errors.Is(err, fs.ErrNotExist) {
				f, err = d.open(k.name, os.O_RDWR|os.O_CREATE)
			}
			if err != nil {
				return false, err
			}
			k.f = f
		}
		ok, err := tryLock(k.f, k.shared)
		if !ok || err != nil {
			return false, err
		}
		if same, err := isNamed(d, k.f, k.name); err != nil {
			return false, errors.Join(err, k.close())
		} else if same {
			k.sign()
			return true, nil
		}
		if err := k.close(); err != nil {
			return false, err
		}
	}
}

// isNamed reports whether a name still names the open file f.
func isNamed(d files, f *file, name string) (bool, error) {
	named, err := d.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	own, err := f.Stat()
	return err == nil && os.SameFile(named, own), err
}

// pidLen is the width of the process id in the file.
const pidLen = 10

// pid reads who held the lock last; 0 if that cannot be read.
func (k *fileLock) pid() int {
	var b [pidLen]byte
	n, _ := k.f.ReadAt(b[:], 0)                            // what is missing is no number
	pid, _ := strconv.Atoi(string(bytes.TrimSpace(b[:n]))) // nor is what somebody wrote into it
	return pid
}

// sign says who holds the lock. Tests do not count it as an operation.
func (k *fileLock) sign() {
	if k.shared || k.pid() == os.Getpid() {
		return
	}
	_, _ = k.f.File.WriteAt(fmt.Appendf(nil, "%-*d\n", pidLen, os.Getpid()), 0)
}

func (k *fileLock) close() error {
	if k.f == nil {
		return nil
	}
	f := k.f
	k.f = nil
	return f.Close()
}

// FileLock is a file that this process has locked. The kernel releases the lock when
// the process ends, also after a crash. So a process that gets the lock knows that its
// last holder is gone.
type FileLock struct{ k fileLock }

// TryLock locks the file of that name under root, and makes it if there is none. The directory
// it is in must exist. ok is false if somebody else holds it, in this process or in another. It
// never waits. The file contains the holder's process id, for people; nothing depends on it.
//
// A holder that is done may remove the file before Unlock. That releases the lock. A process
// that has the old file open finds that the name no longer leads to it, and locks a new one.
func TryLock(root *os.Root, name string) (l *FileLock, ok bool, err error) {
	return tryFile(root, fileLock{dir: root.Name(), name: name})
}

// TryShared is [TryLock] for a lock that any number of holders share. It fails while somebody
// holds the file exclusively, and keeps others from doing so. A holder that wants to remove the
// file must hold it exclusively.
func TryShared(root *os.Root, name string) (l *FileLock, ok bool, err error) {
	return tryFile(root, fileLock{dir: root.Name(), name: name, shared: true})
}

func tryFile(root *os.Root, k fileLock) (l *FileLock, ok bool, err error) {
	l = &FileLock{k}
	ok, err = l.k.try(files{root: root})
	if !ok || err != nil {
		if at, isPath := errors.AsType[*fs.PathError](err); isPath && !filepath.IsAbs(at.Path) {
			err = &fs.PathError{Op: at.Op, Path: filepath.Join(root.Name(), at.Path), Err: at.Err} // whose directory, too
		}
		return nil, false, errors.Join(err, l.k.close())
	}
	return l, true, nil
}

// Unlock releases the lock, which must not be used afterwards.
func (l *FileLock) Unlock() error {
	if l.k.f == nil {
		return nil
	}
	return errors.Join(unlock(l.k.f), l.k.close())
}

// OpenDir opens a directory. If there is none it makes one with mode 0700, as a [Log] makes its
// own. The new name is on disk when OpenDir returns.
func OpenDir(dir string) (*os.Root, error) {
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}
