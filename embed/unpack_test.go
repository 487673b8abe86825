package embed

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
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

func zipped(t testing.TB, files ...packed) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetMode(0o644)
		if f.link != "" {
			h.SetMode(fs.ModeSymlink | 0o777)
			f.data = []byte(f.link)
		}
		to, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write(f.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
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
func TestWalkLimits(t *testing.T) {
	zeros := make([]byte, 100_000)
	many := make([]packed, 20)
	for i := range many {
		many[i] = packed{name: "f" + string(rune('a'+i)), data: zeros[:10]}
	}
	for name, c := range map[string]struct {
		path string
		lim  limits
		want string
	}{
		"many in a tarball": {file(t, "a", tarball(t, many...)), limits{10, 1 << 20, 1 << 20}, "too many files"},
		"many in a zip":     {file(t, "a", zipped(t, many...)), limits{10, 1 << 20, 1 << 20}, "too many files"},
		"many in a folder":  {tiny, limits{2, 1 << 20, 1 << 20}, "too many files"},
		"one large file":    {file(t, "a", tarball(t, packed{name: "z", data: zeros})), limits{10, 99_999, 1 << 20}, "is larger"},
		"large together":    {file(t, "a", zipped(t, packed{name: "z", data: zeros}, packed{name: "y", data: zeros})), limits{10, 1 << 20, 150_000}, "is larger"},
	} {
		err := walk(t.Context(), c.path, c.lim, func(entry) error { return nil })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	lying := zipped(t, packed{name: "z", data: zeros})
	// The size stands in the file's own header and in the list at the end.
	size := []byte{0xa0, 0x86, 0x01, 0x00}
	lying = bytes.ReplaceAll(lying, size, []byte{0x0a, 0, 0, 0})
	err := walk(t.Context(), file(t, "a", lying), usualLimits, func(e entry) error { return store(t.TempDir(), "x", e) })
	if err == nil {
		t.Error("a zip that lies about a size was unpacked")
	}
}

func FuzzParseGraph(f *testing.F) {
	for _, name := range []string{"onnx/model.onnx", "onnx/model_quantized.onnx"} {
		data, err := os.ReadFile(filepath.Join(tiny, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		if g, err := parseGraph(data); err == nil && g.rows < 0 {
			t.Errorf("%d rows", g.rows)
		}
	})
}
