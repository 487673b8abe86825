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
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/internal/atomicfile"
)

const (
	vectorFile     = "embeddings.bin"
	describingFile = "embeddings.json"
	magic          = "lcvec3" // the version is its last byte
)

// matrix is the vectors of one encoder, sorted by id. It is never changed.
type matrix struct {
	encoder  string
	dim      int
	complete time.Time // see [Index.Complete]
	ids      []string
	texts    []uint64  // hashes
	scales   []float32 // of the rows
	rows     []byte    // dim numbers of eight bits for each vector
}

// entry is one vector on its way into a matrix.
type entry struct {
	id    string
	text  uint64
	scale float32
	row   []byte
}

func (m *matrix) row(i int) []byte { return m.rows[i*m.dim : (i+1)*m.dim] }

// find returns the place of a text's vector. A nil matrix has none.
func (m *matrix) find(t Text) (int, bool) {
	if m == nil {
		return 0, false
	}
	i, ok := slices.BinarySearch(m.ids, t.ID)
	return i, ok && m.texts[i] == t.hash()
}

// missing are the places in texts of those that have no vector.
func (m *matrix) missing(texts []Text) (places []int) {
	for i, t := range texts {
		if _, ok := m.find(t); !ok {
			places = append(places, i)
		}
	}
	return places
}

// newMatrix makes a matrix of vectors.
func newMatrix(encoder string, dim int, entries []entry) *matrix {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
	m := &matrix{encoder: encoder, dim: dim, rows: make([]byte, 0, dim*len(entries))}
	for _, e := range entries {
		m.ids, m.texts, m.scales = append(m.ids, e.id), append(m.texts, e.text), append(m.scales, e.scale)
		m.rows = append(m.rows, e.row...)
	}
	return m
}

// section is the line of JSON before the vectors of an encoder.
type section struct {
	EncoderEntries
	IDs      int       `json:"ids"` // bytes
	Complete time.Time `json:"complete,omitzero"`
}

// encode appends the section of an encoder: the line, scales, hashes, ids and rows.
func (m *matrix) encode(to []byte) ([]byte, error) {
	ids := strings.Join(m.ids, "\n")
	line, err := json.Marshal(section{m.describe(), len(ids), m.complete})
	if err != nil {
		return nil, err
	}
	to = append(append(to, line...), '\n')
	for _, numbers := range []any{m.scales, m.texts} {
		if to, err = binary.Append(to, binary.LittleEndian, numbers); err != nil {
			return nil, err
		}
	}
	return append(append(to, ids...), m.rows...), nil
}

func (m *matrix) describe() EncoderEntries { return EncoderEntries{m.encoder, m.dim, len(m.ids)} }

var errFile = errors.New("not a file of vectors")

// decode reads one section, and returns what follows it.
func decode(data []byte) (*matrix, []byte, error) {
	line, data, _ := bytes.Cut(data, []byte("\n"))
	var s section
	if err := json.Unmarshal(line, &s); err != nil {
		return nil, nil, err
	}
	n := s.Entries
	// Each is limited first, so that their products cannot overflow.
	if s.Name == "" || s.Dim < 1 || s.Dim > maxDim || n < 1 || n > len(data) || s.IDs < 0 || s.IDs > len(data) || len(data) < n*(12+s.Dim)+s.IDs {
		return nil, nil, errFile
	}
	m := &matrix{encoder: s.Name, dim: s.Dim, complete: s.Complete, scales: make([]float32, n), texts: make([]uint64, n)}
	take := func(size int) []byte {
		part := data[:size:size]
		data = data[size:]
		return part
	}
	_, err := binary.Decode(take(4*n), binary.LittleEndian, m.scales)
	_, also := binary.Decode(take(8*n), binary.LittleEndian, m.texts)
	m.ids = strings.Split(string(take(s.IDs)), "\n")
	m.rows = take(n * s.Dim)
	if err = errors.Join(err, also); err == nil && len(m.ids) != n {
		err = errFile
	}
	return m, data, err
}

