//go:build unix

package index_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"leanctx/internal/proctest"
	"leanctx/knowledge/index"
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

// A file that is cut short while it is mapped is damage like any other; it does not end the process.
func TestCutUnderReader(t *testing.T) {
	dir, generation := sample(t)
	x, err := index.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files(t, generation) {
		if filepath.Ext(name) == ".zap" {
			if err := os.Truncate(name, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := x.Search(t.Context(), index.Query{Terms: terms("redis")}); !errors.Is(err, index.ErrDamaged) {
		t.Errorf("search: %v, want damage", err)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

// All files of a generation are for their owner alone, those too that the library makes.
func TestFilesAreTheOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	build(t, dir, 1, doc("a", "b", "one"), doc("a", "c", "two"))
	seen := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		seen++
		return err
	})
	if err != nil || seen < 5 {
		t.Errorf("%d files, %v", seen, err)
	}
}
