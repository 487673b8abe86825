package journal

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// journalFile is J while it is open: how far it was read, and how commits are appended to it. Only
// who holds the file lock writes.
type journalFile struct {
	*directory
	f           *file // nil when there is no J
	info        fs.FileInfo
	writable    bool // f is open for writing
	needsRepair bool // a reader found something that a writer has to repair
	pos         position
	doubt       *witness // the first commit of a write of ours that is in doubt
	warn        func(Warning)
}

// position is how far into J the state was folded.
type position struct {
	head header
	off  int64     // what is before it is folded
	mark int64     // where the last line begins
	sum  uint32    // that line's checksum
	prev uint32    // the last commit's checksum, to which the next one is chained
	seq  uint64    // the last commit
	at   time.Time // its recorded time

	// In a copy of a remote log: the place there of a commit. It is the last one, or an earlier one
	// if a process was killed before it noted the place.
	place, placed uint64
}

// pass moves the position past the line l, which begins there.
func (p *position) pass(l line) {
	p.mark, p.off = p.off, p.off+l.size()
	p.sum, p.prev, p.seq = l.written(), l.sum, l.seq
}

// attach opens the directory, and makes it if need be. changed reports whether another one is open now.
func (j *journalFile) attach(create bool) (changed bool, err error) {
	changed, err = j.directory.attach(create)
	if changed {
		j.close()
	}
	return changed, err
}

func (j *journalFile) close() {
	if j.f != nil {
		_ = j.f.Close() // every byte that matters was synced
	}
	j.f, j.info, j.writable, j.pos = nil, nil, false, position{}
}

// adopt takes over the file and the position of a recovery, and closes its own file.
func (j *journalFile) adopt(r *recovery) {
	j.close()
	j.f, j.info, j.pos = r.f, r.info, r.pos
	r.f = nil
}

// current reports whether nothing was written since the position. false may be
// wrong, true never.
func (j *journalFile) current() bool {
	if j.root == nil {
		_, err := os.Stat(j.path)
		return errors.Is(err, fs.ErrNotExist)
	}
	fi, err := j.stat(j.names.journal)
	if j.f == nil {
		return errors.Is(err, fs.ErrNotExist) && j.attached()
	}
	if j.pos.head.Base > j.pos.seq {
		return false // J was switched and S was not: then only S changes
	}
	return err == nil && os.SameFile(fi, j.info) && fi.Size() == j.pos.off && j.marked()
}

// marked reports whether the last line that was folded is still where it was. It is not if a
// failed write was cut back and another one took its place.
func (j *journalFile) marked() bool {
	if j.pos.off == 0 {
		return true
	}
	var digits [sumLen]byte
	if _, err := j.f.ReadAt(digits[:], j.pos.mark); err != nil {
		return false
	}
	sum, ok := parseSum(digits[:])
	return ok && sum == j.pos.sum
}

// openForWriting opens the journal that is being read for writing too.
func (j *journalFile) openForWriting() error {
	if j.f == nil || j.writable {
		return nil
	}
	f, err := j.open(j.names.journal, os.O_RDWR)
	if err != nil {
		return err
	}
	_ = j.f.Close()
	j.f, j.writable = f, true
	return nil
}

// ready reports whether commits can be appended to the journal: it must exist,
// and its header must have our schema.
func (j *journalFile) ready() bool {
	return j.f != nil && j.pos.head.Schema == j.o.Schema && j.pos.head.Remote == j.o.remoteName()
}

// makeReady makes the journal, or rewrites it with a header of our schema, if it is not ready.
func (j *journalFile) makeReady() error {
	if j.ready() {
		return nil
	}
	h := j.pos.head
	switch {
	case j.o.Remote != nil:
		h.Left = 0
	case h.Remote != "":
		h.Left = j.pos.seq
	}
	h.Remote = j.o.remoteName()
	var lines []line
	if j.f == nil {
		h.Base, h.Prev, h.At = j.pos.seq, hexSum(j.pos.prev), j.pos.at
	} else {
		data, err := j.f.readAll()
		if err != nil {
			return err
		}
		lines = scan(data, 0).lines
	}
	return j.rewrite(h, lines, j.pos)
}

// append writes lines at the end of the journal, syncs them, and moves the position behind them. If
// that fails, the journal is cut back to what it was. A copy of a remote log is not synced:
// what a power cut takes from it is fetched again.
func (j *journalFile) append(lines []line) error {
	size := int64(0)
	for _, l := range lines {
		size += l.size()
	}
	text := make([]byte, 0, size) // of an import, a gigabyte: it must not grow
	for _, l := range lines {
		text = l.appendTo(text)
	}
	_, err := j.f.WriteAt(text, j.pos.off)
	if err == nil && j.o.Remote == nil {
		err = j.f.Sync() // the commit is answered after this
	}
	if err == nil {
		for _, l := range lines {
			j.pos.pass(l)
		}
		return nil
	}
	undo := j.cutBack()
	if undo == nil {
		return err
	}
	j.doubt = &witness{seq: lines[0].seq, sum: lines[0].sum}
	return j.errorf(j.names.journal, ErrInDoubt, "commit %d may or may not be on disk, the next write settles it: %w", lines[0].seq, errors.Join(err, undo))
}

// cutBack truncates the journal to the position, and syncs it. Without the sync a power cut
// could bring the rest back.
func (j *journalFile) cutBack() error {
	err := j.f.Truncate(j.pos.off)
	if err == nil {
		err = j.f.Sync()
	}
	return err
}

// writeNew writes J.new with a header, which begins a new generation, and lines, and syncs it. It
// returns where it ends. last says when and where the last commit was made.
func (j *journalFile) writeNew(h header, lines []line, last position) (position, error) {
	h.Journal, h.Schema = format, j.o.Schema
	h.Generation++
	first := h.line()
	text := first.appendTo(nil)
	p := position{head: h, off: first.size(), sum: first.sum, prev: h.prev(), seq: h.Base, at: last.at, place: last.place, placed: last.placed}
	for _, l := range lines {
		text = l.appendTo(text)
		p.pass(l)
	}
	return p, j.write(j.names.journalNew, text)
}

// rewrite rebuilds J.
func (j *journalFile) rewrite(h header, lines []line, last position) error {
	p, err := j.writeNew(h, lines, last)
	if err != nil {
		return err
	}
	return j.switchToNew(p)
}

// switchToNew renames J.new over J. p is the position at which the next commit is appended.
func (j *journalFile) switchToNew(p position) error {
	if err := j.rename(j.names.journalNew, j.names.journal); err != nil {
		return err
	}
	if err := j.sync(); err != nil { // without it the next commit could be in a file that has no name
		return err
	}
	f, err := j.open(j.names.journal, os.O_RDWR)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	j.close()
	j.f, j.info, j.writable, j.pos = f, info, true, p
	return nil
}

// answered notes the last commit as the one that was answered.
func (j *journalFile) answered() {
	w := witness{seq: j.pos.seq, sum: j.pos.prev}
	if j.pos.placed == j.pos.seq {
		w.place = j.pos.place
	}
	j.writeWitness(w)
}
