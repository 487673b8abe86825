package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// memory is the state that a log has in memory: what was read of the files so far, folded. The
// log's mu guards it and the position in the files.
type memory[S, E any] struct {
	m Machine[S, E]
	o *Options
	j *journalFile

	state   S
	head    Head     // of the state
	loaded  bool     // the state is what the files say, up to the position
	ahead   bool     // the state has commits that are not on disk, or is none
	started bool     // the state began with that of a Starter
	lost    []uint64 // commits of which only placeholders are left
	torn    int      // bytes of an unfinished write after the position
	losses  int      // [Head.Losses]
	unknown error    // the commit at which the state ends, since it is not understood; nil: the state is whole
	former  *former[S]
	bad     map[uint32]bool // checksums of commits that could not be folded
}

// former is the state before a load.
type former[S any] struct {
	head  Head
	state S
	lost  []uint64
	whole bool // it is the state of head, and all of it
}

// reached is a position as a [Head].
func (m *memory[S, E]) reached(p position) Head {
	return Head{Seq: p.seq, At: p.at, Generation: p.head.Generation, Sum: p.prev, Repairs: p.head.Repairs, Offset: p.mark, Losses: m.losses}
}

// set stores the state s, which is that of the position in the files.
func (m *memory[S, E]) set(s S) {
	m.state, m.head = s, m.reached(m.j.pos)
	m.loaded, m.ahead = true, false
	if m.head.At.Sub(m.o.Now()) > time.Hour {
		m.j.warn(aheadWarning(m.j.names.journal, m.head.At))
	}
}

// forget drops the state. It is reloaded at the next use.
func (m *memory[S, E]) forget() {
	var none S
	m.state, m.loaded, m.ahead = none, false, true
}

// lossy reports whether commits were lost, since the snapshot or before it.
func (m *memory[S, E]) lossy() bool { return len(m.lost) > 0 || m.j.pos.head.Repairs > 0 }

// catchUp folds what others committed. locked reports whether the file lock is held: then the files
// are repaired.
func (m *memory[S, E]) catchUp(locked bool) error {
	if m.loaded && !(locked && m.j.needsRepair) {
		r := &recovery{j: m.j}
		if r.resume(m.head) == nil && !(locked && r.needsRepair) && m.advance(m.state, r, locked) == nil {
			return nil
		}
		r.close()
	}
	return m.load(locked)
}

// advance folds the commits of r, which follow the state s, and moves the position to their end.
func (m *memory[S, E]) advance(s S, r *recovery, locked bool) (err error) {
	m.ahead = true // Fold may change s
	if s, err = m.foldUnderstood(s, r, locked); err == nil && locked {
		err = m.unknown // the files are cut by a load
	}
	if err != nil {
		return err
	}
	m.j.adopt(r)
	m.j.needsRepair, m.torn, m.lost = r.needsRepair, len(r.torn), append(m.lost, r.allLost()...)
	m.set(s)
	return nil
}

// fold decodes and folds the commits of r. If the error is a spoiled one, s is worth nothing.
func (m *memory[S, E]) fold(s S, r *recovery) (S, error) {
	for i, ln := range r.lines {
		if ln.lost {
			continue
		}
		var c Commit[E]
		why, spoiled := "", false
		if DecodeDocument(m.o.withoutSecrets(ln).body, &c) != nil {
			why = " (its events have another form)" // the decoder words its errors differently each time
		} else if i := firstUnknown(c.Events); i >= 0 {
			why = fmt.Sprintf(" (event %d is of an unknown kind)", i+1)
		} else if m.bad[ln.sum] {
			why = notFolded
		}
		if why == "" {
			theirs := m.theirs(ln.seq, r)
			if theirs {
				c.At = m.plausibleTime(c.At, r.pos.at)
			}
			var next S
			var void int
			if next, void, spoiled = m.tryFold(s, c, theirs); void > 0 {
				r.void = append(r.void, voidWarning(m.j.names.journal, ln.seq, void))
			}
			if spoiled {
				if m.bad == nil {
					m.bad = map[uint32]bool{}
				}
				why, m.bad[ln.sum] = notFolded, true
			} else {
				s = next
			}
		}
		if why != "" {
			return s, &unknownCommitError{i, why, spoiled, m.j.errorf(m.j.names.journal, ErrNewer, "commit %d is intact and not understood%s: a newer version may have written it. Reads work, as of the commit before it, and nothing is written; install the newest version (a team can be left: lean-ctx team leave)", ln.seq, why)}
		}
		r.pos.at = c.At
	}
	return s, nil
}

const notFolded = " (it does not fit what was there before)"

// tryFold folds a commit, and reports one that the machine cannot fold. Anybody in a team can write one.
// void is how many of its events do not count.
func (m *memory[S, E]) tryFold(s S, c Commit[E], theirs bool) (next S, void int, spoiled bool) {
	defer func() {
		if p := recover(); p != nil {
			m.o.Logger.Error("a commit could not be folded", "seq", c.Seq, "panic", p, "stack", string(debug.Stack()))
			spoiled = true
		}
	}()
	n := len(c.Events)
	if w, ok := any(m.m).(Wary[E]); ok && theirs {
		c.Events = w.Others(c.Events)
	}
	return m.m.Fold(s, c), n - len(c.Events), false
}

