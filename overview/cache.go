package overview

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leanctx/internal/atomicfile"
	"leanctx/overview/tree"
)

// The cache is one file: a line that names the format, the CRC-32 of the rest, and the rest in
// gob.
const (
	cacheMagic = "lean-ctx map 10\n"
	maxCache   = 1 << 30 // bytes; what is larger is not ours
)

// stored is what the cache holds.
type stored struct {
	Head    string // the commit that History is about
	History tree.History
	Entries []*entry
}

var errCache = errors.New("the cache of the overview is damaged")

// cacheFile is where the cache of a root is kept: the work trees of one
// repository share a directory, but not their files. Empty without a directory.
func cacheFile(dir, root string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, fmt.Sprintf("map-%08x.bin", crc32.ChecksumIEEE([]byte(root))))
}

// loadCache reads the cache; nothing, if there is none that can be used.
func loadCache(name string) (*stored, error) {
	empty := &stored{}
	if name == "" {
		return empty, nil
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCache {
		return empty, err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return empty, err
	}
	const start = len(cacheMagic) + 4
	if len(data) < start || string(data[:len(cacheMagic)]) != cacheMagic ||
		binary.BigEndian.Uint32(data[len(cacheMagic):]) != crc32.Checksum(data[start:], castagnoli()) {
		return empty, errCache
	}
	s := &stored{}
	if err := gob.NewDecoder(bytes.NewReader(data[start:])).Decode(s); err != nil || slices.Contains(s.Entries, nil) {
		return empty, errCache
	}
	return s, nil
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// withoutSecrets forgets the files whose names hold a secret, and cleans the messages of
// commits. Such files are read again each time. What a file says was cleaned when it was read.
func (s *stored) withoutSecrets(clean func(string) string) {
	var all strings.Builder
	for _, e := range s.Entries {
		all.WriteString(e.Path + "\n")
	}
	if held := func(e *entry) bool { return clean(e.Path) != e.Path }; clean(all.String()) != all.String() {
		s.Entries = slices.DeleteFunc(slices.Clone(s.Entries), held)
	}
	h := tree.History{Touched: maps.Clone(s.History.Touched)}
	maps.DeleteFunc(h.Touched, func(name string, _ int) bool { return clean(name) != name })
	for _, c := range s.History.Commits {
		files := slices.DeleteFunc(slices.Clone(c.Files), func(name string) bool { return clean(name) != name })
		h.Commits = append(h.Commits, tree.Commit{Subject: clean(c.Subject), Files: files})
	}
	s.History = h
}

// saveCache replaces the cache. It is not synced: after a crash a damaged one is
// noticed, and read as none.
func saveCache(name string, s *stored) error {
	var b bytes.Buffer
	b.WriteString(cacheMagic + "1234")
	if err := gob.NewEncoder(&b).Encode(s); err != nil {
		return err
	}
	const start = len(cacheMagic) + 4
	binary.BigEndian.PutUint32(b.Bytes()[len(cacheMagic):], crc32.Checksum(b.Bytes()[start:], castagnoli()))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return atomicfile.WriteFile(name, b.Bytes(), atomicfile.Options{})
}
