package journal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
)

// Partial may be met by a [Machine] whose states need not hold all of a
// snapshot in memory: a command that asks for one fact should not have to read
// a hundred thousand.
type Partial[S any] interface {
	// OpenSnapshot makes a state that reads from a snapshot what it is asked
	// for, of which h is the header. ok is false when it will not; then the
	// snapshot is read and decoded whole. The file stays as it is, and open,
	// for as long as the state is in use. Nobody has checked its checksum: who
	// accepts it answers for what is read from it.
	OpenSnapshot(f io.ReaderAt, size int64, h Header) (s S, ok bool)
}

// Rewriter may be met by a [Partial] whose Encode also takes states that hold
// only a part of the snapshot. What it copies from there it has to check; an
// error of it has the snapshot written from a state that was read whole.
type Rewriter[S any] interface {
	Rewrites(s S) bool
}

// headSearched is how many bytes of a snapshot are read for its header.
const headSearched = 4 << 10

// offer has OpenSnapshot asked about the snapshot that is met next. Under the
// lock nothing is offered: who repairs must have seen every byte.
func (l *Log[S, E]) offer(locked bool) {
	l.d.offer = nil
	if p, ok := l.m.(Partial[S]); ok && !locked {
		l.d.offer = func(f file, size int64, h Header) (ok bool) {
			l.offered, ok = p.OpenSnapshot(f, size, h)
			return ok
		}
	}
}

// stateOf is the state that a snapshot holds.
func (l *Log[S, E]) stateOf(s *snapshot) (S, error) {
	if s.open != nil {
		return l.offered, nil
	}
	state, err := l.m.Decode(s.data)
	if err != nil {
		return state, l.d.errorf(s.name, ErrCorrupt, "it is intact but not understood; nothing is written: %w", err)
	}
	s.data = nil
	return state, nil
}

// offered asks the machine whether it takes a snapshot as it is. What is
// unusual about one is left to those who read it whole.
func (d *disk) offered(name string, f file) *snapshot {
	if d.offer == nil || name != d.n.snapshot {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	h, ok := readHead(f, info.Size())
	if !ok || h.Schema > d.o.Schema || !d.offer(f, info.Size(), h) {
		return nil
	}
	return &snapshot{name: name, head: h, info: info, good: true, open: f}
}

// readHead reads a snapshot's header, its checksum as it stands there.
func readHead(f file, size int64) (Header, bool) {
	start, err := readRange(f, 0, min(size, headSearched))
	if err != nil {
		return Header{}, false
	}
	return parseHead(start)
}

func parseHead(start []byte) (Header, bool) {
	h, ours := sniff(start)
	at := checksumAt(start)
	if !ours || at < 0 {
		return Header{}, false
	}
	h.Checksum = string(start[at : at+sumLen])
	return h, true
}

// keepOpen lets go of the snapshot that the state before was read from, and
// holds on to that of the state to come, if it reads from one.
func (d *disk) keepOpen(s *snapshot) {
	if d.partial != nil {
		_ = d.partial.Close() // it was only read
		d.partial = nil
	}
	if s != nil {
		d.partial, s.open = s.open, nil
	}
}

// drop lets go of a snapshot that nobody took.
func (s *snapshot) drop() {
	if s != nil && s.open != nil {
		_ = s.open.Close()
		s.open = nil
	}
}

// rewrites tells whether a snapshot can be made of the state as it is. The lock
// is held.
func (l *Log[S, E]) rewrites() bool {
	r, ok := l.m.(Rewriter[S])
	return !l.started && (l.d.partial == nil || ok && r.Rewrites(l.state))
}

// loadWhole makes of a partial state a whole one. The lock is held.
func (l *Log[S, E]) loadWhole() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.d.partial == nil && !l.started {
		return nil
	}
	if err := l.load(true); err != nil {
		return err
	}
	return l.d.openForWriting()
}

// SnapshotHeader returns the header of the snapshot as it is now, with its
// checksum, and its size. ok is false when there is none that can be read.
func (l *Log[S, E]) SnapshotHeader() (h Header, size int64, ok bool) {
	f, err := l.openSnapshot()
	if err != nil {
		return h, 0, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return h, 0, false
	}
	h, ok = readHead(f, info.Size())
	return h, info.Size(), ok && h.Schema <= l.o.Schema
}

func (l *Log[S, E]) openSnapshot() (file, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.d.fs == nil || l.closed {
		return nil, fs.ErrNotExist
	}
	return l.d.fs.open(l.d.n.snapshot, os.O_RDONLY)
}

// ReadSnapshot has do read the snapshot from its first byte to its last, and
// then compares the checksum: what do made of it is good only if ReadSnapshot
// returns nil. The error may wrap ErrCorrupt.
func (l *Log[S, E]) ReadSnapshot(do func(r io.Reader, size int64, h Header) error) error {
	f, err := l.openSnapshot()
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := ReadChecked(f, info.Size(), do); err != nil {
		if errors.Is(err, ErrCorrupt) {
			return l.d.errorf(l.d.n.snapshot, ErrCorrupt, "it is damaged: %w", err)
		}
		return err
	}
	return nil
}

// ReadChecked has do read a snapshot from its first byte to its last, and then compares the checksum, as
// [Log.ReadSnapshot] does; it is for [Partial.OpenSnapshot]. The error may wrap ErrCorrupt.
func ReadChecked(f io.ReaderAt, size int64, do func(r io.Reader, size int64, h Header) error) error {
	start := make([]byte, min(size, headSearched))
	if _, err := f.ReadAt(start, 0); err != nil {
		return err
	}
	h, ok := parseHead(start)
	if !ok {
		return fmt.Errorf("no header that this program reads: %w", ErrCorrupt)
	}
	c := &checked{r: io.NewSectionReader(f, 0, size), zeros: int64(checksumAt(start))}
	if err := do(c, size, h); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, c); err != nil {
		return err
	}
	if hexSum(c.sum) != h.Checksum {
		return fmt.Errorf("the checksum is wrong: %w", ErrCorrupt)
	}
	return nil
}

// checked sums up what is read of a snapshot, the checksum itself as zeros.
type checked struct {
	r     io.Reader
	at    int64
	zeros int64 // where the checksum stands
	sum   uint32
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	b := p[:n]
	if from, to := max(c.zeros-c.at, 0), min(c.zeros+sumLen-c.at, int64(n)); from < to {
		c.sum = crc32.Update(c.sum, castagnoli, b[:from])
		c.sum = crc32.Update(c.sum, castagnoli, []byte(noChecksum)[:to-from])
		b = b[to:]
	}
	c.sum = crc32.Update(c.sum, castagnoli, b)
	c.at += int64(n)
	return n, err
}
