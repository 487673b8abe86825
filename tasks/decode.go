package tasks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"leanctx/internal/journal"
	"leanctx/internal/prose"
)

// file is the snapshot as far as it is parsed at once.
type file struct {
	Moves []move            `json:"moves"`
	Tasks []json.RawMessage `json:"tasks"`
	Old   []json.RawMessage `json:"old"`
}

// decode reads a board of a file whose checksum is good. A file that is laid
// out in another way than ours is read too, only slower and whole.
func decode(data []byte) (*board, error) {
	if l, ok := parseLayout(data); ok && l.fits(int64(len(data))) {
		end := len(data) - layoutSize
		a, ok := newArchive(data[l.names:end], func() ([]byte, error) { return data[l.old:l.names], nil })
		if b, err := decodeLive(data[:l.old]); ok && err == nil {
			b.old = a
			return b, nil
		}
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	b := newBoard()
	b.moves = f.Moves
	return b, b.putAll(append(f.Tasks, f.Old...))
}

// decodeLive reads the first part.
func decodeLive(data []byte) (*board, error) {
	start := bytes.Index(data, []byte(tasksMark))
	if start < 0 {
		return nil, errLayout
	}
	var f file
	head := append(bytes.TrimSuffix(bytes.Clone(data[:start]), []byte(",")), '}')
	if err := json.Unmarshal(head, &f); err != nil {
		return nil, err
	}
	raws, err := split(data[start:], tasksMark)
	if err != nil {
		return nil, err
	}
	b := newBoard()
	b.moves = f.Moves
	return b, b.putAll(raws)
}

func (b *board) putAll(raws []json.RawMessage) error {
	records, err := parse(raws)
	for _, r := range records {
		b.put(r)
	}
	return err
}

// parse reads the first line of each task; threads stay text.
func parse(raws []json.RawMessage) ([]*record, error) {
	names := interned{}
	list, out := make([]record, len(raws)), make([]*record, len(raws))
	for i, raw := range raws {
		r := &list[i]
		if r.raw = raw; !names.head(raw, &r.Task) {
			r.Task = Task{}
			if err := json.Unmarshal(raw, &r.Task); err != nil {
				return nil, err
			}
		}
		if r.ID == "" {
			return nil, fmt.Errorf("a task has no id: %s", prose.Clip(string(raw), 80))
		}
		out[i] = r
	}
	return out, nil
}

// errLayout says that a part of a file is not laid out as we lay it out.
var errLayout = fmt.Errorf("unexpected layout")

// split finds where each task of a part begins.
func split(data []byte, mark string) ([]json.RawMessage, error) {
	data, marked := bytes.CutPrefix(data, []byte(mark))
	data, ended := bytes.CutSuffix(data, []byte(listEnd))
	if !marked || !ended {
		return nil, errLayout
	}
	var out []json.RawMessage
	for begin := 0; begin < len(data); {
		if !bytes.HasPrefix(data[begin:], []byte(taskMark)) {
			return nil, errLayout
		}
		begin += len(taskMark) - 1 // its brace
		end, next := len(data), len(data)
		if i := bytes.Index(data[begin:], []byte(","+taskMark)); i >= 0 {
			end, next = begin+i, begin+i+1
		}
		if data[end-1] != '}' {
			return nil, errLayout
		}
		out = append(out, json.RawMessage(data[begin:end:end]))
		begin = next
	}
	return out, nil
}

// parseLayout reads the last lines of a file.
func parseLayout(data []byte) (l layout, ok bool) {
	if len(data) < layoutSize {
		return l, false
	}
	end := string(data[len(data)-layoutSize:])
	n, err := fmt.Sscanf(strings.TrimSpace(end), strings.TrimSpace(layoutForm), &l.old, &l.names, &l.sums[0], &l.sums[1], &l.sums[2])
	return l, err == nil && n == 5 && fmt.Sprintf(layoutForm, l.old, l.names, l.sums[0], l.sums[1], l.sums[2]) == end
}

func (l layout) fits(size int64) bool {
	return 0 < l.old && l.old <= l.names && l.names <= size-layoutSize
}

// partialFrom is the smallest file that is read in parts, in bytes.
const partialFrom = 256 << 10

// OpenSnapshot reads the tasks that are at hand and the names of the old ones.
// Whatever is wrong with the file is left to those who read it whole.
func (m machine) OpenSnapshot(f io.ReaderAt, size int64, h journal.Header) (*board, bool) {
	if size < m.from || m.whole.Load() {
		return nil, false
	}
	end, err := readRange(f, size-layoutSize, size)
	l, ok := parseLayout(end)
	if err != nil || !ok || !l.fits(size) {
		return nil, false
	}
	live, err := readRange(f, 0, l.old)
	if err != nil {
		return nil, false
	}
	if at := bytes.Index(live, []byte(h.Checksum)); at >= 0 {
		copy(live[at:], "00000000") // as it was when the sum was made
	}
	names, err := readRange(f, l.names, size-layoutSize)
	if err != nil || crc32.Checksum(live, castagnoli) != l.sums[0] || crc32.Checksum(names, castagnoli) != l.sums[2] {
		return nil, false
	}
	b, err := decodeLive(live)
	if err != nil {
		return nil, false
	}
	b.old, ok = newArchive(names, func() ([]byte, error) {
		old, err := readRange(f, l.old, l.names)
		if err == nil && crc32.Checksum(old, castagnoli) != l.sums[1] {
			err = errLayout
		}
		return old, err
	})
	return b, ok
}

func readRange(f io.ReaderAt, from, to int64) ([]byte, error) {
	b := make([]byte, max(to-from, 0))
	_, err := f.ReadAt(b, max(from, 0))
	if err == io.EOF { // ReadAt gives it as it is
		err = nil
	}
	return b, err
}
