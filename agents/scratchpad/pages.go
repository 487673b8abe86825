package scratchpad

import (
	"hash/crc32"
	"io"
	"sync/atomic"

	"leanctx/internal/journal"
)

// pages are the messages of one pad: in memory, or in a file that stays open.
type pages struct {
	lines  [][]byte
	file   io.ReaderAt
	places []place
	failed *atomic.Pointer[ReadError] // of the source
}

// place is where a message stands in the file.
type place struct {
	at   int64
	size uint32
	sum  uint32
}

// ReadError says that a message cannot be read from the file. Then the file is
// to be read whole, and the journal knows what to do if it is damaged.
type ReadError struct{ reason error }

func (e *ReadError) Error() string { return "a message cannot be read: " + e.reason.Error() }

// Unwrap is the reason.
func (e *ReadError) Unwrap() error { return e.reason }

// line is a message as it stands in the file.
func (p *pages) line(i uint32) ([]byte, error) {
	if p.lines != nil {
		return p.lines[i], nil
	}
	x := p.places[i]
	line := make([]byte, x.size)
	_, err := p.file.ReadAt(line, x.at)
	if err == nil && crc32.Checksum(line, castagnoli) != x.sum {
		err = journal.ErrCorrupt
	}
	if err != nil {
		e := &ReadError{err}
		p.failed.Store(e)
		return nil, e
	}
	return line, nil
}
