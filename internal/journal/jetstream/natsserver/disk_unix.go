//go:build linux || darwin || freebsd

package natsserver

import "golang.org/x/sys/unix"

// diskFree is how many bytes a program may still write, and how many the disk has.
func diskFree(dir string) (free, size uint64, err error) {
	var st unix.Statfs_t
	err = unix.Statfs(dir, &st)
	return uint64(st.Bavail) * uint64(st.Bsize), st.Blocks * uint64(st.Bsize), err
}
