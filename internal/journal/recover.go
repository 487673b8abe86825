package journal

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
)

// recovery is what the files of a directory come to.
type recovery struct {
	snap   *snapshot // nil: the state begins empty
	broken *snapshot // S, when it is damaged
	lines  []line    // the commits after snap, without a gap
	lost   []uint64  // those of them that are newly found lost
	pos    position  // in J as it is, or as the repair makes it
	j      file      // J open for reading, nil when there is none
	info   fs.FileInfo
	torn   []byte
	dirty  bool // J is to be written anew
	untidy bool // a writer has something to repair
	marred bool // J has damaged lines
}

// seq is the commit the snapshot includes.
func (r *recovery) seq() uint64 {
	if r.snap == nil {
		return 0
	}
	return r.snap.head.Seq
}

// gather reads everything and changes nothing. It works without the lock: J is
// opened before S is read, and S is switched before J, so that S is never
// older than the J that was opened.
func (d *disk) gather() (*recovery, error) {
	r := &recovery{}
	j, err := d.fs.open(d.n.journal, os.O_RDONLY)
	if err == nil {
		r.j = j
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := d.gatherInto(r); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (d *disk) gatherInto(r *recovery) (err error) {
	if err := d.chooseSnapshot(r); err != nil {
		return err
	}
	if _, err := d.fs.stat(d.n.doubt); err == nil || d.doubt != nil {
		r.untidy = true
	}
	var data []byte
	if r.j != nil {
		if r.info, err = r.j.Stat(); err != nil {
			return err
		}
		if data, err = readAll(r.j); err != nil {
			return err
		}
	}
	c := scan(data, 0)
	if err := d.checkHeader(d.n.journal, c); err != nil {
		return err
	}
	return d.merge(r, c)
}

// close lets go of the files that nobody took.
func (r *recovery) close() {
	if r != nil {
		r.snap.drop()
	}
	if r != nil && r.j != nil {
		_ = r.j.Close()
		r.j = nil
	}
}

// allLost is the commits that are lost, newly or known from placeholders.
func (r *recovery) allLost() (seqs []uint64) {
	for _, l := range r.lines {
		if l.lost {
			seqs = append(seqs, l.seq)
		}
	}
	return seqs
}

// unsettled tells whether what gather found may come from files that were
// switched while they were read without the lock.
func (d *disk) unsettled(r *recovery, err error) bool {
	if err != nil {
		return errors.Is(err, ErrCorrupt) || errors.Is(err, fs.ErrNotExist)
	}
	if r.marred || len(r.lost) > 0 || r.broken != nil {
		return true
	}
	now, err := d.fs.stat(d.n.journal)
	if r.j == nil {
		return err == nil
	}
	return err != nil || !os.SameFile(now, r.info)
}

// chooseSnapshot takes S if it is good, else the newest good one of the others.
func (d *disk) chooseSnapshot(r *recovery) error {
	s, err := d.readSnapshot(d.n.snapshot)
	if err != nil || s != nil && s.good {
		r.snap = s
		return err
	}
	r.broken = s
	for _, name := range []string{d.n.snapshotNew, d.n.snapshotPrev} {
		s, err := d.readSnapshot(name)
		if err != nil {
			return err
		}
		if s != nil && s.good && (r.snap == nil || s.head.Seq > r.snap.head.Seq) {
			r.snap = s
		}
	}
	return nil
}

// checkHeader refuses a journal that a newer program wrote, whatever else is the matter with it.
func (d *disk) checkHeader(name string, c content) error {
	f, schema := max(c.head.Journal, c.claim.Journal), max(c.head.Schema, c.claim.Schema)
	switch {
	case f > format:
		return d.errorf(name, ErrNewer, "its format is %d, this program knows %d; install a newer one", f, format)
	case schema > d.o.Schema:
		return d.errorf(name, ErrNewer, "its schema is %d, this program knows %d; install a newer one", schema, d.o.Schema)
	}
	return nil
}

// merge puts together the commits after the snapshot.
func (d *disk) merge(r *recovery, c content) error {
	base := r.seq()
	lines := after(c.lines, base)
	r.torn, r.marred = c.torn, c.bad > 0
	older := content{}
	if !c.hasHead || c.head.Base > base || r.marred || !contiguous(lines, base) {
		var err error
		if older, err = d.readOlder(); err != nil {
			return err
		}
		lines = union(lines, after(older.lines, base))
	}
	if err := d.checkReach(r, c, older, lines); err != nil {
		return err
	}
	last := max(base, lastSeq(c.lines))
	r.fillGaps(lines, base, last+uint64(c.badTail))
	r.setPosition(c, older)
	missing := r.pos.seq > lastSeq(c.lines) && r.pos.seq != c.head.Base
	r.dirty = r.marred || missing && (len(r.lines) > 0 || r.j != nil) || c.hasHead && c.head.Base > base
	misplaced := r.snap != nil && r.snap.name != d.n.snapshot
	r.untidy = r.untidy || r.dirty || len(r.torn) > 0 || r.broken != nil || misplaced
	return nil
}

// readOlder reads J.prev.
func (d *disk) readOlder() (content, error) {
	data, err := readName(d.fs, d.n.journalPrev)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return content{}, err
	}
	c := scan(data, 0)
	return c, d.checkHeader(d.n.journalPrev, c)
}

// contiguous tells whether lines are the commits after seq, one by one.
func contiguous(lines []line, seq uint64) bool {
	for _, l := range lines {
		if seq++; l.seq != seq {
			return false
		}
	}
	return true
}

// union sorts the commits of two journals. Where both have one, the first wins unless it lost it.
func union(a, b []line) []line {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(x, y line) int {
		if c := cmp.Compare(x.seq, y.seq); c != 0 {
			return c
		}
		return cmp.Compare(rank(x), rank(y))
	})
	return slices.CompactFunc(all, func(x, y line) bool { return x.seq == y.seq })
}

