//go:build unix

package index_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"leanctx/internal/proctest"
)

// An index in a directory that may not be written answers; a sync says so.
func TestReadOnlyDirectory(t *testing.T) {
	dir, _ := sample(t)
	c := proctest.Command(t, job{Do: "read", Dir: dir, Number: 3})
	place, err := os.MkdirTemp("", "index-read-only-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(place) })
	if os.Geteuid() == 0 { // to root, modes mean nothing
		for _, p := range []string{place, filepath.Dir(filepath.Dir(dir)), filepath.Dir(dir)} {
			if err := os.Chmod(p, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		exe, err := os.ReadFile(c.Path)
		if err != nil {
			t.Fatal(err)
		}
		c.Path = filepath.Join(place, "test")
		if err := os.WriteFile(c.Path, exe, 0o755); err != nil {
			t.Fatal(err)
		}
		c.Dir, c.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o444)
		if d.IsDir() {
			mode = 0o555
			t.Cleanup(func() { os.Chmod(p, 0o755) })
		}
		return os.Chmod(p, mode)
	})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
