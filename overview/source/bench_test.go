package source

import (
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// standard are Go files of the standard library, one in so many.
func standard(tb testing.TB, every int) []string {
	tb.Helper()
	home, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tb.Skipf("the go command does not say where its sources are: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(home)), "src")
	if _, err := os.Stat(root); err != nil {
		tb.Skipf("the sources of Go are not here: %v", err)
	}
	var names []string
	n := 0
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ".go") {
			if n++; n%every == 0 {
				names = append(names, name)
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return names
}

func BenchmarkRead(b *testing.B) {
	var names, texts []string
	total := int64(0)
	for _, name := range standard(b, 20) {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		names, texts, total = append(names, name), append(texts, string(data)), total+int64(len(data))
	}
	b.Run("here", func(b *testing.B) {
		b.SetBytes(total)
		for b.Loop() {
			for i := range names {
				Read(names[i], texts[i], nil)
			}
		}
	})
	b.Run("go-parser", func(b *testing.B) { // the peer: a tree of everything
		b.SetBytes(total)
		for b.Loop() {
			for i := range names {
				parser.ParseFile(gotoken.NewFileSet(), names[i], texts[i], parser.ParseComments|parser.SkipObjectResolution)
			}
		}
	})
}