func rank(l line) int {
	if l.lost {
		return 1
	}
	return 0
}

func lastSeq(lines []line) uint64 {
	if len(lines) == 0 {
		return 0
	}
	return lines[len(lines)-1].seq
}

// checkReach refuses to go on when what led up to the journal is gone.
func (d *disk) checkReach(r *recovery, c, older content, lines []line) error {
	base := r.seq()
	reaches := !c.hasHead || c.head.Base <= base || older.hasHead && older.head.Base <= base
	if len(lines) > 0 && lines[0].seq-base-1 > uint64(c.bad+older.bad) {
		reaches = false // more is missing than damaged lines could have held
	}
	nothing := r.snap == nil && !c.hasHead && len(lines) == 0
	switch {
	case r.broken != nil && nothing:
		return d.errorf(d.n.snapshot, ErrCorrupt, "its checksum is wrong and there is no older one; put a copy in its place, or move the file away to begin anew")
	case !reaches:
		return d.errorf(d.n.snapshot, ErrCorrupt, "the state before %s is neither in it nor in %s; put a copy of either in its place", d.n.journal, d.n.snapshotPrev)
	}
	return nil
}

// fillGaps puts placeholders where commits are missing, up to a last one.
func (r *recovery) fillGaps(lines []line, seq, last uint64) {
	if contiguous(lines, seq) && seq+uint64(len(lines)) >= last {
		r.lines = lines
		return
	}
	var prev uint32
	add := func(l line) {
		r.lines = append(r.lines, l)
		seq, prev = l.seq, l.sum
	}
	lose := func(to uint64) {
		for seq < to {
			add(lostLine(seq+1, prev))
			r.lost = append(r.lost, seq)
		}
	}
	for _, l := range lines {
		lose(l.seq - 1)
		add(l)
	}
	lose(last)
}

// setPosition says where in J the state ends, if J needs no repair.
func (r *recovery) setPosition(c, older content) {
	p := position{head: c.head, off: c.whole, sum: c.headLine.sum, prev: c.head.prev(), seq: r.seq(), at: c.head.At}
	if !c.hasHead {
		p.head = older.head
	}
	if r.snap != nil {
		p.head.Generation = max(p.head.Generation, r.snap.head.Generation)
		if r.snap.head.At.After(p.at) {
			p.at = r.snap.head.At
		}
	}
	if n := len(c.lines); n > 0 {
		l := c.lines[n-1]
		p.mark, p.sum, p.prev = l.off, l.sum, l.sum
	}
	if n := len(r.lines); n > 0 {
		p.seq, p.prev = r.lines[n-1].seq, r.lines[n-1].sum
	}
	r.pos = p
}

var errNoHead = errors.New("the journal does not go on from there")

// resume finds a head in the journal, or in the one before it, and returns the
// commits that follow; nil if it is not there, or if anything is damaged.
func (d *disk) resume(at Head) *recovery {
	r := &recovery{}
	if d.resumeInto(r, at) != nil {
		r.close()
		return nil
	}
	return r
}

func (d *disk) resumeInto(r *recovery, at Head) (err error) {
	if _, err := d.fs.stat(d.n.doubt); err == nil || d.doubt != nil {
		return errNoHead
	}
	if r.j, err = d.fs.open(d.n.journal, os.O_RDONLY); err != nil {
		return err
	}
	if r.info, err = r.j.Stat(); err != nil {
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
	r.pos = position{head: h.head, off: c.whole, sum: h.headLine.sum, prev: at.Sum, seq: at.Seq, at: at.At}
	if n := len(c.lines); n > 0 {
		r.pos.mark, r.pos.sum = c.lines[n-1].off, c.lines[n-1].sum
	}
	joined := c.has(at)
	if h.head.Base > at.Seq {
		older, err := d.readOlder()
		if err != nil {
			return err
		}
		joined = older.has(at) && older.has(Head{Seq: h.head.Base, Sum: h.head.prev()})
		c.bad += older.bad
		c.lines = union(c.lines, older.lines)
	}
	r.lines, r.torn, r.untidy = after(c.lines, at.Seq), c.torn, len(c.torn) > 0
	if n := len(r.lines); n > 0 {
		r.pos.prev, r.pos.seq = r.lines[n-1].sum, r.lines[n-1].seq
	}
	if c.bad > 0 || !joined || !contiguous(r.lines, at.Seq) {
		return errNoHead
	}
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
	s, ok := readHead(f, info.Size())
	return ok && s.Schema <= d.o.Schema && s.Seq >= h.Base
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

// has tells whether a journal has the commit of a head, or begins after it.
func (c content) has(at Head) bool {
	if c.hasHead && c.head.Base == at.Seq && c.head.prev() == at.Sum {
		return true
	}
	return slices.ContainsFunc(c.lines, func(l line) bool { return l.is(at) })
}

// is tells whether a line is the commit of a head.
func (l line) is(at Head) bool { return l.seq == at.Seq && l.sum == at.Sum && !l.lost }
