//go:build unix

package replica

import (
	"os"
	"syscall"
)

// readFlags has the opening of a FIFO that took a file's place not wait for a writer.
const readFlags = os.O_RDONLY | syscall.O_NONBLOCK
