package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Recovery
//
// The state is the newest good snapshot of S, S.new and S.prev, and every
// commit after it in J and, where J begins later, J.prev. S.new and S.prev are
// read only when S is missing or damaged. A reader takes no lock, changes
// nothing and warns. The next writer repairs.
//
// The process is killed, or power fails,
//
//   - while the first J is made: J.new or an empty J remains. The next writer rebuilds J.
//   - in an append: J ends in a torn line, or in whole lines nobody answered
//     for. Whole lines are kept. The torn line, the bytes after the last line
//     feed, is copied to .torn, cut off, and reported.
//   - in an append, and the disk shows a line feed but not all that was before it: a damaged line, see below.
//   - in steps 1 to 3 of a compaction (see compact.go): J is as it was. S.new and J.new are overwritten next time.
//   - in step 4: S and S.prev, J and J.prev may be the same file. S.new is
//     good, so damage to the one snapshot is still no loss.
//   - after 5: S has N, J has everything after M. Commits up to N are skipped.
//   - after 6, before its fsync: the disk may show either rename without the
//     other. With S at M and J from N on, J.prev has what is between.
//   - after 6: S.prev (M) with J.prev (after M) and J (after N) are the second,
//     complete copy until the next compaction.
//   - while a copy starts from a snapshot of a remote log (see remotesnapshot.go): S with J.prev is
//     the copy as it was until S is switched too. J begins later than both; it is made of J.prev.
//   - in a repair: it starts over. In [Log.Purge]: purge again.
//
// Something fails and the process lives on,
//
//   - a write or fsync of an append: J is cut back to its former length and
//     synced. The error names the cause, memory is as before. Nothing is
//     retried by itself.
//   - that cut or its fsync too: [ErrInDoubt]. The next write of this log settles it. It drops
//     a torn tail or keeps a whole commit, rewrites J, and warns which it was. J is rewritten
//     because after a failed fsync the kernel treats pages as clean that are not on disk.
//     If the process ends first, the next one finds a torn tail or a whole commit.
//   - a step of a compaction: the error is returned. The files are as after a kill there.
//
// Something is damaged,
//
//   - S: the newest good one of S.new and S.prev takes over. Nothing is lost.
//     S is set aside, J is rewritten from that snapshot on, and the snapshot takes S's place.
//   - S and every other snapshot, and J does not begin at commit 0: [ErrCorrupt]. Nothing is written.
//   - a line of J: the intact lines around it are kept. J is copied to
//     .corrupt-<time>, and rewritten with a placeholder for each lost commit.
//     If only a line feed was hit, nothing is lost. If it was the last one, the line counts as torn.
//   - J's header: the commits have all that it says. J is rewritten.
//   - J is missing or empty: the commits in J.prev after S's, if any.
//   - J does not have the witness's commit: what is missing is lost, as if its lines were damaged.
//   - an intact snapshot that cannot be decoded: [ErrCorrupt]. A program that knew more wrote
//     it. Nothing is written.
//   - an intact line that cannot be decoded, or has an event of an unknown kind: readers get the
//     state before it, and a warning; a write is [ErrNewer]. [Detach] cuts J there and keeps it aside.

// recovery is the result of reading the files of a directory.
type recovery struct {
	j            *journalFile
	from         Head      // where the state begins: at the snapshot's commit, or at that of a state we have
	snap         *snapshot // nil: the state begins empty, or is not a snapshot's
	broken       *snapshot // S, when it is damaged
	lines        []line    // the commits after snap, without a gap
	lost         []uint64  // commits newly found lost
	ends         uint64    // the last commit of which J shows at least damage; a later lost one is just not there
	pos          position  // in J as it is, or as the repair makes it
	f            *file     // J open for reading, nil when there is none
	info         fs.FileInfo
	torn         []byte
	damaged      bool // J has damaged lines, or lacks commits that were answered: it is set aside
	needsRewrite bool // a repair must rewrite J
	needsRepair  bool // a writer has something to repair

	void []Warning // of commits with events that do not count

	read, older content // J and J.prev, as far as they were read
}

// close closes J, unless adopt has taken it over.
func (r *recovery) close() {
	if r.f != nil {
		_ = r.f.Close()
		r.f = nil
	}
}

