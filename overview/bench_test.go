package overview

import (
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkStandardLibrary looks at the sources of Go, about 11,000 files of
// 100 MB. Beside it are the floors: all files read once, as cat does, and all
// looked at, as find does.
func BenchmarkStandardLibrary(b *testing.B) {
	home, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skipf("the go command does not say where its sources are: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(home)), "src")
	if _, err := os.Stat(root); err != nil {
		b.Skip(err)
	}
	each := func(f func(name string, d fs.DirEntry)) {
		filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				f(name, d)
			}
			return nil
		})
	}
	ask := func(b *testing.B, cache string) {
		o, err := NewMap(root, &MapOptions{Cache: cache}).Overview(b.Context(), Inquiry{Task: "time out idle connections of the http server"})
		if err != nil || o.Files < 1000 {
			b.Fatal(o.Files, err)
		}
	}
	b.Run("floor-cat", func(b *testing.B) {
		for b.Loop() {
			each(func(name string, _ fs.DirEntry) {
				if f, err := os.Open(name); err == nil {
					io.Copy(io.Discard, f)
					f.Close()
				}
			})
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			ask(b, b.TempDir())
		}
	})
	b.Run("floor-find", func(b *testing.B) {
		for b.Loop() {
			each(func(_ string, d fs.DirEntry) { d.Info() })
		}
	})
	b.Run("second", func(b *testing.B) {
		cache := b.TempDir()
		ask(b, cache)
		for b.Loop() {
			ask(b, cache)
		}
	})
}
