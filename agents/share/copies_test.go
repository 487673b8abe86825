package share

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Whoever erases something is told which shared files hold it, as they were
// shared, and which messages do.
func TestCopies(t *testing.T) {
	b := newBed(t)
	b.write("a.md", "the magic word")
	b.write("b.md", "nothing of it")
	b.push(cursor, claude, "look", "a.md", "b.md")
	b.write("a.md", "gone since")
	b.push(cursor, claude, "magic", "b.md")
	magic := func(text string) bool { return strings.Contains(text, "magic") }
	refs, err := b.s.Copies(t.Context(), magic)
	slices.SortFunc(refs, func(x, y string) int { return len(x) - len(y) })
	if err != nil || len(refs) != 2 || strings.Count(refs[0], "/") != 0 || !strings.HasSuffix(refs[1], "/a.md") || strings.HasPrefix(refs[1], refs[0]) {
		t.Fatal(refs, err)
	}
	if err := os.RemoveAll(filepath.Join(b.dir, "files")); err != nil {
		t.Fatal(err)
	}
	if refs, err = b.s.Copies(t.Context(), magic); err != nil || len(refs) != 1 {
		t.Error(refs, err)
	}
}
