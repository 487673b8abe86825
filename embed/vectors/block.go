package vectors

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
)

// # The file of vectors
//
// embeddings.bin is a row of blocks, appended one by one; of two vectors of one
// encoder and ID the later one counts. All numbers are little endian.
//
//	0   8 bytes  "lcvec2\r\n"
//	8   uint32   CRC-32C of the front, from here on
//	12  uint32   length of the block, this head included
//	16  uint32   n, the number of vectors
//	20  uint16   values a vector
//	22  uint16   length of the encoder's name
//	24  uint32   length of all IDs together
//	28           the encoder's name
//	             uint32 × n: where each ID ends; the IDs
//	             uint64 × n: the hashes of the texts
//	             float32 × n: the scales
//	             uint32 × n: CRC-32C of each vector's values
//	             the front ends
//	             int8 × n × values
//
// A command that asks one question keeps the fronts, and lets the values run
// through a small buffer: so each vector has a checksum of its own, which is
// compared when the vector is used.
const (
	blockMagic = "lcvec2\r\n"
	blockHead  = 28
	blockRows  = 1 << 14 // the most that one block gets
	maxName    = 1 << 10
	maxDim     = 1 << 13
)

// checksum is CRC-32C, for which most processors have an instruction. The table
// is made once, by the first who asks.
func checksum(data []byte) uint32 {
	return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
}

// block is one block of the file, read where it lies.
type block struct {
	front   []byte
	size    int   // in the file
	from    int64 // where the values are there, when rows is nil
	encoder string
	n, dim  int
	ends    []byte // 4 a vector
	ids     []byte
	texts   []byte // 8 a vector
	scales  []byte // 4 a vector
	sums    []byte // 4 a vector
	rows    []byte // dim a vector; nil: they are left in the file
}

// shape is what the head of a block says.
type shape struct{ size, n, dim, name, ids int64 }

// shapeOf reads a head; false when it is none.
func shapeOf(head []byte) (s shape, ok bool) {
	if len(head) < blockHead || string(head[:len(blockMagic)]) != blockMagic {
		return s, false
	}
	le := binary.LittleEndian
	s = shape{int64(le.Uint32(head[12:])), int64(le.Uint32(head[16:])), int64(le.Uint16(head[20:])), int64(le.Uint16(head[22:])), int64(le.Uint32(head[24:]))}
	return s, s.dim > 0 && s.size == s.front()+s.n*s.dim
}

// front is the length of a block without its values.
func (s shape) front() int64 {
	return blockHead + s.name + s.ids + s.n*20
}

// newBlock gives a block with the head and the keys of n vectors, all zero.
func newBlock(encoder string, dim int, keys []Key) *block {
	ids := 0
	for _, k := range keys {
		ids += len(k.ID)
	}
	n := len(keys)
	s := shape{0, int64(n), int64(dim), int64(len(encoder)), int64(ids)}
	s.size = s.front() + s.n*s.dim
	data := make([]byte, s.size)
	le := binary.LittleEndian
	copy(data, blockMagic)
	le.PutUint32(data[12:], uint32(len(data)))
	le.PutUint32(data[16:], uint32(n))
	le.PutUint16(data[20:], uint16(dim))
	le.PutUint16(data[22:], uint16(len(encoder)))
	le.PutUint32(data[24:], uint32(ids))
	copy(data[blockHead:], encoder)
	b := layOut(s, data)
	at := 0
	for i, k := range keys {
		at += copy(b.ids[at:], k.ID)
		le.PutUint32(b.ends[4*i:], uint32(at))
		le.PutUint64(b.texts[8*i:], k.Text)
	}
	return b
}

