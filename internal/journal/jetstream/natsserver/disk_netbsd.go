package natsserver

import "golang.org/x/sys/unix"

// diskFree is how many bytes a program may still write, and how many the disk has.
func diskFree(dir string) (free, size uint64, err error) {
	var st unix.Statvfs_t
	err = unix.Statvfs(dir, &st)
	return st.Bavail * st.Frsize, st.Blocks * st.Frsize, err
}
