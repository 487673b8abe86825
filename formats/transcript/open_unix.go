//go:build unix

package transcript

import "syscall"

// noFollow makes opening a link an error, and does not wait for the other end of a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
