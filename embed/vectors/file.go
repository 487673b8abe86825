package vectors

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
	"sort"
	"strings"
)

const (
	vectorFile = "embeddings.bin"
	magic      = "lcvec4" // the version is its last byte
	maxBlock   = 256      // vectors of a block
)

// ErrDamaged says that the file of vectors is not as it was written. It is deleted then.
var ErrDamaged = errors.New("the file of vectors is damaged")

// contents is what the beginning of a file says of the rest.
type contents struct {
	first string          // line: its checksum is as good as one of the whole file
	sets  map[string]*set // by the encoder's name
}

// set is the vectors of one encoder, sorted by id.
type set struct {
	EncoderEntries
	Blocks []place `json:"blocks"`
}

// place is where a block is, and what it must be.
type place struct {
	First  string `json:"first"` // its least id
	Count  int    `json:"count"` // of its vectors
	Size   int64  `json:"size"`  // bytes
	CRC    uint32 `json:"crc"`   // of them
	offset int64  // in the file
}

// block is some vectors as they are in the file: their scales, the hashes of their texts, where
// their ids end, the ids, and their rows. A row is dim numbers of eight bits.
type block struct {
	count, dim int
	data       []byte
}

func (b block) scale(i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(b.data[4*i:]))
}

func (b block) text(i int) uint64 { return binary.LittleEndian.Uint64(b.data[4*b.count+8*i:]) }

// end is where the ids before the i-th one end.
func (b block) end(i int) int {
	if i == 0 {
		return 0
	}
	return int(binary.LittleEndian.Uint16(b.data[12*b.count+2*(i-1):]))
}

func (b block) id(i int) string {
	ids := b.data[14*b.count:]
	return string(ids[b.end(i):b.end(i+1)])
}

func (b block) row(i int) []byte {
	rows := b.data[14*b.count+b.end(b.count):]
	return rows[i*b.dim : (i+1)*b.dim]
}

// find returns the place of a text's vector.
func (b block) find(t Text) (int, bool) {
	i, found := sort.Find(b.count, func(i int) int { return strings.Compare(t.ID, b.id(i)) })
	return i, found && b.text(i) == t.hash()
}

// whole reports whether the block is as long as it must be. Its checksum is right, but a file may
// have been made to be wrong.
func (b block) whole() bool {
	if len(b.data) < 14*b.count {
		return false
	}
	for i := range b.count {
		if b.end(i) > b.end(i+1) {
			return false
		}
	}
	return len(b.data) == 14*b.count+b.end(b.count)+b.count*b.dim
}

// entry is one vector on its way into a file.
type entry struct {
	id    string
	text  uint64
	scale float32
	row   []byte
}

// encode makes the content of a file. The entries of each set are those of the same place.
func encode(sets []*set, entries [][]entry) ([]byte, contents, error) {
	var body []byte
	for i, s := range sets {
		slices.SortFunc(entries[i], func(a, b entry) int { return strings.Compare(a.id, b.id) })
		s.Entries = len(entries[i])
		for part := range slices.Chunk(entries[i], maxBlock) {
			from := len(body)
			body = appendBlock(body, part)
			made := body[from:]
			s.Blocks = append(s.Blocks, place{First: part[0].id, Count: len(part), Size: int64(len(made)), CRC: crc32.ChecksumIEEE(made)})
		}
	}
	line, err := json.Marshal(sets)
	if err != nil {
		return nil, contents{}, err
	}
	line = append(line, '\n')
	data := slices.Concat([]byte(firstLine(line)+"\n"), line, body)
	c, err := readContents(bytes.NewReader(data), int64(len(data)))
	return data, c, err
}

func appendBlock(to []byte, entries []entry) []byte {
	for _, e := range entries {
		to = binary.LittleEndian.AppendUint32(to, math.Float32bits(e.scale))
	}
	for _, e := range entries {
		to = binary.LittleEndian.AppendUint64(to, e.text)
	}
	end := 0
	for _, e := range entries {
		end += len(e.id)
		to = binary.LittleEndian.AppendUint16(to, uint16(end)) // ids have at most maxName bytes
	}
	for _, e := range entries {
		to = append(to, e.id...)
	}
	for _, e := range entries {
		to = append(to, e.row...)
	}
	return to
}

