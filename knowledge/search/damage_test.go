package search

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"leanctx/knowledge/search/blocks"
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
	if when, _, ok := y.Since(); !ok || !when.Equal(at(1)) {
		t.Fatalf("opened %v, %v", when, ok)
	}
	mustAdd(t, y, madeUp(50))
	mustSync(t, y, 2, madeUps(0, 51))
	if _, err := os.Stat(filepath.Join(dir, generationName(10))); err != nil {
		t.Errorf("the next generation: %v", err)
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

// Whatever a file operation fails with, the index answers as before, leaves nothing half done and writes when it
// can again. Of a link that fails a copy is made.
func TestSyncFails(t *testing.T) {
	for _, problem := range []error{syscall.EROFS, syscall.EACCES, syscall.ENOSPC} {
		for _, op := range []string{"mkdir", "create", "link", "rename"} {
			for _, build := range []bool{false, true} {
				dir, docs := damaged(t)
				if build {
					dir = t.TempDir()
				}
				broken := true
				x, err := Open(dir, &Options{Fault: func(what, _ string) error {
					if broken && what == op {
						return problem
					}
					return nil
				}})
				if err != nil {
					t.Fatal(err)
				}
				if build {
					mustAdd(t, x, docs...)
				}
				late := madeUps(200, 210)
				mustAdd(t, x, late...)
				all := slices.Concat(docs, late)
				memory := open(t, all...)
				err = x.Sync(t.Context(), Generation{At: at(3), Epoch: "e"}, slices.Values(all))
				if op == "link" && err != nil || op != "link" && !errors.Is(err, problem) {
					t.Errorf("%s fails with %v: Sync: %v", op, problem, err)
				}
				same(t, memory, x)
				if op != "link" && x.Pending() == 0 {
					t.Errorf("%s fails with %v: nothing pending", op, problem)
				}
				broken = false
				if err := x.Sync(t.Context(), Generation{At: at(4), Epoch: "e"}, slices.Values(all)); err != nil {
					t.Errorf("%s failed with %v: the next Sync: %v", op, problem, err)
				}
				same(t, memory, x)
				same(t, memory, mustOpen(t, dir))
				if temp, _ := filepath.Glob(filepath.Join(dir, tempPrefix+"*")); len(temp) > 0 {
					t.Errorf("%s fails with %v: left over: %v", op, problem, temp)
				}
			}
		}
	}
}

// A generation of which any one file is gone is not read.
func TestHalfDeleted(t *testing.T) {
	dir, docs := damaged(t)
	memory := open(t, docs...)
	for _, path := range files(t, dir) {
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if !checkDamaged(t, dir, docs, memory) {
			t.Errorf("%s is gone and the generation is read", path)
		}
		overwrite(t, path, good)
	}
}

// Of a segment that is read block by block, whatever is done to it: an answer is right or an ErrDamaged, and what
// was read before stays.
func TestDamagedWhileRead(t *testing.T) {
	dir, docs := t.TempDir(), madeUps(0, 6000)
	mustSync(t, mustOpen(t, dir), 1, docs)
	memory := open(t, docs...)
	path := filepath.Join(dir, generationName(1), "1.zap")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(good) < 8*blocks.Size {
		t.Fatalf("%d bytes are too few", len(good))
	}
	want := make([][]Hit, len(queries))
	for i, q := range queries {
		want[i] = search1(t, memory, q)
	}
	refused := 0
	for at := 0; at < len(good); at += blocks.Size {
		for _, bad := range [][]byte{slices.Concat(good[:at], []byte{good[at] ^ 4}, good[at+1:]), good[:at], nil} {
			x := mustOpen(t, dir)
			if _, _, err := x.Search(t.Context(), Query{Text: queries[0]}, nil); err != nil {
				t.Fatal(err)
			}
			overwrite(t, path, bad)
			for i, q := range queries {
				hits, _, err := x.Search(t.Context(), Query{Text: q, Limit: 50, Explain: true}, nil)
				if errors.Is(err, ErrDamaged) {
					refused++
				} else if diff := cmp.Diff(want[i], hits, cmpopts.EquateApprox(0, 1e-9), cmpopts.EquateEmpty()); err != nil || diff != "" {
					t.Fatalf("byte %d: %q: %v (-want +got):\n%s", at, q, err, diff)
				}
			}
			overwrite(t, path, good)
		}
	}
	if refused == 0 {
		t.Error("no damage was seen")
	}
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
