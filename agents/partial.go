package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"leanctx/internal/journal"
)

// OpenSnapshot reads a file but for its scratchpads. Whatever is wrong with it
// is left to those who read it whole.
func (m machine) OpenSnapshot(f io.ReaderAt, size int64, h journal.Header) (*state, bool) {
	if size < m.from || m.whole == nil || m.whole.Load() {
		return nil, false
	}
	s, err := openParts(f, size, h)
	return s, err == nil
}

func openParts(f io.ReaderAt, size int64, h journal.Header) (*state, error) {
	end, err := readRange(f, size-layoutSize, size)
	if err != nil {
		return nil, err
	}
	var at int64
	var rest, index uint32
	n, err := fmt.Sscanf(strings.TrimSpace(string(end)), strings.TrimSpace(layoutForm), &at, &rest, &index)
	if err != nil || n != 3 || fmt.Sprintf(layoutForm, at, rest, index) != string(end) || at < 0 || at > size-layoutSize {
		return nil, errPads
	}
	data, err := readRange(f, at, size-layoutSize)
	if err != nil {
		return nil, err
	}
	if crc32.Checksum(data, castagnoli) != index {
		return nil, errPads
	}
	pads, err := parsePads(data)
	if err != nil {
		return nil, err
	}
	text, err := around(f, pads, at)
	if err != nil {
		return nil, err
	}
	if i := bytes.Index(text, []byte(h.Checksum)); i >= 0 {
		copy(text[i:], "00000000") // as it was when the sum was made
	}
	if crc32.Checksum(text, castagnoli) != rest {
		return nil, errPads
	}
	var d document
	if err := json.Unmarshal(append(text, '}'), &d); err != nil {
		return nil, err
	}
	s := newState()
	return s, d.into(s, func(i int, p *project) error {
		if i >= len(pads) || pads[i].Hash != d.Projects[i].Hash {
			return errPads
		}
		return pads[i].fill(p, &pages{file: f, failed: &s.failed})
	})
}

// around reads what stands around scratchpads, up to end.
func around(f io.ReaderAt, pads []*pad, end int64) ([]byte, error) {
	var text []byte
	at := int64(0)
	for _, p := range append(slices.Clone(pads), &pad{Begin: end, End: end}) {
		if p.Begin < at || p.End < p.Begin || p.End > end {
			return nil, errPads
		}
		part, err := readRange(f, at, p.Begin)
		if err != nil {
			return nil, err
		}
		text, at = append(text, part...), p.End
	}
	return text, nil
}

func readRange(f io.ReaderAt, from, to int64) ([]byte, error) {
	b := make([]byte, max(to-from, 0))
	_, err := f.ReadAt(b, max(from, 0))
	if errors.Is(err, io.EOF) {
		err = nil // its sum tells whether all of it was there
	}
	return b, err
}

// check is err, or that a message could not be read on the way to it.
func (s *state) check(err error) error {
	if e := s.failed.Load(); e != nil {
		return e
	}
	return err
}

// wholly does what do does, and if a message could not be read for it, again on
// a file that was read whole, checksum, repair and all.
func (s *Store) wholly(ctx context.Context, do func() error) error {
	err := do()
	if _, unread := errors.AsType[*pageError](err); !unread {
		return err
	}
	s.whole.Store(true)
	if err := s.log.Forget(ctx); err != nil {
		return err
	}
	return do()
}

var _ journal.Partial[*state] = machine{}