func firstLine(second []byte) string {
	return fmt.Sprintf("%s %08x", magic, crc32.ChecksumIEEE(second))
}

// readContents reads the beginning of a file of a size.
func readContents(file io.ReaderAt, size int64) (contents, error) {
	r := bufio.NewReader(io.NewSectionReader(file, 0, size))
	start, err := r.ReadSlice('\n')
	first := strings.TrimSuffix(string(start), "\n")
	if err != nil || !strings.HasPrefix(first, magic+" ") {
		return contents{}, ErrDamaged
	}
	second, err := r.ReadBytes('\n')
	var sets []*set
	if err != nil || first != firstLine(second) || json.Unmarshal(second, &sets) != nil {
		return contents{}, ErrDamaged
	}
	c, offset := contents{first, map[string]*set{}}, int64(len(first)+1+len(second))
	for _, s := range sets {
		if s == nil || s.Name == "" || s.Dim < 1 || s.Dim > maxDim {
			return contents{}, ErrDamaged
		}
		n := 0
		for i := range s.Blocks {
			p := &s.Blocks[i]
			if p.Count < 1 || p.Count > maxBlock || p.Size < 0 || p.Size > size-offset {
				return contents{}, ErrDamaged
			}
			p.offset, offset, n = offset, offset+p.Size, n+p.Count
		}
		if n == 0 || n != s.Entries {
			return contents{}, ErrDamaged
		}
		c.sets[s.Name] = s
	}
	if offset != size {
		return contents{}, ErrDamaged
	}
	return c, nil
}

// opened is the file while it is read.
type opened struct {
	contents
	from  io.ReaderAt
	stamp os.FileInfo // of the file; nil: there is none
	close func()      // may be called again
}

// block reads a block of a set into a buffer, which grows if necessary. The error is [ErrDamaged].
func (f *opened) block(s *set, i int, buffer []byte) (block, error) {
	p := s.Blocks[i]
	b := block{p.Count, s.Dim, slices.Grow(buffer[:0], int(p.Size))[:p.Size]}
	if _, err := f.from.ReadAt(b.data, p.offset); err != nil || crc32.ChecksumIEEE(b.data) != p.CRC || !b.whole() {
		return block{}, ErrDamaged
	}
	return b, nil
}

// each visits all blocks of a set, which may be nil.
func (f *opened) each(s *set, visit func(block)) error {
	if s == nil {
		return nil
	}
	for i := range s.Blocks {
		b, err := f.block(s, i, nil)
		if err != nil {
			return err
		}
		visit(b)
	}
	return nil
}

// find visits the vectors of those of texts that have one, each text by its place.
func (f *opened) find(encoder string, texts []Text, visit func(i int, b block, at int)) error {
	s := f.sets[encoder]
	if s == nil {
		return nil
	}
	order := make([]int, len(texts)) // by id, so that no block is read twice
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(texts[i].ID, texts[j].ID) })
	last, b := -1, block{}
	for _, i := range order {
		at, first := slices.BinarySearchFunc(s.Blocks, texts[i].ID, func(p place, id string) int { return strings.Compare(p.First, id) })
		if !first {
			at--
		}
		if at < 0 {
			continue
		}
		if at != last {
			var err error
			if b, err = f.block(s, at, nil); err != nil {
				return err
			}
			last = at
		}
		if at, ok := b.find(texts[i]); ok {
			visit(i, b, at)
		}
	}
	return nil
}

// missing are the places in texts of those that have no vector.
func (f *opened) missing(encoder string, texts []Text) (places []int, err error) {
	found := make([]bool, len(texts))
	err = f.find(encoder, texts, func(i int, _ block, _ int) { found[i] = true })
	for i, ok := range found {
		if !ok || err != nil {
			places = append(places, i)
		}
	}
	return places, err
}
