package search

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// files are the files of the generations in dir.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && e.Name() != lockName {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// damaged leaves in dir a generation with a deleted fact and two segments, and returns what it holds.
func damaged(t testing.TB) (dir string, docs []Doc) {
	dir, docs = t.TempDir(), madeUps(0, 60)
	x := mustOpen(t, dir)
	mustSync(t, x, 1, docs)
	mustAdd(t, x, madeUps(60, 100)...)
	if err := x.Remove([]string{docs[3].ID}); err != nil {
		t.Fatal(err)
	}
	mustSync(t, x, 2, nil)
	return dir, slices.Concat(docs[:3], docs[4:], madeUps(60, 100))
}

// checkDamaged opens an index whose generation was tampered with: it is either as written or absent, and then
// what it is told by Add and the next Sync makes it whole.
func checkDamaged(t *testing.T, dir string, docs []Doc, memory *Index) (absent bool) {
	t.Helper()
	x := mustOpen(t, dir)
	if _, _, ok := x.Since(); !ok {
		absent = true
		mustAdd(t, x, docs...)
	}
	same(t, memory, x)
	return absent
}

func TestEveryByteFlipped(t *testing.T) {
	dir, docs := damaged(t)
	memory := mustOpen(t, "")
	mustAdd(t, memory, docs...)
	if checkDamaged(t, dir, docs, memory) {
		t.Fatal("no generation to damage")
	}
	for _, path := range files(t, dir) {
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		step := max(1, len(good)/40)
		for i := 0; i < len(good); i += step {
			bad := bytes.Clone(good)
			bad[i] ^= 0x20
			overwrite(t, path, bad)
			if !checkDamaged(t, dir, docs, memory) {
				t.Fatalf("%s: byte %d flipped and not seen", path, i)
			}
			overwrite(t, path, good[:i])
			if !checkDamaged(t, dir, docs, memory) {
				t.Fatalf("%s: cut at %d and not seen", path, i)
			}
		}
		overwrite(t, path, good)
	}
	if checkDamaged(t, dir, docs, memory) {
		t.Error("mended, and still not read")
	}
}

func overwrite(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSyncMendsDamage(t *testing.T) {
	dir, docs := damaged(t)
	for _, path := range files(t, dir) {
		overwrite(t, path, []byte("not an index"))
	}
	x := mustOpen(t, dir)
	mustAdd(t, x, docs...)
	mustSync(t, x, 3, docs)
	memory := mustOpen(t, "")
	mustAdd(t, memory, docs...)
	if checkDamaged(t, dir, docs, memory) {
		t.Error("no generation after a Sync over a damaged one")
	}
}

func TestDeletedUnderAReader(t *testing.T) {
	dir, docs := damaged(t)
	memory := mustOpen(t, "")
	mustAdd(t, memory, docs...)
	x := mustOpen(t, dir)
	for _, path := range files(t, dir) {
		overwrite(t, path, nil)
	}
	same(t, memory, x)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	same(t, memory, x)
	late := madeUps(200, 220)
	mustAdd(t, x, late...)
	mustAdd(t, memory, late...)
	same(t, memory, x)
	mustSync(t, x, 9, slices.Concat(docs, late)) // makes the directory again, of all facts
	same(t, memory, x)
	same(t, memory, mustOpen(t, dir))
}

func TestOlderGenerationStandsIn(t *testing.T) {
	dir, docs := t.TempDir(), madeUps(0, 30)
	x := mustOpen(t, dir)
	mustSync(t, x, 1, docs)
	if err := os.CopyFS(filepath.Join(dir, generationName(7)), os.DirFS(filepath.Join(dir, generationName(1)))); err != nil {
		t.Fatal(err)
	}
	overwrite(t, filepath.Join(dir, generationName(7), headerName), []byte("torn"))
	for _, name := range []string{"8-m999", "9-m0", "x-m1", "tmp-123", "-m1", "10"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	y := mustOpen(t, dir)
	if y.stored == nil || y.stored.number != 1 {
		t.Fatalf("opened %+v", y.stored)
	}
	mustAdd(t, y, madeUp(50))
	mustSync(t, y, 2, madeUps(0, 51))
	if y.stored.number <= 9 {
		t.Errorf("the next generation is %d", y.stored.number)
	}
	for _, gone := range []string{"tmp-123", generationName(1), generationName(7), "9-m0"} {
		if _, err := os.Stat(filepath.Join(dir, gone)); err == nil {
			t.Errorf("%s stays", gone)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "8-m999")); err != nil {
		t.Errorf("a newer build's generation was taken away: %v", err)
	}
}

func TestReadOnlyDirectory(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("permissions do not bind here")
	}
	dir, docs := damaged(t)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	x := mustOpen(t, dir)
	mustAdd(t, x, madeUps(200, 210)...)
	if err := x.Sync(t.Context(), Generation{At: at(3), Epoch: "e"}, forbidden(t)); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Sync into a read-only directory: %v", err)
	}
	memory := mustOpen(t, "")
	mustAdd(t, memory, slices.Concat(docs, madeUps(200, 210))...)
	same(t, memory, x)
}

func TestNotADirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	overwrite(t, path, []byte("a file"))
	x := mustOpen(t, path)
	mustAdd(t, x, madeUps(0, 5)...)
	if err := x.Sync(t.Context(), Generation{At: at(1)}, slices.Values(madeUps(0, 5))); err == nil {
		t.Error("Sync into a file gave no error")
	}
	if x.Pending() != 5 {
		t.Errorf("%d pending", x.Pending())
	}
}
