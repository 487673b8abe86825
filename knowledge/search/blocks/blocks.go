// Package blocks reads of a file what is needed of it, a block at a time, and checks each block when it is
// first needed.
//
// The file belongs to a cache: others may delete it, cut it short, overwrite it or put another in its place at
// any time. So it is neither mapped into memory, where a file cut short kills the process that reads it, nor
// kept open, which on some systems keeps others from deleting it. What has been read stays as it was; what has
// not is read from the path, and is an error where it is not what was written, byte for byte.
package blocks

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
)

// Size is the bytes of a block; the last of a file may have less.
const Size = 1 << shift

const (
	shift    = 15
	mostOnce = 32 // blocks read at once, of a file read from one end to the other
)

// ErrDamaged says that a file is not what was written.
var ErrDamaged = errors.New("not what was written")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum is the checksum of a block, CRC-32C: cheap enough, gigabytes a second, for whatever is read.
func Sum(block []byte) uint32 { return crc32.Checksum(block, castagnoli) }

// Sums are the checksums of the blocks of a file's bytes.
func Sums(data []byte) []uint32 {
	sums := make([]uint32, 0, Count(len(data)))
	for block := range slices.Chunk(data, Size) {
		sums = append(sums, Sum(block))
	}
	return sums
}

// SumsOf are the checksums of the blocks of what r reads, and its size in bytes.
func SumsOf(r io.Reader) (sums []uint32, size int, err error) {
	block := make([]byte, Size)
	for {
		n, err := io.ReadFull(r, block)
		if n > 0 {
			sums, size = append(sums, Sum(block[:n])), size+n
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return sums, size, nil
		default:
			return nil, 0, err
		}
	}
}

// Count is how many blocks a file of so many bytes has.
func Count(size int) int { return (size + Size - 1) >> shift }

// File is a file as it was written. It is safe for concurrent use.
type File struct {
	path string
	at   int64  // where in the file its bytes begin
	data []byte // of blocks not yet read: zeros
	sums []uint32
	have []atomic.Bool

	mu   sync.Mutex
	next int // the block after the one read last
	once int // blocks to read at once
}

// New is the size bytes of a file from at on, whose blocks have these checksums. Nothing is read: memory is
// only taken, not touched.
func New(path string, at int64, size int, sums []uint32) (*File, error) {
	if size < 0 || len(sums) != Count(size) {
		return nil, fmt.Errorf("%s: %w", path, ErrDamaged)
	}
	return &File{path: path, at: at, data: make([]byte, size), sums: sums, have: make([]atomic.Bool, len(sums))}, nil
}

// Len is the size in bytes.
func (f *File) Len() int { return len(f.data) }

// Bytes are those from from to to, good for ever and not to be written to. Those beyond the end are left out.
func (f *File) Bytes(from, to int) ([]byte, error) {
	to = min(to, len(f.data))
	if from < 0 || from > to {
		return nil, fmt.Errorf("%s: byte %d of %d: %w", f.path, from, len(f.data), ErrDamaged)
	}
	for b := from >> shift; b<<shift < to; b++ {
		if !f.have[b].Load() {
			if err := f.read(b, Count(to)); err != nil {
				return nil, err
			}
		}
	}
	return f.data[from:to:to], nil
}

// All are all bytes.
func (f *File) All() ([]byte, error) { return f.Bytes(0, len(f.data)) }

// read reads the blocks from b on that are missing, to end, and more of them where the reader goes through the
// file from one end to the other.
func (f *File) read(b, end int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b == f.next {
		f.once = min(2*f.once, mostOnce)
	} else {
		f.once = 1
	}
	end = min(max(end, b+f.once), len(f.sums))
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close()
	for b < end {
		if f.have[b].Load() {
			b++
			continue
		}
		last := b + 1
		for last < end && !f.have[last].Load() {
			last++
		}
		if err := f.fill(file, b, last); err != nil {
			return err
		}
		b = last
	}
	f.next = end
	return nil
}

// fill reads the blocks from b to last. They are not seen by anyone before they are found good.
func (f *File) fill(file *os.File, b, last int) error {
	data := f.data[b<<shift : min(last<<shift, len(f.data))]
	if n, err := file.ReadAt(data, f.at+int64(b)<<shift); n < len(data) {
		return errors.Join(fmt.Errorf("%s: %w", f.path, ErrDamaged), err)
	}
	for i := b; i < last; i++ {
		if Sum(f.data[i<<shift:min((i+1)<<shift, len(f.data))]) != f.sums[i] {
			return fmt.Errorf("%s: block %d: %w", f.path, i, ErrDamaged)
		}
	}
	for i := b; i < last; i++ {
		f.have[i].Store(true)
	}
	return nil
}
