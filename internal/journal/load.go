package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

// catchUp folds what others committed. mu is held; locked tells whether the
// file lock is too.
func (l *Log[S, E]) catchUp(locked bool) error {
	if l.loaded && !(locked && l.d.untidy) {
		if !locked && l.inflight.Load() {
			return nil // nobody but us can have written, and what we write is not synced yet
		}
		r := &recovery{}
		if l.d.resume(r, l.head) == nil && !(locked && r.untidy) && l.goOn(l.state, r) == nil {
			return nil
		}
		r.close()
	}
	return l.load(locked)
}

// goOn folds the commits after the state s, and goes on where they end.
func (l *Log[S, E]) goOn(s S, r *recovery) (err error) {
	l.ahead = true // Fold may change s
	if s, err = l.fold(s, r); err != nil {
		return err
	}
	l.d.adopt(r)
	l.d.untidy, l.torn, l.lost = r.untidy, len(r.torn), append(l.lost, r.allLost()...)
	l.setState(s)
	return nil
}

// reached is a position as a [Head].
func (l *Log[S, E]) reached(p position) Head {
	return Head{Seq: p.seq, At: p.at, Generation: p.head.Generation, Sum: p.prev, Repairs: p.head.Repairs, Offset: p.mark, Losses: int(l.losses.Load())}
}

func (l *Log[S, E]) setState(s S) {
	l.state, l.head = s, l.reached(l.d.pos)
	l.loaded, l.ahead = true, false
	if l.head.At.Sub(l.o.Now()) > time.Hour {
		l.warn(aheadWarning(l.d.n.journal, l.head.At))
	}
}

// fold decodes and folds the commits of r. mu is held.
func (l *Log[S, E]) fold(s S, r *recovery) (S, error) {
	for _, ln := range r.lines {
		if ln.lost {
			continue
		}
		var c Commit[E]
		if err := DecodeDocument(ln.body, &c); err != nil {
			return s, l.d.errorf(l.d.n.journal, ErrCorrupt, "commit %d is intact but not understood, it may be of a newer program; nothing is written: %w", ln.seq, err)
		}
		s = l.m.Fold(s, c)
		r.pos.at = c.At
	}
	return s, nil
}

// loadTries is how often a reader begins anew when the files changed under it.
const loadTries = 4

// load reads the state from the files, and under the lock repairs them. mu is held.
func (l *Log[S, E]) load(locked bool) error {
	if l.former == nil && l.head.Seq > 0 {
		l.former = &former[S]{l.head, l.state, l.lost, !l.ahead && !l.started}
	}
	err := l.read(locked)
	if err == nil && l.former != nil {
		l.rescue(*l.former)
	}
	return err
}

func (l *Log[S, E]) read(locked bool) error {
	l.loaded = false
	if !locked && !l.inflight.Load() { // a writer has the directory open and needs it as it is
		if err := l.d.attach(false); err != nil {
			return err
		}
	}
	if l.started = false; !locked && l.start() {
		return nil
	}
	for try := 1; ; try++ {
		if l.d.fs == nil {
			l.d.closeJournal()
			l.setState(l.m.New())
			return nil
		}
		r, err := l.d.gather()
		if !locked && try < loadTries && l.d.unsettled(r, err) {
			r.close()
			continue
		}
		if err != nil {
			return err
		}
		return l.take(r, locked)
	}
}

// former is the state before a load.
type former[S any] struct {
	head  Head
	state S
	lost  []uint64
	whole bool // it is the state of head, and all of it
}

// rescue warns if the files lack commits of the former state, and writes that
// state to a file of its own. mu is held.
func (l *Log[S, E]) rescue(f former[S]) {
	newly := slices.ContainsFunc(l.lost, func(seq uint64) bool { return seq <= f.head.Seq && !slices.Contains(f.lost, seq) })
	if f.head.Seq <= l.head.Seq && !newly && (f.head.Repairs == l.head.Repairs || len(f.lost) > 0) {
		l.former = nil
		return
	}
	l.head.Losses = int(l.losses.Add(1))
	l.warn(vanishedWarning(l.d.n.journal, f.head.Seq, l.head.Seq))
	if l.d.fs == nil && f.whole {
		return // the directory is gone; the next Update makes it, and comes here again
	}
	l.former = nil
	if !f.whole {
		return
	}
	name, err := l.d.unusedName(l.d.n.snapshot+rescuedMark, "")
	if err == nil {
		h := Header{Schema: l.o.Schema, Seq: f.head.Seq, Generation: f.head.Generation, At: f.head.At.UTC(), Checksum: noChecksum}
		err = writeSnapshot(l.d.fs, name, func(w io.Writer) error { return l.m.Encode(w, f.state, h) })
	}
	l.warn(rescuedWarning(name, err))
}

