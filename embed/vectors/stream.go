package vectors

import (
	"os"
	"path/filepath"
	"slices"
)

// streamed is the size of a file, in bytes, whose values a process that does
// not live on leaves there. A smaller one is read at once.
const streamed = 4 << 20

// fronts reads the blocks of a file without their values; false when it is not
// one block after another: then all is to be read, to find those that are.
func (x *Index) fronts(root *os.Root, now stamp) bool {
	f, err := root.Open(vectorFile)
	if err != nil {
		return false
	}
	defer f.Close()
	var blocks []*block
	head, row := make([]byte, blockHead), []byte(nil)
	for now.end < now.size {
		if _, err := f.ReadAt(head, now.end); err != nil {
			return false
		}
		s, ok := shapeOf(head)
		if !ok || s.size > now.size-now.end {
			return false
		}
		front := make([]byte, s.front())
		if _, err := f.ReadAt(front, now.end); err != nil {
			return false
		}
		b := readBlock(front, false)
		if b == nil || b.n == 0 {
			return false
		}
		b.from = now.end + s.front()
		if last := b.values(f, b.n-1, b.n, &row); last == nil || !b.sound(b.n-1, last) {
			return false // it was cut off: see readBlock
		}
		blocks, now.end = append(blocks, b), now.end+s.size
	}
	x.take(blocks, 0, now)
	return true
}

// whole reads the values too, and makes each vector be found by its ID, for good.
func (x *Index) whole() {
	if !x.lasting {
		x.lasting = true
		x.stamp = stamp{} // as if nothing had been read
		x.findable()      // what could not be written stays
	}
	x.refresh()
}

// values gives rows from to to of a block: where they lie in memory, or read
// into the buffer, which grows as it must. Nil says that they are not to be had.
func (b *block) values(file *os.File, from, to int, buffer *[]byte) []byte {
	if b.rows != nil {
		return b.rows[from*b.dim : to*b.dim]
	}
	if file == nil {
		return nil
	}
	size := (to - from) * b.dim
	if cap(*buffer) < size {
		*buffer = make([]byte, size)
	}
	rows := (*buffer)[:size]
	if _, err := file.ReadAt(rows, b.from+int64(from)*int64(b.dim)); err != nil {
		return nil
	}
	return rows
}

// open reads what is new, and opens the file for the values of an encoder's
// vectors that are not in memory. The result is nil when all are; or when the
// file is replaced again and again, and then those have no hits.
func (x *Index) open(encoder string) *os.File {
	for range 3 {
		x.refresh()
		s := x.sets[encoder]
		if s == nil || !slices.ContainsFunc(s.blocks, func(b *block) bool { return b.rows == nil }) {
			return nil
		}
		f, err := os.Open(filepath.Join(x.dir, vectorFile))
		if err != nil {
			continue
		}
		if info, err := f.Stat(); err == nil && os.SameFile(info, x.stamp.info) {
			return f
		}
		_ = f.Close()
	}
	return nil
}
