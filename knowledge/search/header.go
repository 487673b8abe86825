package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// headerName is the file that says what a generation holds. Its first line is the checksum of the rest: a
// changed date there would hide facts.
const headerName = "generation.json"

// header describes a generation.
type header struct {
	Mapping  int           `json:"mapping"`
	At       time.Time     `json:"at"`
	Epoch    string        `json:"epoch"`
	Lengths  lengths       `json:"lengths"`
	Segments []segmentFile `json:"segments"`
}

// segmentFile is a segment of a generation.
type segmentFile struct {
	Name     string `json:"name"`
	Size     int    `json:"size"`
	Checksum string `json:"checksum"`
	Deleted  []byte `json:"deleted,omitempty"` // a roaring bitmap
}

// checksum is CRC-32C: cheap enough (gigabytes a second) to check every byte at every opening.
func checksum(data []byte) string {
	sum := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	return fmt.Sprintf("%08x", sum)
}

func readHeader(dir string) (h header, err error) {
	path := filepath.Join(dir, headerName)
	data, err := os.ReadFile(path)
	if err != nil {
		return h, err
	}
	sum, body, ok := bytes.Cut(data, []byte("\n"))
	if !ok || string(sum) != checksum(body) {
		return h, fmt.Errorf("%s: %w", path, ErrDamaged)
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
	return os.WriteFile(filepath.Join(dir, headerName), append([]byte(checksum(body)+"\n"), body...), 0o600)
}
