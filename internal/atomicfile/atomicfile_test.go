package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
	}
	return all
}

func TestReplacesTheFileWithItsMode(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	for _, o := range []Options{{}, {Mode: 0o640, Sync: true}, {Mode: 0o755}} {
		if err := WriteFile(path, []byte("x"), o); err != nil {
			t.Fatal(err)
		}
		want := o.Mode
		if want == 0 {
			want = 0o600
		}
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("%+v: %v, %v", o, info.Mode(), err)
		}
	}
	if all := content(t, dir); len(all) != 1 || all["a.json"] != "x" {
		t.Error(all)
	}
}

func TestFailureLeavesTheFormerFileAndNoOther(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	if err := WriteFile(path, []byte("former"), Options{}); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, Options{Sync: true}, func(w io.Writer) error {
		_, err := w.Write([]byte("half"))
		return errors.Join(err, broken)
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := WriteFile(path, []byte("x"), Options{New: true}); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if all := content(t, dir); len(all) != 1 || all["a.json"] != "former" {
		t.Error(all)
	}
	if err := WriteFile(filepath.Join(dir, "b.json"), []byte("x"), Options{New: true}); err != nil {
		t.Error(err)
	}
	if all := content(t, dir); len(all) != 2 || all["b.json"] != "x" {
		t.Error(all)
	}
}

func TestErrorNamesTheFileAndNotTheTemporaryOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "a.json")
	err := WriteFile(path, nil, Options{})
	if e, ok := errors.AsType[*fs.PathError](err); !ok || e.Path != path || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A name that could not be put on disk is an error.
func TestDirectoryIsNotSynced(t *testing.T) {
	dir := t.TempDir()
	if err := syncDir(dir); err != nil {
		t.Error(err)
	}
	if err := syncDir(filepath.Join(dir, "gone")); err == nil && runtime.GOOS != "windows" {
		t.Error("a directory that is not there was synced")
	}
}
