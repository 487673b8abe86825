package index

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"leanctx/knowledge/search/blocks"
	"leanctx/knowledge/search/segment"
)

// headerName is the file that says what a generation holds. Its first line is the checksum of the rest: a
// changed date there would hide facts.
const headerName = "generation.json"

// header describes a generation.
type header struct {
	Mapping  int           `json:"mapping"`
	At       time.Time     `json:"at"`
	Epoch    string        `json:"epoch"`
	Lengths  Lengths       `json:"lengths"`
	Segments []segmentFile `json:"segments"`
}

// segmentFile is a segment of a generation.
type segmentFile struct {
	Name    string `json:"name"`
	Size    int    `json:"size"`
	Sums    []byte `json:"sums"`              // of its blocks, 4 bytes each, little endian
	Deleted []byte `json:"deleted,omitempty"` // a roaring bitmap
}

func (f *segmentFile) sums() []uint32 {
	out := make([]uint32, len(f.Sums)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(f.Sums[4*i:])
	}
	return out
}

// sum notes what is in the file, if that is what was written.
func (f *segmentFile) sum(path string) error {
	sums, size, err := segment.Sums(path)
	if errors.Is(err, segment.ErrDamaged) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	f.Size = size
	for _, n := range sums {
		f.Sums = binary.LittleEndian.AppendUint32(f.Sums, n)
	}
	return err
}

func checksum(data []byte) string { return fmt.Sprintf("%08x", blocks.Sum(data)) }

func readHeader(dir string) (h header, err error) {
	path := filepath.Join(dir, headerName)
	body, err := readSummed(path)
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(body, &h); err != nil {
		return h, fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	}
	if h.Mapping != mappingVersion {
		return h, fmt.Errorf("%s: mapping %s, this build reads %d", path, strconv.Itoa(h.Mapping), mappingVersion)
	}
	return h, nil
}

func writeHeader(dir string, h header) error {
	body, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return writeSummed(filepath.Join(dir, headerName), body)
}

// readSummed reads a file whose first line is the checksum of the rest.
func readSummed(path string) (body []byte, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	sum, body, ok := bytes.Cut(data, []byte("\n"))
	if !ok || string(sum) != checksum(body) {
		return nil, fmt.Errorf("%s: %w", path, ErrDamaged)
	}
	return body, nil
}

func writeSummed(path string, body []byte) error {
	return os.WriteFile(path, append([]byte(checksum(body)+"\n"), body...), 0o600)
}
