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

// A tree that holds a model for its own use is not one to be installed, unless
// the model is named.
func TestInstallTakesNoModelByChance(t *testing.T) {
	with := func(folder string, more ...string) []packed {
		files := tinyFiles(t, folder)
		for _, name := range more {
			files = append(files, packed{name: name, data: []byte("{}")})
		}
		return files
	}
	for name, c := range map[string]struct {
		files []packed
		ok    bool
	}{
		"the repository of a model":       {with("gte-main/", "gte-main/README.md"), true},
		"a hub's cache":                   {with("models/org--name/", "models/refs"), true},
		"two folders, and files above":    {with("Xenova/tiny/", "README.md"), true},
		"a package":                       {with("package/models/Xenova/tiny/", "package/package.json"), true},
		"a package without its folder":    {with("dist/models/Xenova/tiny/", "package.json"), true},
		"a source tree":                   {with("embed/testdata/tiny/", "go.mod"), false},
		"its archive":                     {with("main/embed/testdata/tiny/", "main/go.mod"), false},
		"for tests, not deep":             {with("tests/tiny/", "go.mod"), false},
		"another package in a package":    {with("p/node_modules/m/tiny/", "p/package.json"), false},
		"deep":                            {with("a/b/tiny/", "go.mod"), false},
		"deep in a package":               {with("p/a/b/c/d/tiny/", "p/package.json"), false},
		"a folder that is called testify": {with("tiny/", "tiny/testify/package.json"), true},
	} {
		dir, from := t.TempDir(), file(t, "m.zip", zipped(t, c.files...))
		_, err := Install(t.Context(), dir, from, &InstallOptions{Child: passes})
		if c.ok {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "holds a model in ") || !strings.Contains(err.Error(), "as model") {
			t.Errorf("%s: %v", name, err)
		}
		onlyModel(t, dir, "")
		if _, err := Install(t.Context(), dir, from, &InstallOptions{Model: "tiny", Child: passes}); err != nil {
			t.Errorf("%s, named: %v", name, err)
		}
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
	m, err := OpenModel(done.Dir, nil)
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
