package source

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// declared is what Go's own parser finds.
func declared(f *ast.File) (names, imports []string) {
	add := func(list *[]string, s string) {
		if s != "_" && s != "" && !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(&names, d.Name.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(&names, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						add(&names, n.Name)
					}
				}
			}
		}
	}
	for _, i := range f.Imports {
		spec, _ := strconv.Unquote(i.Path.Value)
		add(&imports, spec)
	}
	return names, imports
}

// What is read without a parser is what Go's parser reads.
func TestGoAsItsParserReadsIt(t *testing.T) {
	checked := 0
	for _, name := range standard(t, 9) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(gotoken.NewFileSet(), name, data, parser.SkipObjectResolution)
		got := Read(name, string(data))
		if err != nil || got.Generated {
			continue
		}
		names, imports := declared(f)
		if got.More == 0 || len(names) <= namesMost {
			checked++
		}
		if d := cmp.Diff(names[:min(len(names), namesMost)], got.Names); d != "" && len(names)+len(got.Names) > 0 {
			t.Errorf("%s: names: %s", name, d)
		}
		if d := cmp.Diff(imports, got.Imports); d != "" && len(imports)+len(got.Imports) > 0 && !strings.Contains(d, `\x`) {
			t.Errorf("%s: imports: %s", name, d)
		}
		if got.Package != f.Name.Name {
			t.Errorf("%s: package %q, not %q", name, got.Package, f.Name.Name)
		}
	}
	if checked < 300 {
		t.Errorf("only %d files were compared", checked)
	}
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
				Read(names[i], texts[i])
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
