package vectors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"leanctx/internal/atomicfile"
)

const (
	vectorFile     = "embeddings.bin"
	describingFile = "embeddings.json"
	headerSize     = 32
	magic          = "lcvec"
	version        = '2'     // follows the magic
	streamed       = 4 << 20 // the size of a file whose numbers a command leaves there
)

// matrix is the vectors of one encoder, sorted by id.
type matrix struct {
	encoder string
	dim, n  int
	arrays  []byte // name, scales, sums, texts, ends, ids: see [encodeMatrix]
	rows    []byte // nil: they are in the file, from offset on
	offset  int64
}

// entry is one vector on its way into a matrix.
type entry struct {
	id    string
	text  uint64
	scale float32
	sum   uint32 // of the row as it was stored; 0: not known yet
	row   []byte
}

// at returns the i-th element of one of the arrays, which begins after so many
// bytes for each vector and has elements of size bytes.
func (m *matrix) at(before, size, i int) []byte {
	from := len(m.encoder) + before*m.n + size*i
	return m.arrays[from : from+size]
}

func (m *matrix) scale(i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(m.at(0, 4, i)))
}
func (m *matrix) sum(i int) uint32  { return binary.LittleEndian.Uint32(m.at(4, 4, i)) }
func (m *matrix) text(i int) uint64 { return binary.LittleEndian.Uint64(m.at(8, 8, i)) }
func (m *matrix) end(i int) int     { return int(binary.LittleEndian.Uint32(m.at(16, 4, i))) }

// id is the i-th id. It must not be changed or kept.
func (m *matrix) id(i int) []byte {
	from := 0
	if i > 0 {
		from = m.end(i - 1)
	}
	ids := m.arrays[len(m.encoder)+20*m.n:]
	return ids[from:m.end(i)]
}

func (m *matrix) row(i int) []byte { return m.rows[i*m.dim : (i+1)*m.dim] }

// sound says whether a row is as it was written.
func (m *matrix) sound(i int, row []byte) bool {
	return row != nil && crc32.ChecksumIEEE(row) == m.sum(i)
}

// find returns the place of a text's vector. A nil matrix has none, and a
// damaged vector counts as none.
func (m *matrix) find(t Text) (int, bool) {
	if m == nil {
		return 0, false
	}
	i := sort.Search(m.n, func(i int) bool { return bytes.Compare(m.id(i), []byte(t.ID)) >= 0 })
	ok := i < m.n && string(m.id(i)) == t.ID && m.text(i) == t.hash()
	return i, ok && (m.rows == nil || m.sound(i, m.row(i)))
}

// header is what comes before a section.
func (m *matrix) header() []byte {
	h := make([]byte, headerSize)
	copy(h, magic+string(version))
	binary.LittleEndian.PutUint32(h[12:], uint32(len(m.encoder)))
	binary.LittleEndian.PutUint32(h[16:], uint32(m.dim))
	binary.LittleEndian.PutUint32(h[20:], uint32(m.n))
	binary.LittleEndian.PutUint32(h[24:], uint32(len(m.arrays)))
	binary.LittleEndian.PutUint32(h[8:], crc32.Update(crc32.ChecksumIEEE(h[12:]), crc32.IEEETable, m.arrays))
	return h
}

// newMatrix makes a matrix of vectors.
func newMatrix(encoder string, dim int, entries []entry) *matrix {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
	m := &matrix{encoder: encoder, dim: dim, n: len(entries), arrays: []byte(encoder), rows: make([]byte, 0, dim*len(entries))}
	for _, e := range entries {
		m.arrays = binary.LittleEndian.AppendUint32(m.arrays, math.Float32bits(e.scale))
	}
	for _, e := range entries {
		if e.sum == 0 {
			e.sum = crc32.ChecksumIEEE(e.row)
		}
		m.arrays = binary.LittleEndian.AppendUint32(m.arrays, e.sum)
		m.rows = append(m.rows, e.row...)
	}
	for _, e := range entries {
		m.arrays = binary.LittleEndian.AppendUint64(m.arrays, e.text)
	}
	end := 0
	for _, e := range entries {
		end += len(e.id)
		m.arrays = binary.LittleEndian.AppendUint32(m.arrays, uint32(end))
	}
	for _, e := range entries {
		m.arrays = append(m.arrays, e.id...)
	}
	return m
}

var errSection = errors.New("not a section of vectors")

// readMatrix reads the section at an offset of a file of a size, and returns
// where the next one begins.
func readMatrix(file io.ReaderAt, offset, size int64, whole bool) (*matrix, int64, error) {
	h := make([]byte, headerSize)
	if _, err := file.ReadAt(h, offset); err != nil {
		return nil, 0, err
	}
	u32 := func(at int) int64 { return int64(binary.LittleEndian.Uint32(h[at:])) }
	name, dim, n, arrays := u32(12), u32(16), u32(20), u32(24)
	next := offset + headerSize + arrays + n*dim
	if string(h[:6]) != magic+string(version) || name < 1 || name > maxName || dim < 1 || dim > maxDim || arrays < name+20*n || next > size {
		return nil, 0, errSection
	}
	m := &matrix{dim: int(dim), n: int(n), arrays: make([]byte, arrays), offset: offset + headerSize + arrays}
	if _, err := file.ReadAt(m.arrays, offset+headerSize); err != nil {
		return nil, 0, err
	}
	m.encoder = string(m.arrays[:name])
	if !bytes.Equal(h, m.header()) {
		return nil, 0, errSection
	}
	// The checksum is right, but a file may have been made to be wrong.
	for i, before := 0, 0; i < m.n; i++ {
		if m.end(i) < before || int64(m.end(i)) > arrays-name-20*n {
			return nil, 0, errSection
		}
		before = m.end(i)
	}
	if whole {
		m.rows = make([]byte, n*dim)
		if _, err := file.ReadAt(m.rows, m.offset); err != nil {
			return nil, 0, err
		}
	}
	return m, next, nil
}

