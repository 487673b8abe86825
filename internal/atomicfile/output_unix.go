//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// Owned reports whether a file is this user's or root's.
func Owned(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(s.Uid) == os.Geteuid() || s.Uid == 0)
}

// open reports whether others than its owner may write a file.
func open(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }
