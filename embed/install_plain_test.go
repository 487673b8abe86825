package embed

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A folder that holds a model for its own use is not one to be installed.
func TestInstallTakesNoModelByChance(t *testing.T) {
	dir, from := t.TempDir(), t.TempDir()
	if err := os.CopyFS(filepath.Join(from, "embed", "testdata", "tiny"), os.DirFS(tiny)); err != nil {
		t.Fatal(err)
	}
	_, err := Install(t.Context(), dir, from, &InstallOptions{Child: passes})
	if err == nil || !strings.Contains(err.Error(), "holds no model") {
		t.Error(err)
	}
	onlyModel(t, dir, "")
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
