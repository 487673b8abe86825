//go:build unix

package args

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe without a writer must not be waited for.
func TestFileDoesNotWaitForPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no pipes here: that none is waited for is not proven")
	}
	if _, err := File(dir, pipe, 10); err == nil {
		t.Error("a pipe was read")
	}
}
