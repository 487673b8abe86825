package share

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkPush shares one file of 4 KiB and clears it; the floor writes and
// syncs as many files and directories as that takes.
func BenchmarkPush(b *testing.B) {
	b.Run("push", func(b *testing.B) {
		x := newBed(b)
		text, err := os.ReadFile("doc.go")
		if err != nil {
			b.Fatal(err)
		}
		x.write("a.md", string(text))
		for b.Loop() {
			x.push(cursor, claude, "for review", "a.md")
			if _, err := x.as(cursor).Clear(b.Context(), NoArgs{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("floor", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "bare"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		for b.Loop() {
			for range 5 { // the file, its directory and the one above, two commits
				if _, err := f.WriteString("text"); err != nil {
					b.Fatal(err)
				}
				if err := f.Sync(); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
