package embed

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
//	0   8 bytes  "lcvec1\r\n"
//	8   uint32   CRC-32C of the rest of the block
//	12  uint32   length of the block, this head included
//	16  uint32   n, the number of vectors
//	20  uint16   values a vector
//	22  uint16   length of the encoder's name
//	24  uint32   length of all IDs together
//	28           the encoder's name
//	             uint32 × n: where each ID ends; the IDs
//	             uint64 × n: the hashes of the texts
//	             float32 × n: the scales
//	             int8 × n × values
const (
	blockMagic = "lcvec1\r\n"
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
	data    []byte
	encoder string
	n, dim  int
	ends    []byte // 4 a vector
	ids     []byte
	texts   []byte // 8 a vector
	scales  []byte // 4 a vector
	rows    []byte // dim a vector
}

// newBlock gives a block with the head and the keys of n vectors, all zero.
func newBlock(encoder string, dim int, keys []Key) *block {
	ids := 0
	for _, k := range keys {
		ids += len(k.ID)
	}
	n := len(keys)
	data := make([]byte, blockHead+len(encoder)+ids+n*(16+dim))
	le := binary.LittleEndian
	copy(data, blockMagic)
	le.PutUint32(data[12:], uint32(len(data)))
	le.PutUint32(data[16:], uint32(n))
	le.PutUint16(data[20:], uint16(dim))
	le.PutUint16(data[22:], uint16(len(encoder)))
	le.PutUint32(data[24:], uint32(ids))
	copy(data[blockHead:], encoder)
	b, _ := layOut(data)
	at := 0
	for i, k := range keys {
		at += copy(b.ids[at:], k.ID)
		le.PutUint32(b.ends[4*i:], uint32(at))
		le.PutUint64(b.texts[8*i:], k.Text)
	}
	return b
}

// layOut finds the parts of a block; false when the head does not fit the length.
func layOut(data []byte) (*block, bool) {
	le := binary.LittleEndian
	n, dim := int64(le.Uint32(data[16:])), int64(le.Uint16(data[20:]))
	name, ids := int64(le.Uint16(data[22:])), int64(le.Uint32(data[24:]))
	if dim == 0 || int64(len(data)) != blockHead+name+ids+n*(16+dim) {
		return nil, false
	}
	b := &block{data: data, n: int(n), dim: int(dim)}
	rest := data[blockHead:]
	cut := func(size int64) []byte {
		part := rest[:size:size]
		rest = rest[size:]
		return part
	}
	b.encoder = string(cut(name))
	b.ends, b.ids, b.texts, b.scales, b.rows = cut(4*n), cut(ids), cut(8*n), cut(4*n), cut(dim*n)
	return b, true
}

// seal writes the checksum and gives the bytes for the file.
func (b *block) seal() []byte {
	binary.LittleEndian.PutUint32(b.data[8:], checksum(b.data[12:]))
	return b.data
}

// readBlock gives the block that data begins with, and its length; nil when
// there is none, or not all of it.
func readBlock(data []byte) *block {
	if len(data) < blockHead || string(data[:len(blockMagic)]) != blockMagic {
		return nil
	}
	size := int64(binary.LittleEndian.Uint32(data[12:]))
	if size < blockHead || size > int64(len(data)) {
		return nil
	}
	data = data[:size:size]
	if binary.LittleEndian.Uint32(data[8:]) != checksum(data[12:]) {
		return nil
	}
	b, ok := layOut(data)
	if !ok {
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
	return b
}

// readBlocks gives all blocks of data, skipping what is none; where the last
// one ends; and how many bytes were skipped, those behind the last one included.
func readBlocks(data []byte) (blocks []*block, end, waste int) {
	for at := 0; at < len(data); {
		if b := readBlock(data[at:]); b != nil {
			blocks = append(blocks, b)
			at += len(b.data)
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