// take makes what was read the state.
func (l *Log[S, E]) take(r *recovery, locked bool) (err error) {
	defer func() {
		if err != nil {
			r.close()
			l.d.closeJournal()
		}
	}()
	s := l.m.New()
	if r.snap != nil {
		if s, err = l.m.Decode(r.snap.data); err != nil {
			return l.d.errorf(r.snap.name, ErrCorrupt, "it is intact but not understood; nothing is written: %w", err)
		}
		r.snap.data = nil
	}
	if s, err = l.fold(s, r); err != nil {
		return err
	}
	if !locked {
		l.d.adopt(r)
		l.d.warn(r, l.d.n.journal, false)
	} else if err := l.d.repair(r); err != nil {
		return err
	}
	l.d.untidy, l.torn = r.untidy && !locked, 0
	if !locked {
		l.torn = len(r.torn)
	}
	l.lost = r.allLost()
	l.setState(s)
	return nil
}

// start takes the state of a Starter and what was committed after it. It fails
// when anything about the files is unusual; gather then says what it is. mu is held.
func (l *Log[S, E]) start() bool {
	m, ok := l.m.(Starter[S])
	if !ok || l.d.doubt != nil {
		return false
	}
	r := &recovery{}
	reached := false
	s, ok := m.Start(func(at Head) bool {
		r.close()
		r = &recovery{}
		reached = l.d.resume(r, at) == nil
		return reached
	})
	l.lost = nil
	if !ok || !reached || l.goOn(s, r) != nil {
		r.close()
		return false
	}
	l.started = true
	return true
}

// headSearched is how many bytes of a journal or a snapshot are read for its header.
const headSearched = 4 << 10

var errNoHead = errors.New("the journal does not go on from there")

// resume finds a head in J, or in J.prev, and reads the commits that follow.
// It fails if anything is damaged. If the line of the head is where the head
// says, what is before it is not read, but for the header.
func (d *disk) resume(r *recovery, at Head) error {
	if d.fs == nil {
		return errNoHead
	}
	w := d.readWitness()
	if err := d.openInto(r); err != nil {
		return err
	}
	start, err := readRange(r.j, 0, min(r.info.Size(), headSearched))
	if err != nil {
		return err
	}
	h := scan(start, 0)
	if !h.hasHead || d.checkHeader(d.n.journal, h) != nil || h.head.Repairs != at.Repairs || !d.plausible(h.head) {
		return errNoHead
	}
	c, err := readFrom(r.j, at, r.info.Size())
	if err != nil {
		return err
	}
	c.head, c.headLine, c.hasHead = h.head, h.headLine, true
	r.from = at
	older, err := d.merge(r, c, w)
	found := c.has(at) || older.has(at) && older.has(Head{Seq: h.head.Base, Sum: h.head.prev()})
	if err != nil || !found || r.marred || older.bad > 0 {
		return errNoHead
	}
	r.untidy = len(r.torn) > 0
	return nil
}

// plausible tells whether there is a snapshot that a journal may follow. Only
// its first bytes are read.
func (d *disk) plausible(h header) bool {
	f, err := d.fs.open(d.n.snapshot, os.O_RDONLY)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) && h.Base == 0
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false
	}
	data, err := readRange(f, 0, min(info.Size(), headSearched))
	s, ok := sniff(data)
	return err == nil && ok && s.Schema <= d.o.Schema && s.Seq >= h.Base
}

// readFrom reads a journal from the line of a head on if it is at its offset,
// else all of it.
func readFrom(j file, at Head, size int64) (content, error) {
	if 0 < at.Offset && at.Offset < size {
		data, err := readRange(j, at.Offset, size)
		if err != nil {
			return content{}, err
		}
		if c := scan(data, at.Offset); len(c.lines) > 0 && c.lines[0].off == at.Offset && c.lines[0].is(at) {
			return c, nil
		}
	}
	data, err := readRange(j, 0, size)
	return scan(data, 0), err
}

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
	if d.pos.head.Base > d.pos.seq {
		return false // J was switched and S was not: then only S changes
	}
	return err == nil && os.SameFile(fi, d.info) && fi.Size() == d.pos.off && d.marked()
}

// marked tells whether the last line that was folded is still where it was. It is not if a
// failed write was cut back and another one took its place.
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
func (d *disk) ready() bool {
	return d.j != nil && d.pos.head.Schema == d.o.Schema && d.pos.head.Remote == d.o.remoteName()
}

// makeReady makes the journal, or writes it anew with a header of our schema.
func (d *disk) makeReady() error {
	h := d.pos.head
	h.Remote = d.o.remoteName()
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
// the journal is cut back to what it was. A copy of a remote log is not synced:
// what a power cut takes from it is fetched again.
func (d *disk) append(text []byte, first witness) error {
	_, err := d.j.WriteAt(text, d.pos.off)
	if err == nil && d.o.Remote == nil {
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
	d.doubt = &first
	return d.errorf(d.n.journal, ErrInDoubt, "commit %d may or may not be on disk, the next write settles it: %w", first.seq, errors.Join(err, undo))
}
