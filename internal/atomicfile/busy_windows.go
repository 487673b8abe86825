package atomicfile

import (
	"errors"
	"syscall"
	"time"
)

const errorSharingViolation = syscall.Errno(32)

// RetryBusy repeats an operation on a file while another program has the file open, for at most
// a second. A virus scanner or an indexer opens a new file for a moment. Meanwhile the file can
// be neither renamed nor replaced. Our own handles, opened through an os.Root, allow both.
func RetryBusy(do func() error) error {
	begin, pause := time.Now(), time.Millisecond
	for {
		err := do()
		if !errors.Is(err, errorSharingViolation) && !errors.Is(err, syscall.ERROR_ACCESS_DENIED) || time.Since(begin) > time.Second {
			return err
		}
		time.Sleep(pause)
		pause = min(2*pause, 50*time.Millisecond)
	}
}
