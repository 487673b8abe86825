//go:build unix

package atomicfile

import (
	"fmt"
	"os"
	"syscall"
)

// openSecret waits for nobody, where a pipe has the name.
func openSecret(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func openToOthers(path string, info os.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	self := os.Geteuid()
	if ok && int(stat.Uid) != self && stat.Uid != 0 && self != 0 {
		return fmt.Errorf("%s belongs to another user (%d), who can change it: copy it into a file of your own", path, stat.Uid)
	}
	mode := info.Mode().Perm()
	if ok && stat.Uid == 0 && self != 0 && mode&0o022 == 0 {
		return nil // whom root lets read it is root's matter
	}
	if mode&0o077 != 0 {
		return fmt.Errorf("%s can be read by others (mode %04o): chmod 600 it, and change the tokens if anybody may have read them", path, mode)
	}
	return nil
}
