//go:build unix

package project

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUs reports whether a file is this user's or root's.
func ownedByUs(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(s.Uid) == os.Geteuid() || s.Uid == 0)
}
