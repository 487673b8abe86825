//go:build unix

package vectors

import (
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
	if missing := x.Missing("a@1", texts); len(missing) != 3 {
		t.Errorf("missing %v", missing)
	}
	put(t, x, a16, texts, vectors)
	if hits := scan(t, Open(dir), "a@1", vectors[0], 3); len(hits) != 3 {
		t.Errorf("%d hits", len(hits))
	}
}
