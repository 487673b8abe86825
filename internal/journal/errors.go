package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Errors that callers branch on. What is returned wraps one of them and names
// the file and what to do.
var (
	ErrLocked  = errors.New("locked")
	ErrCorrupt = errors.New("corrupt")
	ErrNewer   = errors.New("written by a newer version")
	ErrForeign = errors.New("written by another program")
	ErrInDoubt = errors.New("in doubt")
	ErrClosed  = fs.ErrClosed
)

// pathError says what is the matter with a file, and what to do.
func pathError(dir, name string, kind error, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %w", filepath.Join(dir, name), kind, fmt.Errorf(format, args...))
}

// ShortWrite, returned by Options.Fault before a write, lets the first Bytes
// bytes through and then fails with Err, as a full disk does.
type ShortWrite struct {
	Bytes int
	Err   error
}

func (e *ShortWrite) Error() string { return fmt.Sprintf("short write: %v", e.Err) }

// Unwrap returns Err.
func (e *ShortWrite) Unwrap() error { return e.Err }
