//go:build unix

package replica

import (
	"io/fs"
	"os"
	"syscall"
)

// readFlags has the opening of a FIFO that took a file's place not wait for a writer.
const readFlags = os.O_RDONLY | syscall.O_NONBLOCK

// ownedByUs reports whether a file is this user's or root's.
func ownedByUs(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(s.Uid) == os.Geteuid() || s.Uid == 0)
}
