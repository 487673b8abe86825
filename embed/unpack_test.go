package embed

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// packed is a file of an archive to be made.
type packed struct {
	name string
	data []byte
	kind byte   // of tar; 0 is a file
	link string // its target
	size int64  // that the header tells, when it is not len(data)
}

// tinyFiles are those of the tiny model, below a folder.
func tinyFiles(t testing.TB, folder string) []packed {
	t.Helper()
	var files []packed
	for _, name := range []string{"config.json", "tokenizer.json", "onnx/model_quantized.onnx"} {
		data, err := os.ReadFile(filepath.Join(tiny, name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, packed{name: folder + name, data: data})
	}
	return files
}

func tarball(t testing.TB, files ...packed) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(f.data)), Linkname: f.link}
		if f.kind != 0 {
			h.Typeflag = f.kind
		}
		if f.size != 0 {
			h.Size = f.size
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.data); err != nil {
			t.Fatal(err)
		}
	}
	_ = w.Close() // fails when a size was a lie
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// file writes what is to be installed and gives its path.
func file(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// An archive tells the size of what is in it, and may lie.
func TestArchivesThatLie(t *testing.T) {
	zeros := make([]byte, 100_000)
	many := make([]packed, maxFiles+1)
	for i := range many {
		many[i] = packed{name: fmt.Sprint("f", i)}
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"many in a tarball":    {tarball(t, many...), "too many files"},
		"one large file":       {tarball(t, packed{name: "z.onnx", data: zeros, size: maxUnpacked + 1}), "is larger"},
		"the same file twice":  {tarball(t, packed{name: "z.onnx", data: zeros}, packed{name: "z.onnx", data: zeros}), "exists"},
		"a folder like a file": {tarball(t, packed{name: "z.onnx", data: zeros}, packed{name: "z.onnx/y.json", data: zeros}), "is damaged"},
	} {
		dir := t.TempDir()
		if err := unpack(t.Context(), file(t, "a", c.data), dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
