package natsserver

import "golang.org/x/sys/unix"

// diskFree is how many bytes a program may still write, and how many the disk has.
func diskFree(dir string) (free, size uint64, err error) {
	var st unix.Statfs_t
	err = unix.Statfs(dir, &st)
	return uint64(max(st.F_bavail, 0)) * uint64(st.F_bsize), st.F_blocks * uint64(st.F_bsize), err
}