// decodeFile reads a whole file: a line with the version and a checksum of the rest, then the sections.
func decodeFile(data []byte) (map[string]*matrix, error) {
	line, rest, _ := bytes.Cut(data, []byte("\n"))
	if string(line) != firstLine(rest) {
		return nil, errFile
	}
	sets := map[string]*matrix{}
	for len(rest) > 0 {
		m, next, err := decode(rest)
		if err != nil {
			return nil, err
		}
		sets[m.encoder], rest = m, next
	}
	return sets, nil
}

func firstLine(rest []byte) string { return fmt.Sprintf("%s %08x", magic, crc32.ChecksumIEEE(rest)) }

// load reads the file if it is another one than before. What cannot be read
// counts as absent.
func (x *Index) load() {
	info, err := os.Stat(x.path(vectorFile))
	if err != nil || !info.Mode().IsRegular() {
		if x.stamp != nil {
			x.stamp, x.sets = nil, map[string]*matrix{}
		}
		return
	}
	if old := x.stamp; old != nil && os.SameFile(old, info) && old.Size() == info.Size() && old.ModTime().Equal(info.ModTime()) {
		return
	}
	data, err := os.ReadFile(x.path(vectorFile))
	if err != nil {
		return
	}
	if x.sets, err = decodeFile(data); err != nil {
		x.sets = map[string]*matrix{}
	}
	x.stamp = info
}

func (x *Index) path(name string) string { return filepath.Join(x.dir, name) }

// change is what becomes of the file.
type change struct {
	encoder  string           // whose vectors are added or complete; empty: nobody's
	dim      int              // of its vectors
	added    map[string]entry // by id; they replace those with the same ids
	gone     map[string]bool  // ids, of any encoder
	complete Span             // what they are complete of, if each of texts has one
	texts    []Text
	doubt    bool // it is not known to what any encoder's are complete
}

// apply writes the file with a change, if that changes anything.
func (x *Index) apply(c change) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.load()
	if c.encoder == "" && len(x.sets) == 0 {
		return x.remove()
	}
	sets, changed := maps.Clone(x.sets), len(c.added) > 0
	if m := sets[c.encoder]; c.encoder != "" && (m == nil || m.dim != c.dim) {
		sets[c.encoder] = newMatrix(c.encoder, c.dim, nil)
	}
	for name, old := range sets {
		var kept []entry
		for i, id := range old.ids {
			if _, again := c.added[id]; !c.gone[id] && (!again || name != c.encoder) {
				kept = append(kept, entry{id, old.texts[i], old.scales[i], old.row(i)})
			}
		}
		changed = changed || len(kept) < len(old.ids)
		if name == c.encoder {
			kept = slices.AppendSeq(kept, maps.Values(c.added))
		}
		m := newMatrix(name, old.dim, kept)
		switch {
		case name == c.encoder && c.complete.follows(old.complete) && len(m.missing(c.texts)) == 0:
			m.complete = c.complete.To
		case !c.doubt:
			m.complete = old.complete
		}
		changed = changed || !m.complete.Equal(old.complete)
		if sets[name] = m; len(kept) == 0 {
			delete(sets, name)
		}
	}
	if !changed {
		return nil
	}
	x.sets = sets
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
	var data []byte
	for _, name := range slices.Sorted(maps.Keys(x.sets)) {
		var err error
		if data, err = x.sets[name].encode(data); err != nil {
			return err
		}
	}
	err := atomicfile.Write(x.path(vectorFile), atomicfile.Options{}, func(w io.Writer) error {
		if _, err := fmt.Fprintln(w, firstLine(data)); err != nil {
			return err
		}
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	if x.stamp, err = os.Stat(x.path(vectorFile)); err != nil {
		return err
	}
	return atomicfile.Write(x.path(describingFile), atomicfile.Options{}, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(map[string]any{"schema": 2, "encoders": x.entries(), "bytes": x.stamp.Size()})
	})
}

// remove deletes the files.
func (x *Index) remove() error {
	x.stamp, x.sets = nil, map[string]*matrix{}
	var errs []error
	for _, name := range []string{vectorFile, describingFile} {
		if err := os.Remove(x.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (x *Index) entries() (list []EncoderEntries) {
	for _, name := range slices.Sorted(maps.Keys(x.sets)) {
		list = append(list, x.sets[name].describe())
	}
	return list
}
