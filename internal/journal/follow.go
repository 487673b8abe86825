package journal

import (
	"errors"
	"io/fs"
	"os"
	"slices"
)

// current tells whether nothing was written since the position. It may be
// wrong in saying no.
func (d *disk) current() bool {
	if d.fs == nil {
		_, err := os.Stat(d.dir)
		return errors.Is(err, fs.ErrNotExist)
	}
	fi, err := d.fs.stat(d.n.journal)
	if d.j == nil {
		return errors.Is(err, fs.ErrNotExist) && d.attached()
	}
	return err == nil && os.SameFile(fi, d.info) && fi.Size() == d.pos.off && d.marked()
}

// marked tells whether the last line that was folded still stands where it
// was: not if a failed write was cut back and another one took its place.
func (d *disk) marked() bool {
	if d.pos.off == 0 {
		return true
	}
	var digits [sumLen]byte
	if _, err := d.j.ReadAt(digits[:], d.pos.mark); err != nil {
		return false
	}
	sum, ok := parseSum(digits[:])
	return ok && sum == d.pos.sum
}

// follow returns the commits written since the position, and moves it. ok is
// false if the state must be loaded anew. Under the lock, a torn tail is cut off.
func (d *disk) follow(locked bool) (lines []line, ok bool, err error) {
	if d.j == nil {
		return nil, d.current(), nil
	}
	named, err := d.fs.stat(d.n.journal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if !os.SameFile(named, d.info) {
		return d.followSwitch()
	}
	c, ok, err := d.readOn(named.Size())
	if !ok || err != nil {
		return nil, false, err
	}
	if locked && len(c.torn) > 0 {
		if err := d.keepTorn(c.torn); err != nil {
			return nil, false, err
		}
		if err := d.cut(c.whole); err != nil {
			return nil, false, err
		}
	}
	d.advance(c.lines, c.whole)
	return c.lines, true, nil
}

// readOn reads what the open journal holds after the position.
func (d *disk) readOn(size int64) (content, bool, error) {
	if size < d.pos.off || !d.marked() {
		return content{}, false, nil
	}
	if size == d.pos.off {
		return content{whole: size}, true, nil
	}
	data, err := readRange(d.j, d.pos.off, size)
	if err != nil || d.pos.off == 0 {
		return content{}, false, err
	}
	c := scan(data, d.pos.off)
	return c, c.bad == 0 && d.chained(c.lines), nil
}

// chained tells whether lines go on where the position is.
func (d *disk) chained(lines []line) bool {
	if len(lines) == 0 {
		return true
	}
	lost := slices.ContainsFunc(lines, func(l line) bool { return l.lost })
	return !lost && lines[0].prev == d.pos.prev && contiguous(lines, d.pos.seq)
}

func (d *disk) advance(lines []line, off int64) {
	d.pos.off = off
	if n := len(lines); n > 0 {
		l := lines[n-1]
		d.pos.mark, d.pos.sum, d.pos.prev, d.pos.seq = l.off, l.sum, l.sum, l.seq
	}
}

// followSwitch goes on in a journal that took the old one's name. The old one
// is complete: it was replaced under the lock.
func (d *disk) followSwitch() (lines []line, ok bool, err error) {
	size, err := d.j.Stat()
	if err != nil {
		return nil, false, err
	}
	rest, ok, err := d.readOn(size.Size())
	if !ok || err != nil || len(rest.torn) > 0 {
		return nil, false, err
	}
	d.advance(rest.lines, rest.whole)
	f, err := d.fs.open(d.n.journal, os.O_RDONLY)
	if err != nil {
		return nil, false, err
	}
	data, err := readAll(f)
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	c := scan(data, 0)
	if err := d.checkHeader(d.n.journal, c); err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	if !d.continues(c) {
		return nil, false, f.Close()
	}
	more, err := d.moveInto(f, c)
	return slices.Concat(rest.lines, more), err == nil, err
}

// continues tells whether a journal has the position in it.
func (d *disk) continues(c content) bool {
	if !c.hasHead || c.bad > 0 || c.head.Repairs != d.pos.head.Repairs || c.head.Base > d.pos.seq {
		return false
	}
	if c.head.Base == d.pos.seq {
		return c.head.prev() == d.pos.prev && d.chained(c.lines)
	}
	i := slices.IndexFunc(c.lines, func(l line) bool { return l.seq == d.pos.seq })
	return i >= 0 && c.lines[i].sum == d.pos.prev && d.chained(c.lines[i+1:])
}

// moveInto makes another file the open journal.
func (d *disk) moveInto(f file, c content) ([]line, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	more := after(c.lines, d.pos.seq)
	p := position{head: c.head, off: c.whole, sum: c.headLine.sum, prev: d.pos.prev, seq: d.pos.seq, at: d.pos.at}
	if n := len(c.lines); n > 0 {
		l := c.lines[n-1]
		p.mark, p.sum, p.prev, p.seq = l.off, l.sum, l.sum, l.seq
	}
	d.closeJournal()
	d.j, d.info, d.pos = f, info, p
	return more, nil
}

// openForWriting opens the journal that is being read for writing too.
func (d *disk) openForWriting() error {
	if d.j == nil || d.mine {
		return nil
	}
	f, err := d.fs.open(d.n.journal, os.O_RDWR)
	if err != nil {
		return err
	}
	_ = d.j.Close()
	d.j, d.mine = f, true
	return nil
}

// ready tells whether commits can be appended to the journal: there must be
// one, and its header must say the schema of what is appended.
func (d *disk) ready() bool { return d.j != nil && d.pos.head.Schema == d.o.Schema }

// makeReady makes the journal, or writes it anew with a header of our schema.
func (d *disk) makeReady() error {
	h := d.pos.head
	var lines []line
	if d.j == nil {
		h.Base, h.Prev, h.At = d.pos.seq, hexSum(d.pos.prev), d.pos.at
	} else {
		data, err := readAll(d.j)
		if err != nil {
			return err
		}
		lines = scan(data, 0).lines
	}
	if err := d.writeJournal(h, lines); err != nil {
		return err
	}
	return d.switchJournal(h, lines, d.pos.at)
}

// append writes lines at the end of the journal and syncs them. If that fails,
// the journal is cut back to what it was.
func (d *disk) append(text []byte, first line) error {
	_, err := d.j.WriteAt(text, d.pos.off)
	if err == nil {
		err = d.j.Sync() // the commit is answered after this
	}
	if err == nil {
		return nil
	}
	undo := d.j.Truncate(d.pos.off)
	if undo == nil {
		undo = d.j.Sync() // else the failed commit may come back after a power cut
	}
	if undo == nil {
		return err
	}
	d.noteDoubt(first)
	return d.errorf(d.n.journal, ErrInDoubt, "commit %d may or may not be on disk, the next write settles it: %w", first.seq, errors.Join(err, undo))
}
