//go:build unix

package vectors

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe in place of the file counts as absent, and nobody waits for it.
func TestPipeInPlaceOfTheFile(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, vectorFile), 0o600); err != nil {
		t.Fatal(err)
	}
	texts, vectors := vectorsOf(1, 3, 16)
	x := Open(dir)
	if missing := missing(t, x, texts); len(missing) != 3 {
		t.Errorf("missing %v", missing)
	}
	put(t, x, a16, texts, vectors)
	if hits := scan(t, Open(dir), "a@1", vectors[0], 3); len(hits) != 3 {
		t.Errorf("%d hits", len(hits))
	}
}

// A file that cannot be opened for a moment does not count as absent: nothing is made again, and nothing
// is written.
func TestFileThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	texts, vectors := vectorsOf(1, 300, 16)
	put(t, Open(dir), a16, texts, vectors)
	before := string(readWhole(t, dir))
	x, seen := Open(dir), Open(dir)
	if got := missing(t, seen, texts); len(got) != 0 {
		t.Fatalf("missing %v", got)
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	none := syscall.Rlimit{Max: files.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Skip("not proven: the limit of open files cannot be set:", err)
	}
	var failures []error
	for _, x := range []*Index{x, seen} {
		_, complete := x.Complete("a@1")
		_, scanned := x.Scan(t.Context(), "a@1", vectors[:1], 1)
		_, noted := x.SetComplete("a@1", Changes{Texts: texts})
		failures = append(failures, complete, scanned, noted, fill(x, a16, texts, vectors))
		if v := x.Vectors("a@1", texts[:1]); v[0] != nil {
			t.Error("a vector of a file that cannot be opened")
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	for i, err := range failures {
		if !errors.Is(err, syscall.EMFILE) {
			t.Errorf("operation %d: %v", i, err)
		}
	}
	for _, x := range []*Index{x, seen} {
		if hits := scan(t, x, "a@1", vectors[0], 400); len(hits) != 300 {
			t.Errorf("%d hits afterwards, want 300", len(hits))
		}
	}
	if string(readWhole(t, dir)) != before {
		t.Error("the file is another one")
	}
}