// allLost lists the lost commits: new ones, and those known from placeholders.
func (r *recovery) allLost() []uint64 {
	seqs := slices.Clone(r.lost)
	for _, l := range r.lines {
		if l.lost {
			seqs = append(seqs, l.seq)
		}
	}
	slices.Sort(seqs)
	return slices.Compact(seqs)
}

// gather reads everything and changes nothing. It works without the lock: the
// witness is read before J, and J is opened before S, which is switched first.
func (r *recovery) gather() error {
	w := r.j.readWitness()
	err := r.open()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := r.chooseSnapshot(); err != nil {
		return err
	}
	if r.snap != nil {
		r.from = Head{Seq: r.snap.head.Seq, At: r.snap.head.At, Generation: r.snap.head.Generation}
	}
	var data []byte
	if r.f != nil {
		if data, err = r.f.readAll(); err != nil {
			return err
		}
	}
	c := scan(data, 0)
	if err := r.checkHeader(r.j.names.journal, c); err != nil {
		return err
	}
	_, err = r.merge(c, w)
	return err
}

func (r *recovery) open() (err error) {
	if r.f, err = r.j.open(r.j.names.journal, os.O_RDONLY); err == nil {
		r.info, err = r.f.Stat()
	}
	return err
}

// chooseSnapshot takes S if it is good, else the newest good one of the others.
func (r *recovery) chooseSnapshot() error {
	s, err := r.j.readSnapshot(r.j.names.snapshot)
	if err != nil || s != nil && s.good {
		r.snap = s
		return err
	}
	r.broken = s
	for _, name := range []string{r.j.names.snapshotNew, r.j.names.snapshotPrev} {
		s, err := r.j.readSnapshot(name)
		if err != nil {
			return err
		}
		if s != nil && s.good && (r.snap == nil || s.head.Seq > r.snap.head.Seq) {
			r.snap = s
		}
	}
	return nil
}

// checkHeader refuses a journal that a newer program wrote, whatever else is wrong with it.
func (r *recovery) checkHeader(name string, c content) error {
	f, schema := max(c.head.Journal, c.claim.Journal), max(c.head.Schema, c.claim.Schema)
	switch {
	case f > format:
		return r.j.errorf(name, ErrNewer, "its format is %d, this program knows %d; install a newer one", f, format)
	case schema > r.j.o.Schema:
		return r.j.errorf(name, ErrNewer, "its schema is %d, this program knows %d; install a newer one", schema, r.j.o.Schema)
	}
	return nil
}

// readOlder reads J.prev.
func (r *recovery) readOlder() (content, error) {
	data, err := r.j.read(r.j.names.journalPrev)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return content{}, err
	}
	c := scan(data, 0)
	return c, r.checkHeader(r.j.names.journalPrev, c)
}

// merge puts together the commits after r.from. It returns J.prev, if it had to
// read it.
func (r *recovery) merge(c content, w witness) (older content, err error) {
	base := r.from.Seq
	lines := after(c.lines, base)
	if !c.hasHead || c.head.Base > base {
		if older, err = r.readOlder(); err != nil {
			return older, err
		}
		lines = union(lines, after(older.lines, base))
	}
	if err := r.checkReach(c, older, lines); err != nil {
		return older, err
	}
	r.ends = max(base, lastSeq(lines), lastSeq(c.lines)+uint64(c.badTail))
	r.fillGaps(lines, base, max(r.ends, w.seq))
	if slices.ContainsFunc(r.lines, func(l line) bool { return l.seq == w.seq && l.sum != w.sum && !l.lost }) { // another commit has its number
		r.lost, r.ends = append(r.lost, w.seq), w.seq-1
	}
	r.torn, r.damaged = c.torn, c.bad > 0 || len(r.lost) > 0
	r.read, r.older = c, older
	r.setPosition(c, older)
	if at := (Head{Seq: w.seq, Sum: w.sum}); w.place != 0 && (c.has(at) || older.has(at)) {
		r.pos.place, r.pos.placed = w.place, w.seq
	}
	missing := r.pos.seq > lastSeq(c.lines) && r.pos.seq != c.head.Base
	r.needsRewrite = r.damaged || missing && (len(r.lines) > 0 || r.f != nil) || c.hasHead && c.head.Base > base || r.f != nil && r.j.doubt != nil
	misplaced := r.snap != nil && r.snap.name != r.j.names.snapshot
	r.needsRepair = r.needsRewrite || len(r.torn) > 0 || r.broken != nil || misplaced
	return older, nil
}

