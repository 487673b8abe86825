//go:build unix

package transcript

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAPipeIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.jsonl")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	if _, _, err := Read(t.Context(), "claude-code", path, Place{}, 0, nil); !errors.Is(err, ErrNoFile) {
		t.Error(err)
	}
}
