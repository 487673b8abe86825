package natsserver

import "golang.org/x/sys/windows"

// diskFree is how many bytes a program may still write, and how many the disk has.
func diskFree(dir string) (free, size uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(name, &free, &size, nil)
	}
	return free, size, err
}

// maxFiles is how many files this process may have open; 0: that is not known.
func maxFiles() int { return 0 }
