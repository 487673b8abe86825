//go:build unix

package project

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ownedByUs reports whether a file is this user's or root's.
func ownedByUs(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(s.Uid) == os.Geteuid() || s.Uid == 0)
}

// fileID tells a file from others that exist.
func fileID(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", s.Dev, s.Ino)
	}
	return ""
}
