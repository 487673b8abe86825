package journal

import (
	"errors"
	"os"
	"time"
)

// repair makes the files what gather found them to mean, under the lock. Every
// step leaves files from which the same is found again.
func (d *disk) repair(r *recovery) error {
	doubt, err := d.readDoubt()
	if err != nil {
		return err
	}
	if len(r.torn) > 0 {
		if err := d.keepTorn(r.torn); err != nil {
			return err
		}
	}
	aside := d.n.journal
	if r.marred {
		if aside, err = d.copyAside(r.j, r.lost); err != nil {
			return err
		}
	}
	if err := d.dropBroken(r); err != nil {
		return err
	}
	switch {
	case r.dirty || doubt != nil && r.j != nil:
		err = d.rewrite(r)
	case len(r.torn) > 0:
		err = d.cut(r.pos.off)
		d.adopt(r)
	default:
		d.adopt(r)
	}
	if err != nil {
		return err
	}
	if err := d.placeSnapshot(r); err != nil {
		return err
	}
	if doubt != nil {
		if err := d.settle(*doubt, r); err != nil {
			return err
		}
	}
	d.warn(r, aside, true)
	return nil
}

// warn tells what gather found. aside is where the damaged journal is.
func (d *disk) warn(r *recovery, aside string, repaired bool) {
	tell := func(w Warning) {
		w.repaired = repaired
		d.note(w)
	}
	for _, seq := range r.lost {
		tell(lostWarning(aside, seq))
	}
	if r.marred && len(r.lost) == 0 {
		tell(damagedWarning(aside))
	}
	if r.broken != nil {
		by := d.n.journal
		if r.snap != nil {
			by = r.snap.name
		}
		tell(replacedWarning(r.broken.name, by, len(r.lost) > 0))
	}
}

// keepTorn appends a torn write to the file where such are kept.
func (d *disk) keepTorn(torn []byte) error {
	f, err := d.fs.open(d.n.torn, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	fi, err := f.Stat()
	if err == nil {
		_, err = f.WriteAt(append(torn[:len(torn):len(torn)], '\n'), fi.Size())
	}
	if err == nil {
		err = f.Sync() // the original is cut off next
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.fs.syncDir() // and its name may be new
	}
	if err == nil {
		d.note(tornWarning(d.n.torn, len(torn)))
	}
	return err
}

// cut shortens a journal and syncs it, so that after a power cut the same torn
// write is not found, kept and told again.
func (d *disk) cut(size int64) error {
	f, err := d.fs.open(d.n.journal, os.O_RDWR)
	if err != nil {
		return err
	}
	err = f.Truncate(size)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// copyAside keeps a damaged journal as it is, and in its name which commits were lost: the placeholders for them go with
// the next compaction, and people should know for as long as they keep the file.
func (d *disk) copyAside(j file, lost []uint64) (string, error) {
	aside, err := d.setAside(d.n.journal, lostSuffix(lost))
	if err != nil {
		return "", err
	}
	data, err := readAll(j)
	if err != nil {
		return "", err
	}
	if err := writeName(d.fs, aside, data); err != nil {
		return "", err
	}
	return aside, d.fs.syncDir() // the original is replaced next
}

// dropBroken sets a damaged snapshot aside.
func (d *disk) dropBroken(r *recovery) error {
	if r.broken == nil {
		return nil
	}
	aside, err := d.setAside(d.n.snapshot, "")
	if err != nil {
		return err
	}
	if err := d.fs.rename(d.n.snapshot, aside); err != nil {
		return err
	}
	r.broken.name = aside
	return nil
}

// placeSnapshot puts the snapshot that took over where a snapshot belongs. It
// comes after the journal was made to reach back to it.
func (d *disk) placeSnapshot(r *recovery) error {
	if r.snap == nil || r.snap.name == d.n.snapshot {
		return nil
	}
	// The directory is not synced: without the new name the same is found
	// again, and the next compaction begins with a sync.
	if r.snap.name != d.n.snapshotNew {
		return d.linkOrRename(r.snap.name, d.n.snapshot)
	}
	if err := d.syncName(r.snap.name); err != nil { // its writer may have been killed before its own fsync
		return err
	}
	return d.fs.rename(r.snap.name, d.n.snapshot)
}

func (d *disk) syncName(name string) error {
	f, err := d.fs.open(name, os.O_RDWR)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// linkOrRename gives a file a second name, or, where a file can have only
// one, another name.
func (d *disk) linkOrRename(from, to string) error {
	if d.fs.link(from, to) == nil {
		return nil
	}
	return d.fs.rename(from, to)
}

// rewrite makes J anew from the snapshot's commit on.
func (d *disk) rewrite(r *recovery) error {
	h := r.pos.head
	if len(r.lost) > 0 {
		h.Repairs++
	}
	h.Prev = hexSum(r.pos.prev)
	if len(r.lines) > 0 {
		h.Prev = hexSum(r.lines[0].prev)
	}
	h.Base, h.At = r.seq(), r.pos.at
	if r.snap != nil && !r.snap.head.At.IsZero() {
		h.At = r.snap.head.At
	}
	if err := d.writeJournal(h, r.lines); err != nil {
		return err
	}
	if err := d.switchJournal(h, r.lines, r.pos.at); err != nil {
		return err
	}
	r.close()
	return nil
}

// writeJournal writes J.new with a header and lines, and syncs it.
func (d *disk) writeJournal(h header, lines []line) error {
	text := d.complete(h).line().appendTo(nil)
	for _, l := range lines {
		text = l.appendTo(text)
	}
	return writeName(d.fs, d.n.journalNew, text)
}

// complete is a header as it is written: ours, and of a new generation.
func (d *disk) complete(h header) header {
	h.Journal, h.Schema = format, d.o.Schema
	h.Generation++
	return h
}

// switchJournal renames J.new over J and goes on in it. The header and lines
// are those that were written.
func (d *disk) switchJournal(h header, lines []line, at time.Time) error {
	if err := d.fs.rename(d.n.journalNew, d.n.journal); err != nil {
		return err
	}
	if err := d.fs.syncDir(); err != nil { // without it the next commit could be in a file that has no name
		return err
	}
	f, err := d.fs.open(d.n.journal, os.O_RDWR)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	h = d.complete(h)
	hl := h.line()
	p := position{head: h, off: info.Size(), sum: hl.sum, prev: h.prev(), seq: h.Base, at: at}
	off := int64(len(hl.body)) + sumLen + 2
	for _, l := range lines {
		p.mark, p.sum, p.prev, p.seq = off, l.sum, l.sum, l.seq
		off += int64(len(l.body)) + sumLen + 2
	}
	d.closeJournal()
	d.j, d.info, d.mine, d.pos = f, info, true, p
	return nil
}

// adopt goes on in the journal that was read.
func (d *disk) adopt(r *recovery) {
	d.closeJournal()
	d.j, d.info, d.pos = r.j, r.info, r.pos
	r.j = nil
}
