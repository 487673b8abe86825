package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"time"
)

// fileLock is a lock between processes, and between logs of one process.
// It is used by one goroutine at a time.
//
// In the file stands a line for people and for fairness: who holds the lock, since
// when he waits who has waited longest, and when he last looked. He looks often and
// the others seldom, so that it is he who finds it free. A process that comes back
// for the lock while another one is waiting lets that one go first; otherwise a
// busy writer would have it again each time before the others have looked. The line
// is never synced and nothing rests on it.
type fileLock struct {
	dir, name string
	f         file      // kept open between acquisitions
	shared    bool      // with others that share it; such a lock is not signed
	id        uint64    // since when we wait, in nanoseconds: tells our marks from others'
	turn      time.Time // when we began to have it while others may be waiting
}

// The pauses between two tries: of who has waited longest about as long as an
// append takes, so that a free moment between two of them is hit.
const (
	shortPause = 200 * time.Microsecond
	longPause  = 3 * time.Millisecond
	wantedFor  = 10 * time.Millisecond // how long a mark counts
	turnFor    = 4 * time.Millisecond  // how long one comes back without letting others go first
)

// acquire waits until the lock is had, ctx ends, or the deadline passes.
func (k *fileLock) acquire(ctx context.Context, fsys files, deadline time.Time) error {
	begin := time.Now()
	yield := begin.Sub(k.turn) > turnFor && k.wantedByOthers(begin)
	k.id = 0
	for {
		pause := shortPause
		if !yield {
			ok, err := k.try(fsys)
			if ok || err != nil {
				k.takeTurn()
				return err
			}
			if !time.Now().Before(deadline) {
				return pathError(k.dir, k.name, ErrLocked, "%s holds the store and does not let go; stop it, or let it go on, and try again", k.holder())
			}
			if !k.want(begin) {
				pause = longPause
			}
		}
		yield = false
		k.turn = time.Time{}
		t := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		case <-t.C:
		}
	}
}

// takeTurn begins a turn, unless we came back within one.
func (k *fileLock) takeTurn() {
	if now := time.Now(); now.Sub(k.turn) > turnFor {
		k.turn = now
	}
}

// try takes the lock if nobody has it. The lock is on the file, not on its name: if
// somebody removed the file meanwhile, another process may lock a new one
// of that name, so both must be the same.
func (k *fileLock) try(fsys files) (bool, error) {
	for {
		if k.f == nil {
			f, err := openLock(fsys, k.name)
			if err != nil {
				return false, err
			}
			k.f = f
		}
		ok, err := tryLock(k.f, k.shared)
		if !ok || err != nil {
			return false, err
		}
		if same, err := isNamed(fsys, k.f, k.name); err != nil {
			return false, errors.Join(err, k.close())
		} else if same {
			if !k.shared {
				k.sign()
			}
			return true, nil
		}
		if err := k.close(); err != nil {
			return false, err
		}
	}
}

func openLock(fsys files, name string) (file, error) {
	f, err := fsys.open(name, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return fsys.open(name, os.O_RDWR|os.O_CREATE)
	}
	return f, err
}

// isNamed tells whether a name still stands for an open file.
func isNamed(fsys files, f file, name string) (bool, error) {
	named, err := fsys.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	own, err := f.Stat()
	return err == nil && os.SameFile(named, own), err
}

// The line in the file: "<pid padded to 10> <since when one waits> <when it looked>\n".
const (
	lockLine = "%-10d %016x %016x\n"
	lockLen  = 10 + 1 + 16 + 1 + 16 + 1
	wantAt   = 11 // where the waiting one's part begins
)

// line reads the file; zeros if it cannot be read.
func (k *fileLock) line() (pid int, waits uint64, when time.Time) {
	if k.f == nil {
		return 0, 0, time.Time{}
	}
	var b [lockLen]byte
	n, _ := k.f.ReadAt(b[:], 0) // what is missing is not a number
	field := func(from, to, base int) uint64 {
		v, err := strconv.ParseUint(string(bytes.Trim(b[min(from, n):min(to, n)], " \n")), base, 64)
		if err != nil {
			return 0
		}
		return v
	}
	pid = int(field(0, wantAt, 10))
	waits = field(wantAt, wantAt+16, 16)
	return pid, waits, time.Unix(0, int64(field(wantAt+17, lockLen, 16)))
}

func (k *fileLock) wantedByOthers(now time.Time) bool {
	_, waits, when := k.line()
	return waits != 0 && waits != k.id && now.Sub(when).Abs() < wantedFor
}

// want tells the others that we wait since a time, unless one waits for longer.
func (k *fileLock) want(since time.Time) bool {
	k.id = uint64(since.UnixNano())
	now := time.Now()
	if _, waits, when := k.line(); waits != 0 && waits < k.id && now.Sub(when).Abs() < wantedFor {
		return false
	}
	k.scribble(fmt.Appendf(nil, lockLine, 0, k.id, now.UnixNano())[wantAt:], wantAt)
	return true
}

// sign tells who holds the lock.
func (k *fileLock) sign() {
	pid, waits, _ := k.line()
	if waits != 0 && waits == k.id {
		k.scribble(fmt.Appendf(nil, lockLine, 0, 0, 0)[wantAt:], wantAt)
	}
	if pid != os.Getpid() {
		k.scribble(fmt.Appendf(nil, lockLine, os.Getpid(), 0, 0)[:wantAt], 0)
	}
}

// scribble writes without being one of the operations that tests count.
func (k *fileLock) scribble(b []byte, at int64) {
	f := k.f
	if faulty, ok := f.(*faultyFile); ok {
		f = faulty.file
	}
	_, _ = f.WriteAt(b, at) // nothing rests on it
}

func (k *fileLock) holder() string {
	if pid, _, _ := k.line(); pid > 0 {
		return fmt.Sprintf("process %d", pid)
	}
	return "another process"
}

// hold runs do while the lock is held.
func (k *fileLock) hold(ctx context.Context, fsys files, deadline time.Time, do func() error) error {
	if err := k.acquire(ctx, fsys, deadline); err != nil {
		return err
	}
	defer unlock(k.f) // cannot fail but for a closed file, and with that the lock is gone
	return do()
}

func (k *fileLock) close() error {
	if k.f == nil {
		return nil
	}
	f := k.f
	k.f = nil
	return f.Close()
}