// decode is Decode of the machine. A snapshot of others must not end the program.
func (m *memory[S, E]) decode(data []byte, theirs bool) (s S, err error) {
	defer func() {
		if p := recover(); p != nil {
			m.o.Logger.Error("a snapshot could not be read", "panic", p, "stack", string(debug.Stack()))
			err = errors.New(strings.Trim(notFolded, " ()"))
		}
	}()
	if s, err = m.m.Decode(data); err == nil && theirs {
		if w, ok := any(m.m).(WaryOfStates[S]); ok {
			s = w.OthersState(s)
		}
	}
	return s, err
}

// theirs reports whether a commit was one of a team: any member may have written it.
func (m *memory[S, E]) theirs(seq uint64, r *recovery) bool {
	return m.o.Remote != nil || seq <= r.pos.head.Left
}

// farAhead is how far ahead of our clock a commit of others may be. Their clocks may be wrong, and
// ours, but every later commit must be later than it.
const farAhead = 24 * time.Hour

// plausibleTime is the recorded time of a commit of others, which follows one of the time last.
func (m *memory[S, E]) plausibleTime(at, last time.Time) time.Time {
	if now := m.o.Now(); at.Sub(now) > farAhead {
		if at = now.UTC().Round(0); !last.IsZero() {
			at = last.Add(1)
		}
	}
	return at
}

// unknownCommitError is about a commit that is intact and not understood.
type unknownCommitError struct {
	index   int    // in the lines that were folded
	why     string // it is not understood, in brackets
	spoiled bool   // the state that it was folded into is worth nothing
	error
}

func (e *unknownCommitError) Unwrap() error { return e.error }

// firstUnknown is the first event of which nothing is known: its kind is one of a newer version.
// It is -1 if there is none.
func firstUnknown[E any](events []E) int {
	for i := range events {
		if reflect.ValueOf(&events[i]).Elem().IsZero() {
			return i
		}
	}
	return -1
}

// foldUnderstood folds the commits of r. Who reads stops before one that is not understood: what
// was committed later may count on it. Who writes gets an error, since what is decided on half a
// state may be wrong. But a log that was a team's is cut there: nobody else continues it.
func (m *memory[S, E]) foldUnderstood(s S, r *recovery, locked bool) (S, error) {
	m.unknown = nil
	s, err := m.fold(s, r)
	u, ok := errors.AsType[*unknownCommitError](err)
	if !ok || u.spoiled { // then the next attempt ends before it
		return s, err
	}
	seq := r.lines[u.index].seq
	cut := m.o.cutUnknown || seq <= r.pos.head.Left
	if locked && !cut {
		return s, err
	}
	if cut {
		u.error = m.j.errorf(m.j.names.journal, ErrNewer, "commit %d is intact and not understood%s: a newer version may have written it for the team. Reads and writes go on from the commit before it; it and what follows stay in a file %s%s<time>", seq, u.why, m.j.names.journal, corruptMark)
	}
	m.unknown = u
	r.cut(u.index)
	if locked {
		r.pos.head.Left = min(r.pos.head.Left, seq-1) // what has this number from now on is of this machine
		r.damaged, r.needsRewrite, r.needsRepair = true, true, true
	}
	m.j.warn(unknownWarning(m.j.names.journal, seq, u))
	return s, nil
}

// load reads the state from the files, and under the lock repairs them.
func (m *memory[S, E]) load(locked bool) error {
	if m.former == nil && m.head.Seq > 0 {
		m.former = &former[S]{m.head, m.state, m.lost, !m.ahead && !m.started}
	}
	err := m.read(locked)
	if err == nil && m.former != nil {
		m.rescue(*m.former)
	}
	return err
}

// loadTries is how often a reader starts over when the files changed under it.
const loadTries = 4

func (m *memory[S, E]) read(locked bool) error {
	m.loaded = false
	if !locked {
		if _, err := m.j.attach(false); err != nil {
			return err
		}
	}
	if m.started = false; !locked && m.start() {
		return nil
	}
	for try := 1; ; try++ {
		if m.j.root == nil {
			m.j.close()
			m.set(m.m.New())
			return nil
		}
		r := &recovery{j: m.j}
		err := r.gather()
		if !locked && try < loadTries && r.unsettled(err) {
			r.close()
			continue
		}
		if err == nil {
			err = m.take(r, locked)
		}
		r.close()
		if u, ok := errors.AsType[*unknownCommitError](err); ok && u.spoiled {
			continue
		}
		return err
	}
}

