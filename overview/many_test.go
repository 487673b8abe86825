package overview

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// BenchmarkManyFiles looks at a project of 200,000 files, and tells how much
// memory the process had at most where the system says so.
func BenchmarkManyFiles(b *testing.B) {
	root, cache := b.TempDir(), b.TempDir()
	const files, each = 200_000, 250
	for dir := range files / each {
		d := filepath.Join(root, fmt.Sprintf("part%02d", dir/40), fmt.Sprintf("pkg%03d", dir))
		if err := os.MkdirAll(d, 0o755); err != nil {
			b.Fatal(err)
		}
		for i := range each {
			src := fmt.Sprintf("// Handles request %d.\npackage pkg%03d\n\nimport \"x/part%02d/pkg%03d\"\n\nfunc Handle%d() {}\n", i, dir, (dir+1)%800/40, (dir+1)%800, i)
			if err := os.WriteFile(filepath.Join(d, fmt.Sprintf("f%03d.go", i)), []byte(src), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module x\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	ask := func(b *testing.B, cache string) {
		o, err := NewMap(root, &MapOptions{Cache: cache}).Overview(b.Context(), Inquiry{Task: "handle request 17 of pkg123"})
		if err != nil || o.Files != files+1 {
			b.Fatal(o.Files, err)
		}
		if o.Skipped.Files == 0 || len(o.Text()) > defaultMapBudget*bytesPerToken {
			b.Error(o.Text())
		}
		b.Logf("%s", o.Text()[:200])
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			ask(b, b.TempDir())
		}
		b.ReportMetric(peak(), "MB-peak")
	})
	b.Run("second", func(b *testing.B) {
		ask(b, cache)
		for b.Loop() {
			ask(b, cache)
		}
		b.ReportMetric(peak(), "MB-peak")
	})
}

// peak is the most memory that the process had, in MB; 0 where that is not known.
func peak() float64 {
	data, err := os.ReadFile("/proc/self/status")
	if runtime.GOOS != "linux" || err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	var kb float64
	fmt.Sscan(rest, &kb)
	return kb / 1024
}