// checkReach returns an error if the snapshot that the journal continues is gone.
func (r *recovery) checkReach(c, older content, lines []line) error {
	base := r.from.Seq
	reaches := !c.hasHead || c.head.Base <= base || older.hasHead && older.head.Base <= base
	if len(lines) > 0 && lines[0].seq-base-1 > uint64(c.bad+older.bad) {
		reaches = false // more is missing than damaged lines could have held
	}
	nothing := r.snap == nil && !c.hasHead && len(lines) == 0
	switch {
	case r.broken != nil && nothing:
		return r.j.errorf(r.j.names.snapshot, ErrCorrupt, "its checksum is wrong and there is no older one; put a copy in its place, or move the file away to start over")
	case !reaches:
		return r.j.errorf(r.j.names.snapshot, ErrCorrupt, "the state before %s is neither in it nor in %s; put a copy of either in its place", r.j.names.journal, r.j.names.snapshotPrev)
	}
	return nil
}

// fillGaps puts placeholders where commits are missing, up to a last one.
func (r *recovery) fillGaps(lines []line, seq, last uint64) {
	var prev uint32
	lose := func(to uint64) {
		for ; seq < to; seq++ {
			l := lostLine(seq+1, prev)
			r.lines, r.lost, prev = append(r.lines, l), append(r.lost, l.seq), l.sum
		}
	}
	for _, l := range lines {
		lose(l.seq - 1)
		r.lines, seq, prev = append(r.lines, l), l.seq, l.sum
	}
	lose(last)
}

// setPosition says where in J the state ends, if J needs no repair.
func (r *recovery) setPosition(c, older content) {
	p := c.end()
	p.seq = r.from.Seq
	if c.hasHead && c.head.Base > r.from.Seq { // J was switched and S was not: J.prev is the journal
		p.prev, p.at = older.end().prev, older.head.At
	}
	if !c.hasHead {
		p.head = older.head
		p.head.Remote = cmp.Or(r.j.o.remoteName(), c.claim.Remote) // J.prev may be of before a [Detach]
	}
	p.head.Generation = max(p.head.Generation, r.from.Generation)
	if r.from.At.After(p.at) {
		p.at = r.from.At
	}
	if n := len(r.lines); n > 0 {
		p.seq, p.prev = r.lines[n-1].seq, r.lines[n-1].sum
	}
	r.pos = p
}

// cut takes the commits from lines[i] on away, as if the files ended before it.
func (r *recovery) cut(i int) {
	seq, at := r.lines[i].seq, r.pos.at
	r.lines = r.lines[:i]
	c := r.read
	if k := slices.IndexFunc(c.lines, func(l line) bool { return l.seq >= seq }); k >= 0 {
		c.whole, c.lines = c.lines[k].off, c.lines[:k]
	}
	r.setPosition(c, r.older)
	r.pos.at = at
}

// end is the position after what was read of J. Its seq is that of the last
// line, 0 if there is none.
func (c content) end() position {
	p := position{head: c.head, off: c.whole, sum: c.headLine.sum, prev: c.head.prev(), at: c.head.At}
	if n := len(c.lines); n > 0 {
		l := c.lines[n-1]
		p.mark, p.sum, p.prev, p.seq = l.off, l.written(), l.sum, l.seq
	}
	return p
}

// unsettled reports whether what gather found may come from files that were
// switched while they were read without the lock.
func (r *recovery) unsettled(err error) bool {
	if err != nil {
		return errors.Is(err, ErrCorrupt) || errors.Is(err, fs.ErrNotExist)
	}
	if r.damaged || r.broken != nil {
		return true
	}
	now, err := r.j.stat(r.j.names.journal)
	if r.f == nil {
		return err == nil
	}
	return err != nil || !os.SameFile(now, r.info)
}

