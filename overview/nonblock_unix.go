//go:build unix

package overview

import "syscall"

// nonblock keeps an open from waiting for whoever writes to a pipe.
const nonblock = syscall.O_NONBLOCK