// take folds what a recovery read into a new state.
func (m *memory[S, E]) take(r *recovery, locked bool) (err error) {
	defer func() {
		if err != nil {
			m.j.close()
		}
	}()
	s := m.m.New()
	if r.snap != nil {
		if s, err = m.decode(r.snap.data, m.o.Remote != nil); err != nil {
			return m.j.errorf(r.snap.name, ErrCorrupt, "it is intact but not understood; nothing is written: %w", err)
		}
		r.snap.data = nil
	}
	if s, err = m.foldUnderstood(s, r, locked); err != nil {
		return err
	}
	m.j.needsRepair, m.torn = false, 0
	if locked {
		err = r.repair()
	} else {
		m.j.needsRepair, m.torn = r.needsRepair, len(r.torn)
		m.j.adopt(r)
		r.warn(m.j.names.journal)
	}
	if err != nil {
		return err
	}
	m.lost = r.allLost()
	m.set(s)
	return nil
}

// start takes the state of a Starter and what was committed after it. It fails
// when anything about the files is unusual; gather then says what it is.
func (m *memory[S, E]) start() bool {
	starter, ok := m.m.(Starter[S])
	if !ok || m.j.doubt != nil {
		return false
	}
	r := &recovery{j: m.j}
	reached := false
	s, ok := starter.Start(func(at Head) bool {
		r.close()
		r = &recovery{j: m.j}
		reached = r.resume(at) == nil
		return reached
	})
	m.lost = nil
	if !ok || !reached || m.advance(s, r, false) != nil {
		r.close()
		return false
	}
	m.started = true
	return true
}

// rescue warns if the files lack commits of the former state, and writes that
// state to a separate file.
func (m *memory[S, E]) rescue(f former[S]) {
	newly := slices.ContainsFunc(m.lost, func(seq uint64) bool { return seq <= f.head.Seq && !slices.Contains(f.lost, seq) })
	if f.head.Seq <= m.head.Seq && !newly && (f.head.Repairs == m.head.Repairs || len(f.lost) > 0) {
		m.former = nil
		return
	}
	m.losses++
	m.head.Losses = m.losses
	m.j.warn(vanishedWarning(m.j.names.journal, f.head.Seq, m.head.Seq))
	if m.j.root == nil && f.whole {
		return // the directory is gone; the next Update makes it, and comes here again
	}
	m.former = nil
	if !f.whole {
		return
	}
	name, err := m.j.unusedName(m.j.names.snapshot+rescuedMark, "")
	var text []byte
	if err == nil {
		text, err = encodeSnapshot(m.m, f.state, Header{Schema: m.o.Schema, Seq: f.head.Seq, Generation: f.head.Generation, At: f.head.At.UTC()})
	}
	if err == nil {
		err = m.j.write(name, text)
	}
	m.j.warn(rescuedWarning(name, err))
}

// headSearched is how many bytes of a journal or a snapshot are read for its header.
const headSearched = 4 << 10

var errNoHead = errors.New("the journal does not continue from there")

// resume finds a head in J, or in J.prev, and reads the commits that follow.
// It fails if anything is damaged. If the line of the head is where the head
// says, what is before it is not read, but for the header.
func (r *recovery) resume(at Head) error {
	if r.j.root == nil {
		return errNoHead
	}
	w := r.j.readWitness()
	if err := r.open(); err != nil {
		return err
	}
	start, err := r.f.readRange(0, min(r.info.Size(), headSearched))
	if err != nil {
		return err
	}
	h := scan(start, 0)
	if !h.hasHead || r.checkHeader(r.j.names.journal, h) != nil || h.head.Repairs != at.Repairs || !r.plausible(h.head) {
		return errNoHead
	}
	c, err := readFrom(r.f, at, r.info.Size())
	if err != nil {
		return err
	}
	c.head, c.headLine, c.hasHead = h.head, h.headLine, true
	r.from = at
	older, err := r.merge(c, w)
	found := c.has(at) || older.has(at) && older.has(Head{Seq: h.head.Base, Sum: h.head.prev()})
	if err != nil || !found || r.damaged || older.bad > 0 {
		return errNoHead
	}
	r.needsRepair = len(r.torn) > 0
	return nil
}

// plausible reports whether there is a snapshot that a journal may follow. Only
// its first bytes are read.
func (r *recovery) plausible(h header) bool {
	f, err := r.j.open(r.j.names.snapshot, os.O_RDONLY)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) && h.Base == 0
	}
	defer f.Close()
	data, err := f.readRange(0, headSearched)
	s, ok := sniff(data)
	return err == nil && ok && s.Schema <= r.j.o.Schema && s.Seq >= h.Base
}

// readFrom reads a journal from the line of a head on if it is at its offset,
// else all of it.
func readFrom(j *file, at Head, size int64) (content, error) {
	if 0 < at.Offset && at.Offset < size {
		data, err := j.readRange(at.Offset, size)
		if err != nil {
			return content{}, err
		}
		if c := scan(data, at.Offset); len(c.lines) > 0 && c.lines[0].off == at.Offset && c.lines[0].is(at) {
			return c, nil
		}
	}
	data, err := j.readRange(0, size)
	return scan(data, 0), err
}