// repair rewrites the files so that they hold the state that gather found. The lock is
// held. After each step gather would find the same state.
func (r *recovery) repair() (err error) {
	if len(r.torn) > 0 {
		if err := r.keepTorn(r.torn); err != nil {
			return err
		}
	}
	aside := r.j.names.journal
	if r.damaged {
		if aside, err = r.copyAside(); err != nil {
			return err
		}
	}
	if r.broken != nil {
		if r.broken.name, err = r.j.unusedName(r.j.names.snapshot+corruptMark, ""); err != nil {
			return err
		}
		if err := r.j.rename(r.j.names.snapshot, r.broken.name); err != nil {
			return err
		}
	}
	switch {
	case r.needsRewrite:
		err = r.rewrite()
	case len(r.torn) > 0:
		// Synced, so that after a power cut the same torn write is not found, kept and reported again.
		r.j.adopt(r)
		if err = r.j.openForWriting(); err == nil {
			err = r.j.cutBack()
		}
	default:
		r.j.adopt(r)
	}
	if err == nil {
		err = r.placeSnapshot()
	}
	if err != nil {
		return err
	}
	r.settle()
	if r.needsRewrite {
		r.j.answered()
	}
	r.warn(aside)
	return nil
}

// settle reports whether a write in doubt is on disk. J has been rewritten.
func (r *recovery) settle() {
	if r.j.doubt == nil {
		return
	}
	outcome := "is not on disk"
	if slices.ContainsFunc(r.lines, func(l line) bool { return l.seq == r.j.doubt.seq && l.sum == r.j.doubt.sum }) {
		outcome = "is on disk"
	}
	r.j.warn(Warning{Kind: Settled, File: r.j.names.journal, Seq: r.j.doubt.seq,
		Text: fmt.Sprintf("commit %d was in doubt after a failed write; it %s.", r.j.doubt.seq, outcome)})
	r.j.doubt = nil
}

// warn reports what gather found. aside is where the damaged journal is.
func (r *recovery) warn(aside string) {
	for _, w := range lostWarnings(aside, r.lost, r.ends) {
		r.j.warn(w)
	}
	if r.damaged && len(r.lost) == 0 {
		r.j.warn(damagedWarning(aside))
	}
	if r.broken != nil {
		by := "the journal"
		if r.snap != nil {
			by = r.snap.name + " and " + by
		}
		r.j.warn(replacedWarning(r.broken.name, by, len(r.lost) > 0))
	}
}

// keepTorn appends a torn write to the .torn file. The original is cut off next.
func (r *recovery) keepTorn(torn []byte) error {
	err := r.j.extend(r.j.names.torn, append(torn[:len(torn):len(torn)], '\n'))
	if err == nil {
		r.j.warn(tornWarning(r.j.names.torn, len(torn)))
	}
	return err
}

// copyAside keeps a damaged J as it is, and in its name which commits were
// lost: the placeholders for them go with the next compaction.
func (r *recovery) copyAside() (string, error) {
	aside, err := r.j.unusedName(r.j.names.journal+corruptMark, lostSuffix(r.lost))
	if err != nil {
		return "", err
	}
	var data []byte
	if r.f != nil {
		if data, err = r.f.readAll(); err != nil {
			return "", err
		}
	}
	if err := r.j.write(aside, data); err != nil {
		return "", err
	}
	return aside, r.j.sync() // the original is replaced next
}

// placeSnapshot gives the snapshot that replaced S the name S, after J was made to
// reach back to it.
func (r *recovery) placeSnapshot() error {
	if r.snap == nil || r.snap.name == r.j.names.snapshot {
		return nil
	}
	// The directory is not synced: without the new name the same is found
	// again, and the next compaction begins with a sync.
	if r.snap.name != r.j.names.snapshotNew {
		return r.j.linkOrRename(r.snap.name, r.j.names.snapshot)
	}
	f, err := r.j.open(r.snap.name, os.O_RDWR)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil { // its writer may have been killed before its own fsync
		return err
	}
	return r.j.rename(r.snap.name, r.j.names.snapshot)
}

// rewrite rebuilds J from the snapshot's commit on.
func (r *recovery) rewrite() error {
	h := r.pos.head
	if len(r.lost) > 0 {
		h.Repairs++
	}
	h.Prev = hexSum(r.pos.prev)
	if len(r.lines) > 0 {
		h.Prev = hexSum(r.lines[0].prev)
	}
	h.Base, h.At = r.from.Seq, r.pos.at
	if !r.from.At.IsZero() {
		h.At = r.from.At
	}
	err := r.j.rewrite(h, r.lines, r.pos)
	r.close()
	return err
}
