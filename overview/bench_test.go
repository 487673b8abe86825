package overview

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
	var names []string
	each(func(name string, _ fs.DirEntry) { names = append(names, name) })
	var cat, find time.Duration // of one run
	beside := func(b *testing.B, floor time.Duration, name string) {
		if floor > 0 {
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(floor), name)
		}
	}
	b.Run("floor-cat", func(b *testing.B) {
		defer func() { cat = b.Elapsed() / time.Duration(b.N) }()
		for b.Loop() {
			cmd := exec.Command("xargs", "-0", "cat")
			cmd.Stdin = strings.NewReader(strings.Join(names, "\x00"))
			if err := cmd.Run(); err != nil {
				b.Skip(err)
			}
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			ask(b, b.TempDir())
		}
		beside(b, cat, "x-cat")
	})
	b.Run("floor-find", func(b *testing.B) {
		defer func() { find = b.Elapsed() / time.Duration(b.N) }()
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
		beside(b, find, "x-find")
	})
}
