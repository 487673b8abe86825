package overview

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"leanctx/internal/atomicfile"
	"leanctx/overview/source"
	"leanctx/overview/tree"
)

// The cache is one file: a line that names the format, the CRC-32 of the rest, and the rest.
// Numbers are varints, strings have their length before them. It is not JSON because it is read
// at every call. 10,000 entries take 7 MB, which JSON would take 100 ms to parse.
const (
	cacheMagic = "lean-ctx map 5\n"
	cacheMost  = 1 << 30 // bytes; what is larger is not ours
)

// stored is what the cache holds.
type stored struct {
	entries map[string]*entry
	head    string // the commit that history is about
	history tree.History
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
	empty := &stored{entries: map[string]*entry{}}
	if name == "" {
		return empty, nil
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > cacheMost {
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
	d := &decoder{rest: string(data[start:])}
	s := d.stored()
	if d.bad {
		return empty, errCache
	}
	return s, nil
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// saveCache replaces the cache. It is not synced: after a crash a damaged one is
// noticed, and read as none.
func saveCache(name string, s *stored, entries []*entry) error {
	b := append(make([]byte, 0, 1<<20), cacheMagic...)
	b = append(b, 0, 0, 0, 0)
	b = s.append(b, entries)
	const start = len(cacheMagic) + 4
	binary.BigEndian.PutUint32(b[len(cacheMagic):], crc32.Checksum(b[start:], castagnoli()))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return atomicfile.WriteFile(name, b, atomicfile.Options{})
}

func (s *stored) append(b []byte, entries []*entry) []byte {
	b = appendString(b, s.head)
	b = binary.AppendUvarint(b, uint64(len(s.history.Touched)))
	for _, name := range slices.Sorted(maps.Keys(s.history.Touched)) {
		b = binary.AppendUvarint(appendString(b, name), uint64(s.history.Touched[name]))
	}
	b = binary.AppendUvarint(b, uint64(len(s.history.Commits)))
	for _, c := range s.history.Commits {
		b = appendList(appendString(b, c.Subject), c.Files)
	}
	b = binary.AppendUvarint(b, uint64(len(entries)))
	for _, e := range entries {
		b = e.append(b)
	}
	return b
}

func (e *entry) append(b []byte) []byte {
	b = appendString(b, e.Path)
	for _, n := range []int64{e.Size, e.ModTime, e.readAt, int64(e.class), int64(e.more), int64(e.weight)} {
		b = binary.AppendVarint(b, n)
	}
	for _, s := range []string{string(e.language), e.pkg, e.doc, e.terms} {
		b = appendString(b, s)
	}
	return appendList(appendList(b, e.names), e.imports)
}

func appendList(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendString(b, s)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decoder takes values off the front of rest. Strings are parts of it. After
// a mistake it gives zeros.
type decoder struct {
	rest string
	bad  bool
}

func (d *decoder) uvarint() uint64 {
	var n uint64
	for i := 0; i < len(d.rest) && i < binary.MaxVarintLen64; i++ {
		c := d.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.rest = d.rest[i+1:]
			return n
		}
	}
	d.bad, d.rest = true, ""
	return 0
}

func (d *decoder) varint() int64 {
	n := d.uvarint()
	return int64(n>>1) ^ -int64(n&1)
}

func (d *decoder) text() string {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, ""
		return ""
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

// count is the length of a list, each item of which takes a byte at least.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, ""
		return 0
	}
	return int(n)
}

func (d *decoder) list() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = d.text()
	}
	return out
}

func (d *decoder) stored() *stored {
	s := &stored{head: d.text(), history: tree.History{Touched: map[string]int{}}}
	for range d.count() {
		name := d.text()
		s.history.Touched[name] = int(d.uvarint())
	}
	for range d.count() {
		s.history.Commits = append(s.history.Commits, tree.Commit{Subject: d.text(), Files: d.list()})
	}
	n := d.count()
	s.entries = make(map[string]*entry, n)
	all := make([]entry, n)
	for i := range all {
		d.entry(&all[i])
		s.entries[all[i].Path] = &all[i]
	}
	return s
}

func (d *decoder) entry(e *entry) {
	e.File = tree.File{Path: d.text(), Size: d.varint(), ModTime: d.varint()}
	e.readAt, e.class, e.more, e.weight = d.varint(), class(d.varint()), int(d.varint()), int(d.varint())
	e.language, e.pkg, e.doc, e.terms = source.Language(d.text()), d.text(), d.text(), d.text()
	e.names, e.imports = d.list(), d.list()
	d.bad = d.bad || len(e.terms)%packedTerm != 0
}
