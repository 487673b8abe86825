package embed

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Whatever happens to the files after they were installed, opening says so.
func TestOpenModelFilesChanged(t *testing.T) {
	path := func(name string) func(string) string {
		return func(dir string) string { return filepath.Join(dir, name) }
	}
	for name, c := range map[string]struct {
		file func(string) string
		data []byte // nil: deleted
		want string
	}{
		"model gone":         {path(modelFile), nil, "model.onnx is gone"},
		"tokenizer gone":     {path(tokensFile), nil, "tokenizer.json is gone"},
		"manifest gone":      {path(manifestFile), nil, "no manifest.json"},
		"model empty":        {path(modelFile), []byte{}, "has 0 bytes"},
		"manifest empty":     {path(manifestFile), []byte{}, "damaged"},
		"manifest of nobody": {path(manifestFile), []byte("{}"), "damaged"},
		"manifest newer":     {path(manifestFile), []byte(`{"version": 99}`), "newer version"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := installTiny(t, "onnx/model.onnx").Dir
			if c.data == nil {
				if err := os.Remove(c.file(dir)); err != nil {
					t.Fatal(err)
				}
			} else if err := os.WriteFile(c.file(dir), c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := OpenModel(dir)
			if _, ok := errors.AsType[*ModelError](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	t.Run("same size, other bytes", func(t *testing.T) {
		dir := installTiny(t, "onnx/model.onnx").Dir
		if err := Verify(dir); err != nil {
			t.Error(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, modelFile))
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(filepath.Join(dir, modelFile), data, 0o600); err != nil {
			t.Fatal(err)
		}
		for name, err := range map[string]error{"verify": Verify(dir), "open": second(OpenModel(dir))} {
			if _, ok := errors.AsType[*ModelError](err); !ok || !strings.Contains(err.Error(), "is not the file that was installed") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("no folder", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "none")
		for name, err := range map[string]error{"verify": Verify(dir), "open": second(OpenModel(dir))} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("never tested", func(t *testing.T) {
		dir := installTiny(t, "onnx/model.onnx").Dir
		m, err := readManifest(dir)
		if err != nil {
			t.Fatal(err)
		}
		m.Tested = time.Time{}
		if err := m.write(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenModel(dir); err == nil || !strings.Contains(err.Error(), "self-test was not passed") {
			t.Error(err)
		}
	})
}

func second[A any](_ A, err error) error { return err }

// The files of a model that runs are not read again: they may be swapped or
// deleted under it.
func TestModelDeletedWhileOpen(t *testing.T) {
	done := installTiny(t, "onnx/model.onnx")
	m, err := OpenModel(done.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	before, err := m.Encode(t.Context(), []string{"bread", strings.Repeat("car ", 40)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(done.Dir); err != nil {
		t.Fatal(err)
	}
	after, err := m.Encode(t.Context(), []string{"bread", strings.Repeat("car ", 40)})
	if err != nil || !cmp.Equal(before, after) {
		t.Errorf("%v, the same: %v", err, cmp.Equal(before, after))
	}
}
