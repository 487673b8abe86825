//go:build linux || darwin || freebsd || dragonfly

package natsserver

import "golang.org/x/sys/unix"

// diskFree is how many bytes a program may still write, and how many the disk has.
func diskFree(dir string) (free, size uint64, err error) {
	var st unix.Statfs_t
	err = unix.Statfs(dir, &st)
	return uint64(max(st.Bavail, 0)) * uint64(st.Bsize), uint64(st.Blocks) * uint64(st.Bsize), err
}

// maxFiles is how many files this process may have open; 0: that is not known.
func maxFiles() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), 1<<20))
}
