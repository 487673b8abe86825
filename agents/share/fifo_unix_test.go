//go:build unix

package share

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe is refused and not waited on.
func TestPipe(t *testing.T) {
	b := newBed(t)
	if err := syscall.Mkfifo(filepath.Join(b.root, "pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	b.refuse(cursor, Offer{Paths: []string{"pipe"}}, "pipe is not a regular file")
}
