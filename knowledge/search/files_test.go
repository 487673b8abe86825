package search

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"leanctx/knowledge/search/blocks"
	"leanctx/knowledge/search/index"
	"leanctx/knowledge/search/segment"
	"leanctx/knowledge/words"
)

// What lies in the directory of an index: see package index.
const (
	lockName   = "index.lock"
	headerName = "generation.json"
	partName   = "part-m3"
	tempPrefix = "tmp-"
)

func generationName(n int) string { return fmt.Sprintf("%d-m3", n) }

// segments are the files of a directory's only generation.
func segments(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v, %v: want a lock and a generation", entries, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.zap"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// lost reports whether an error says that a file is not what was written.
func lost(err error) bool {
	return errors.Is(err, blocks.ErrDamaged) || errors.Is(err, segment.ErrDamaged) || errors.Is(err, fs.ErrNotExist)
}

// wholly reads all that a search may read of a generation.
func wholly(x *Index) bool {
	return x.View(func(sources []index.Source) (err error) {
		keep := func(e error) {
			if err == nil {
				err = e
			}
		}
		for _, s := range sources {
			keep(s.Similar("", words.Prefixed, func(w string) {
				for f := range index.FieldCount {
					_, e := s.Count(w, f)
					keep(e)
				}
			}))
			for n := range uint32(s.Slots()) {
				who, e := s.Identify(n)
				keep(e)
				for _, name := range []string{"#", index.AsWritten, index.ByWords} {
					keep(s.Named(name+who.ID, func(uint32) {}))
				}
			}
		}
		return err
	}) == nil
}
