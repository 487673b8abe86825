//go:build unix

package project

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Whoever made a directory may have put a pipe, or a file of any size, in the place of what git and
// we keep there. Nothing waits for it.
func TestPipesInPlaceOfMarksAreNotWaitedFor(t *testing.T) {
	for _, name := range []string{".git", ".lean-ctx-id", ".git/HEAD", ".git/config", ".git/commondir", "HEAD", "config"} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "clone")
			pipe := filepath.Join(root, filepath.FromSlash(name))
			for _, dir := range []string{filepath.Dir(pipe), filepath.Join(filepath.Dir(pipe), "objects"), filepath.Join(filepath.Dir(pipe), "refs")} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if name != "HEAD" && filepath.Dir(name) != "." || name == "config" {
				if err := os.WriteFile(filepath.Join(filepath.Dir(pipe), "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_ = os.Remove(pipe)
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Skip(err)
			}
			r, err := Open(t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = r.Lookup(t.Context(), root) // whatever it finds, it ends
		})
	}
}
