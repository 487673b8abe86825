package app

import (
	"fmt"
	"io/fs"
	"net"
	"syscall"
	"testing"

	"leanctx/internal/journal"
)

// A broken connection to the team's server is no closed pipe: the write was not done.
func TestExitCodeOfABrokenPipe(t *testing.T) {
	pipe := &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
	if code := exitCode(t.Context(), pipe); code != done {
		t.Errorf("the reader went: %d, want %d", code, done)
	}
	connection := fmt.Errorf("team shop: %w: %w", journal.ErrOffline, &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE})
	if code := exitCode(t.Context(), connection); code != locked {
		t.Errorf("the server went: %d, want %d", code, locked)
	}
}