// layOut finds the parts of a block; data is all of it, or its front.
func layOut(s shape, data []byte) *block {
	b := &block{front: data[:s.front()], size: int(s.size), n: int(s.n), dim: int(s.dim)}
	rest := data[blockHead:]
	cut := func(size int64) []byte {
		part := rest[:size:size]
		rest = rest[size:]
		return part
	}
	b.encoder = string(cut(s.name))
	b.ends, b.ids, b.texts, b.scales, b.sums = cut(4*s.n), cut(s.ids), cut(8*s.n), cut(4*s.n), cut(4*s.n)
	if len(rest) > 0 || s.n == 0 {
		b.rows = cut(s.dim * s.n)
	}
	return b
}

// seal writes the checksums and gives the bytes for the file.
func (b *block) seal() []byte {
	for i := range b.n {
		binary.LittleEndian.PutUint32(b.sums[4*i:], checksum(b.row(i)))
	}
	binary.LittleEndian.PutUint32(b.front[8:], checksum(b.front[12:]))
	return b.front[:b.size]
}

// readBlock gives the block that data begins with, whole or only its front; nil
// when there is none. Whose last vector is damaged is none: it was cut off, and
// another block stands in the place of the rest.
func readBlock(data []byte, whole bool) *block {
	s, ok := shapeOf(data)
	need := s.front()
	if whole {
		need = s.size
	}
	if !ok || need > int64(len(data)) {
		return nil
	}
	b := layOut(s, data[:need:need])
	if binary.LittleEndian.Uint32(b.front[8:]) != checksum(b.front[12:]) {
		return nil
	}
	last := uint32(0)
	for i := range b.n {
		end := binary.LittleEndian.Uint32(b.ends[4*i:])
		if end <= last || int(end) > len(b.ids) {
			return nil
		}
		last = end
	}
	if whole && b.n > 0 && !b.sound(b.n-1, b.row(b.n-1)) {
		return nil
	}
	return b
}

// readBlocks gives all blocks of data, skipping what is none; where the last
// one ends; and how many bytes were skipped, those behind the last one included.
func readBlocks(data []byte) (blocks []*block, end, waste int) {
	for at := 0; at < len(data); {
		if b := readBlock(data[at:], true); b != nil {
			blocks = append(blocks, b)
			at += b.size
			end = at
			continue
		}
		next := bytes.Index(data[at+1:], []byte(blockMagic))
		if next < 0 {
			return blocks, end, waste + len(data) - at
		}
		waste += next + 1
		at += next + 1
	}
	return blocks, end, waste
}

// idBytes is the ID of vector i, where it lies.
func (b *block) idBytes(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = binary.LittleEndian.Uint32(b.ends[4*i-4:])
	}
	return b.ids[from:binary.LittleEndian.Uint32(b.ends[4*i:])]
}

// key is what vector i is of.
func (b *block) key(i int) Key {
	return Key{ID: string(b.idBytes(i)), Text: binary.LittleEndian.Uint64(b.texts[8*i:])}
}

func (b *block) scale(i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(b.scales[4*i:]))
}

// sound reports whether a vector's values are those that were written.
func (b *block) sound(i int, row []byte) bool {
	return binary.LittleEndian.Uint32(b.sums[4*i:]) == checksum(row)
}

func (b *block) row(i int) []byte { return b.rows[i*b.dim : (i+1)*b.dim] }

// set stores vector i as whole numbers and a scale. A vector of zeros has the
// scale 0.
func (b *block) set(i int, v []float32) {
	most := float32(0)
	for _, x := range v {
		most = max(most, x, -x)
	}
	scale := most / 127
	if scale == 0 {
		return
	}
	binary.LittleEndian.PutUint32(b.scales[4*i:], math.Float32bits(scale))
	row := b.row(i)
	for j, x := range v {
		row[j] = byte(int8(math.RoundToEven(float64(x) / float64(scale))))
	}
}

// copyRow makes vector i that of another block, to the bit.
func (b *block) copyRow(i int, from *block, j int) {
	copy(b.scales[4*i:4*i+4], from.scales[4*j:])
	copy(b.row(i), from.row(j))
}
