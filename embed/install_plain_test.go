package embed

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A folder that holds a model for its own use is not one to be installed, unless
// the model is named.
func TestInstallTakesNoModelByChance(t *testing.T) {
	dir, from := t.TempDir(), t.TempDir()
	if err := os.CopyFS(filepath.Join(from, "embed", "testdata", "tiny"), os.DirFS(tiny)); err != nil {
		t.Fatal(err)
	}
	_, err := Install(t.Context(), dir, from, &InstallOptions{Child: passes})
	if err == nil || !strings.Contains(err.Error(), "holds a model in embed/testdata/tiny") || !strings.Contains(err.Error(), "as model") {
		t.Error(err)
	}
	onlyModel(t, dir, "")
	if _, err := Install(t.Context(), dir, from, &InstallOptions{Model: "tiny", Child: passes}); err != nil {
		t.Error(err)
	}
}

// What is installed is its owner's alone, loaded or not.
func TestInstalledFolderIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are another thing there")
	}
	dir := t.TempDir()
	done, err := Install(t.Context(), dir, tiny, nil)
	if err != nil {
		t.Skip("it was not trained:", err)
	}
	m, err := OpenModel(done.Dir)
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
	if info, err := os.Stat(done.Dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestNamed(t *testing.T) {
	dir := t.TempDir()
	if _, err := Named(dir, "tiny"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "no other is") {
		t.Error(err)
	}
	for _, name := range []string{"tiny@12345678", "gte@11111111", "gte@22222222", stagedPrefix + "1"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"tiny", "tiny@12345678"} {
		if got, err := Named(dir, name); err != nil || got != "tiny@12345678" {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if _, err := Named(dir, "gte"); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "gte@11111111, gte@22222222") {
		t.Error(err)
	}
	for _, name := range []string{"", ".", "..", "../x", "tin", "@12345678", stagedPrefix + "1", "tiny@1", strings.Repeat("x", 1000)} {
		if got, err := Named(dir, name); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "there is gte@11111111, gte@22222222, tiny@12345678") {
			t.Errorf("%q: %s, %v", name, got, err)
		}
	}
}
