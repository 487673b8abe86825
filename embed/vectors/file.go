package vectors

import (
	"bufio"
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
	magic      = "lcvec"
	version    = 4
	maxBlock   = 256 // vectors of a block
)

// ErrDamaged says that the file of vectors is not as it was written. It is deleted then.
var ErrDamaged = errors.New("the file of vectors is damaged")

// contents is what the beginning of a file says of the rest.
type contents struct {
	first string          // line: its checksum is as good as one of the whole file
	newer bool            // a newer version of the program wrote the rest
	sets  map[string]*set // by the encoder's name
	body  int64           // where the blocks begin
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
	offset int64  // in the body
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

func (b block) id(i int) string { return string(b.idBytes(i)) }

func (b block) idBytes(i int) []byte {
	ids := b.data[14*b.count:]
	return ids[b.end(i):b.end(i+1)]
}

func (b block) row(i int) []byte {
	rows := b.data[14*b.count+b.end(b.count):]
	return rows[i*b.dim : (i+1)*b.dim]
}

// find returns the place of a text's vector.
func (b block) find(t Text) (int, bool) {
	i, found := sort.Find(b.count, func(i int) int {
		switch id := b.idBytes(i); { // a comparison makes no string of them
		case t.ID < string(id):
			return -1
		case t.ID > string(id):
			return 1
		}
		return 0
	})
	return i, found && b.text(i) == t.Hash()
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

func appendBlock(to []byte, entries []*entry) []byte {
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
	return fmt.Sprintf("%s%d %08x", magic, version, crc32.ChecksumIEEE(second))
}

// readContents reads the beginning of a file of a size. The error is [ErrDamaged], or why it cannot be
// read now.
func readContents(file io.ReaderAt, size int64) (contents, error) {
	r := bufio.NewReader(io.NewSectionReader(file, 0, size))
	start, err := r.ReadSlice('\n')
	first, wrote := strings.TrimSuffix(string(start), "\n"), 0
	if err != nil {
		return contents{}, damage(err)
	}
	if _, err := fmt.Sscanf(first, magic+"%d ", &wrote); err == nil && wrote > version {
		return contents{first: first, newer: true}, nil
	}
	second, err := r.ReadBytes('\n')
	if err != nil {
		return contents{}, damage(err)
	}
	var sets []*set
	if first != firstLine(second) || json.Unmarshal(second, &sets) != nil {
		return contents{}, ErrDamaged
	}
	c := contents{first: first, sets: map[string]*set{}, body: int64(len(start) + len(second))}
	offset, left := int64(0), size-c.body
	for _, s := range sets {
		if s == nil || s.Name == "" || s.Dim < 1 || s.Dim > maxDim {
			return contents{}, ErrDamaged
		}
		n := 0
		for i := range s.Blocks {
			p := &s.Blocks[i]
			if p.Count < 1 || p.Count > maxBlock || p.Size < 0 || p.Size > left-offset {
				return contents{}, ErrDamaged
			}
			p.offset, offset, n = offset, offset+p.Size, n+p.Count
		}
		if n == 0 || n != s.Entries {
			return contents{}, ErrDamaged
		}
		c.sets[s.Name] = s
	}
	if offset != left {
		return contents{}, ErrDamaged
	}
	return c, nil
}

// damage is what an error of reading says of the file: one that is too short is damaged, another may be
// read again.
func damage(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrBufferFull) {
		return ErrDamaged
	}
	return err
}

// opened is the vectors while they are read.
type opened struct {
	contents
	from   io.ReaderAt
	kept   []byte      // all blocks, whose checksums are right; nil: they are read one by one
	memory *memory     // they come from it; nil: from the file
	file   *os.File    // nil: there is none
	stamp  os.FileInfo // of the file
}

func (f *opened) close() { _ = f.file.Close() } // it was only read; there may be none

// read reads all blocks and compares their checksums. It returns nil if a block is damaged or
// cannot be read. Whoever needs that block then finds out.
func (c *contents) read(file io.ReaderAt, size int64) []byte {
	body := make([]byte, size-c.body)
	if _, err := file.ReadAt(body, c.body); err != nil && err != io.EOF {
		return nil
	}
	for _, s := range c.sets {
		for _, p := range s.Blocks {
			b := block{p.Count, s.Dim, body[p.offset : p.offset+p.Size]}
			if crc32.ChecksumIEEE(b.data) != p.CRC || !b.whole() {
				return nil
			}
		}
	}
	return body
}

// block gives a block of a set. It reads it into a buffer, which grows if necessary, unless the
// blocks are in memory. The error is [ErrDamaged], or why it cannot be read now.
func (f *opened) block(s *set, i int, buffer []byte) (block, error) {
	p := s.Blocks[i]
	if f.kept != nil {
		return block{p.Count, s.Dim, f.kept[p.offset : p.offset+p.Size : p.offset+p.Size]}, nil
	}
	b := block{p.Count, s.Dim, slices.Grow(buffer[:0], int(p.Size))[:p.Size]}
	if _, err := f.from.ReadAt(b.data, f.body+p.offset); err != nil && err != io.EOF {
		return block{}, err
	}
	if crc32.ChecksumIEEE(b.data) != p.CRC || !b.whole() {
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