// load reads the file if it is another one than before. What cannot be read
// counts as absent.
func (x *Index) load() {
	info, err := os.Stat(filepath.Join(x.dir, vectorFile))
	if err != nil || !info.Mode().IsRegular() {
		if x.stamp != nil {
			x.stamp, x.newer, x.sets = nil, false, map[string]*matrix{}
		}
		return
	}
	if old := x.stamp; old != nil && os.SameFile(old, info) && old.Size() == info.Size() && old.ModTime().Equal(info.ModTime()) {
		return
	}
	file, err := os.Open(filepath.Join(x.dir, vectorFile))
	if err != nil {
		return
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return
	}
	x.stamp, x.newer, x.sets = info, newer(file), map[string]*matrix{}
	for at := int64(0); at < info.Size() && !x.newer; {
		m, next, err := readMatrix(file, at, info.Size(), x.inMemory || info.Size() < streamed)
		if err != nil {
			return
		}
		x.sets[m.encoder], at = m, next
	}
}

// newer says whether a file is of a version that is not known yet.
func newer(file io.ReaderAt) bool {
	h := make([]byte, len(magic)+1)
	_, err := file.ReadAt(h, 0)
	return err == nil && string(h[:len(magic)]) == magic && h[len(magic)] > version && h[len(magic)] <= '9'
}

// loadWhole reads the numbers too, for good.
func (x *Index) loadWhole() {
	if !x.inMemory {
		x.inMemory = true
		if slices.ContainsFunc(slices.Collect(maps.Values(x.sets)), func(m *matrix) bool { return m.rows == nil }) {
			x.stamp = nil
		}
	}
	x.load()
}

// change adds vectors of an encoder, which replace those with the same ids,
// takes away those that are gone, and writes the file.
func (x *Index) change(encoder string, dim int, added map[string]entry, gone map[string]bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.loadWhole()
	if added == nil && (len(x.sets) == 0 || x.newer) {
		return x.remove()
	}
	if m := x.sets[encoder]; added != nil && (m == nil || m.dim != dim) {
		x.sets[encoder] = newMatrix(encoder, dim, nil)
	}
	sets, changed := map[string]*matrix{}, false
	for name, m := range x.sets {
		var kept []entry
		for i := range m.n {
			id := string(m.id(i))
			if _, again := added[id]; gone[id] || again && name == encoder || !m.sound(i, m.row(i)) {
				changed = true
				continue
			}
			kept = append(kept, entry{id, m.text(i), m.scale(i), m.sum(i), m.row(i)})
		}
		if name == encoder {
			changed = changed || len(added) > 0
			kept = slices.AppendSeq(kept, maps.Values(added))
		}
		if len(kept) > 0 {
			sets[name] = newMatrix(name, m.dim, kept)
		}
	}
	if !changed {
		return nil
	}
	x.sets = sets
	if x.newer {
		return nil // they serve this process
	}
	if err := x.write(); err != nil {
		return fmt.Errorf("vectors in %s: %w", x.dir, err)
	}
	return nil
}

// write writes both files. There is no fsync: after a crash of the system the
// vectors are made again.
func (x *Index) write() error {
	if len(x.sets) == 0 {
		return x.remove()
	}
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return err
	}
	err := atomicfile.Write(filepath.Join(x.dir, vectorFile), atomicfile.Options{}, func(w io.Writer) error {
		for _, name := range slices.Sorted(maps.Keys(x.sets)) {
			m := x.sets[name]
			for _, part := range [][]byte{m.header(), m.arrays, m.rows} {
				if _, err := w.Write(part); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if x.stamp, err = os.Stat(filepath.Join(x.dir, vectorFile)); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(x.dir, describingFile), atomicfile.Options{}, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(map[string]any{"schema": 2, "encoders": x.entries(), "bytes": x.stamp.Size()})
	})
}

// remove deletes the files.
func (x *Index) remove() error {
	x.stamp, x.newer, x.sets = nil, false, map[string]*matrix{}
	var errs []error
	for _, name := range []string{vectorFile, describingFile} {
		if err := os.Remove(filepath.Join(x.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (x *Index) entries() (list []EncoderEntries) {
	for _, m := range x.sets {
		list = append(list, EncoderEntries{m.encoder, m.dim, m.n})
	}
	slices.SortFunc(list, func(a, b EncoderEntries) int { return strings.Compare(a.Name, b.Name) })
	return list
}
