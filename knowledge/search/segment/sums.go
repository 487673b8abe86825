package segment

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"leanctx/knowledge/search/blocks"
)

// Sums are the checksums of the blocks of a segment's file, and its size in bytes, if the file has what was written:
// bleve ends a file with the checksum of what it wrote. Without a look at it, whatever came into the file meanwhile
// would be taken for the index.
func Sums(path string) (sums []uint32, size int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	const end = crc32.Size
	most := info.Size() - end
	if most < 0 {
		return nil, 0, fmt.Errorf("%s: %w", path, ErrDamaged)
	}
	written, last := crc32.NewIEEE(), new(bytes.Buffer)
	sums, size, err = blocks.SumsOf(io.MultiReader(
		io.TeeReader(io.LimitReader(file, most), written), io.TeeReader(io.LimitReader(file, end), last)))
	if err != nil {
		return nil, 0, err
	}
	if last.Len() != end || binary.BigEndian.Uint32(last.Bytes()) != written.Sum32() {
		return nil, 0, fmt.Errorf("%s: %w", path, ErrDamaged)
	}
	return sums, size, nil
}
