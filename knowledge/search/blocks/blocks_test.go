package blocks_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"leanctx/knowledge/search/blocks"
)

func written(t *testing.T, size int) (path string, data []byte) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(size)))
	data = make([]byte, size)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	path = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, data
}

func open(t *testing.T, path string, data []byte) *blocks.File {
	t.Helper()
	f, err := blocks.New(path, 0, len(data), blocks.Sums(data))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Whatever is asked for, in whatever order, by several at once, is what was written.
func TestBytes(t *testing.T) {
	for _, size := range []int{0, 1, blocks.Size - 1, blocks.Size, blocks.Size + 1, 9*blocks.Size + 77} {
		path, data := written(t, size)
		sums, n, err := blocks.SumsOf(bytes.NewReader(data))
		if err != nil || n != size || len(sums) != blocks.Count(size) {
			t.Fatalf("%d bytes: %d sums of %d bytes, %v", size, len(sums), n, err)
		}
		f, err := blocks.New(path, 0, n, sums)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(2, uint64(i)))
				for range 50 {
					from := r.IntN(size + 1)
					to := from + r.IntN(size+2)
					got, err := f.Bytes(from, to)
					if err != nil || !bytes.Equal(got, data[from:min(to, size)]) {
						t.Errorf("%d bytes: from %d to %d: %d bytes, %v", size, from, to, len(got), err)
					}
				}
			})
		}
		wg.Wait()
		if got, err := f.All(); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: all: %v", size, err)
		}
		for _, from := range []int{-1, size + 1} {
			if _, err := f.Bytes(from, from+1); !errors.Is(err, blocks.ErrDamaged) {
				t.Errorf("%d bytes: from %d: %v", size, from, err)
			}
		}
	}
}

// What was read stays; what was not is an error when the file is no longer what it was, and good again when it is.
func TestChanged(t *testing.T) {
	path, data := written(t, 8*blocks.Size)
	for name, change := range map[string]func() error{
		"cut":     func() error { return os.Truncate(path, 5*blocks.Size+1) },
		"empty":   func() error { return os.Truncate(path, 0) },
		"deleted": func() error { return os.Remove(path) },
		"flipped": func() error {
			bad := bytes.Clone(data)
			bad[5*blocks.Size] ^= 1
			return os.WriteFile(path, bad, 0o600)
		},
		"a directory": func() error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		f := open(t, path, data)
		if _, err := f.Bytes(0, 10); err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Bytes(0, blocks.Size); err != nil || !bytes.Equal(got, data[:blocks.Size]) {
			t.Errorf("%s: what was read is gone: %v", name, err)
		}
		got, err := f.Bytes(5*blocks.Size, 6*blocks.Size)
		if err == nil {
			t.Errorf("%s: and not seen: %d bytes", name, len(got))
		}
		if name == "deleted" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := f.All(); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: mended, and still %v", name, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, size := range []int{-1, blocks.Size + 1, 0} {
		if _, err := blocks.New("x", 0, size, make([]uint32, 1)); !errors.Is(err, blocks.ErrDamaged) {
			t.Errorf("%d bytes with one checksum: %v", size, err)
		}
	}
}
