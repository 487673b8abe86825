package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockAt is the byte that is locked: far behind the text in the file, because
// on Windows others cannot read what is locked.
const lockAt = 1 << 30

// tryLock takes the lock that the kernel holds for an open file, if nobody has
// it; shared, if nobody has it alone. It goes with the file when the process
// ends, however it ends.
func tryLock(f *file, shared bool) (bool, error) {
	at := &windows.Overlapped{Offset: lockAt}
	var flags uint32 = windows.LOCKFILE_FAIL_IMMEDIATELY
	if !shared {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, at)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return false, nil
	default:
		return false, os.NewSyscallError("LockFileEx", err)
	}
}

func unlock(f *file) error {
	at := &windows.Overlapped{Offset: lockAt}
	return os.NewSyscallError("UnlockFileEx", windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, at))
}

// syncDir does nothing: Windows has no such call, and NTFS journals its names.
func syncDir(*os.Root) error { return nil }
