package jetstream_test

import (
	"fmt"
	"syscall"
	"testing"
)

// smallDisk mounts a disk of so many bytes until the test ends. Only root can.
func smallDisk(t *testing.T, dir string, size int) error {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		return err
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return nil
}
