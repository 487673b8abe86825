package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// Snapshots of a remote log
//
// A remote log need not keep its first commits. A snapshot of it is one text:
//
//   - a header, a line as in a journal: which log, which commit, its place and checksum;
//   - the trail: the checksum of every commit up to that one, four bytes each;
//   - the document: a snapshot as in the files.
//
// A mark says which snapshot is the newest. To replay a remote log is to load that one and to fold
// the commits since. The commit of the mark stays in the log, so each snapshot is compared with it.
// The state that comes of it has two uses:
//
//   - A copy that has lost commits, or lacks some that are not in the log any more, is rebuilt.
//     Its own last commit must be in the trail, else [ErrDiverged]: the server was set back and
//     others have written since. Nothing of the copy is touched before everything is here.
//   - It is the next snapshot. Then the commits before it, and older snapshots, are taken out. A
//     maker that is killed leaves some that are not needed; the next one takes them out.

// Mark says where a snapshot of a remote log is. The zero mark is none.
type Mark struct {
	Name     string `json:"object"`
	Seq      uint64 `json:"seq"`   // its last commit
	Place    uint64 `json:"place"` // that commit's
	Size     int64  `json:"size"`  // of the text, in bytes
	Revision uint64 `json:"-"`     // of the mark
}

// ErrGone means that something is not in the remote log any more: a newer snapshot has it.
var ErrGone = errors.New("a newer snapshot has taken its place")

// remoteFormat is the version of a snapshot's text.
const remoteFormat = 1

// remoteHeader is the first line of a text.
type remoteHeader struct {
	Snapshot int       `json:"snapshot"`
	Log      string    `json:"log"`
	Schema   int       `json:"schema"`
	Seq      uint64    `json:"seq"`
	Sum      string    `json:"sum"` // checksum of commit Seq
	Place    uint64    `json:"place"`
	At       time.Time `json:"at"` // recorded time of commit Seq
}

// remoteSnapshot is a text that was taken apart.
type remoteSnapshot struct {
	head     remoteHeader
	sum      uint32
	trail    []byte
	document []byte
}

const trailSize = 4 // bytes of a checksum in a trail

// at is the checksum of a commit, which the trail must have.
func (s *remoteSnapshot) at(seq uint64) uint32 {
	return binary.BigEndian.Uint32(s.trail[(seq-1)*trailSize:])
}

func (s *remoteSnapshot) text() ([]byte, error) {
	s.head.Snapshot, s.head.Sum = remoteFormat, hexSum(s.sum)
	body, err := json.Marshal(s.head)
	if err != nil {
		return nil, err
	}
	text := line{sum: checksum(body), body: body}.appendTo(nil)
	return append(append(text, s.trail...), s.document...), nil
}

// parseRemote takes apart the text of a mark.
func parseRemote(name string, m Mark, schema int, text []byte) (*remoteSnapshot, error) {
	damaged := func(what string) error { return fmt.Errorf("%s: %w: snapshot %s: %s", name, ErrCorrupt, m.Name, what) }
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	l, ok := parseLine(first, 0)
	var s remoteSnapshot
	if !ok || json.Unmarshal(l.body, &s.head) != nil {
		return nil, damaged("its first line")
	}
	h := s.head
	if h.Snapshot > remoteFormat || h.Schema > schema {
		return nil, fmt.Errorf("%s: %w: snapshot %s has format %d and schema %d, this program knows %d and %d; install a newer one",
			name, ErrNewer, m.Name, h.Snapshot, h.Schema, remoteFormat, schema)
	}
	s.sum, ok = parseSum([]byte(h.Sum))
	if !ok || h.Log != name || h.Seq == 0 || h.Seq != m.Seq || h.Place != m.Place {
		return nil, damaged("it is another one")
	}
	if uint64(len(rest))/trailSize < h.Seq {
		return nil, damaged("it is cut")
	}
	s.trail, s.document = rest[:h.Seq*trailSize:h.Seq*trailSize], rest[h.Seq*trailSize:]
	d, ours := sniff(s.document)
	at := checksumAt(s.document)
	switch {
	case s.at(h.Seq) != s.sum:
		return nil, damaged("its checksums")
	case ours && d.Schema > schema:
		return nil, fmt.Errorf("%s: %w: snapshot %s has schema %d, this program knows %d; install a newer one", name, ErrNewer, m.Name, d.Schema, schema)
	case !ours || d.Seq != h.Seq || at < 0 || sumWithout(s.document, at) != string(s.document[at:at+sumLen]):
		return nil, damaged("its document")
	}
	return &s, nil
}

// fetchSnapshot has the copy start from the newest snapshot. ErrGone means that there may be
// another one soon.
func (r *replica[S, E]) fetchSnapshot(ctx context.Context) error {
	ctx, cancel := unhurried(ctx)
	defer cancel()
	m, _, err := r.remote.Newest(ctx)
	if err != nil {
		return err
	}
	p := r.start()
	if m.Seq <= p.seq {
		return &missingError{fmt.Errorf("%s: %w: commits after %d are not there, nor in a snapshot. Nothing is written", r.remote.Name(), ErrDiverged, p.seq)}
	}
	s, err := r.download(ctx, m, p)
	if err != nil {
		return err
	}
	return r.install(s)
}

// missingError is ErrGone too, without its words: the next try may find the snapshot.
type missingError struct{ error }

func (e *missingError) Unwrap() error        { return e.error }
func (e *missingError) Is(target error) bool { return target == ErrGone }

// unhurried is a context that does not end because a lock was waited for: a download that began
// under the lock would begin anew each time.
func unhurried(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		if cause := context.Cause(parent); cause != errLate {
			cancel(cause)
		}
	})
	return ctx, func() { stop(); cancel(nil) }
}

// download loads a snapshot and compares it with the copy and with the remote log.
func (r *replica[S, E]) download(ctx context.Context, m Mark, p position) (*remoteSnapshot, error) {
	name := r.remote.Name()
	text, err := r.remote.Load(ctx, m)
	if err != nil {
		return nil, err
	}
	s, err := parseRemote(name, m, r.l.o.Schema, text)
	if err != nil {
		return nil, err
	}
	if p.seq > 0 && s.at(p.seq) != p.prev {
		return nil, fmt.Errorf("%s: %w: another commit has number %d there. Was its disk set back? Nothing is written", name, ErrDiverged, p.seq)
	}
	err = r.remote.Fetch(ctx, m.Place, func(place uint64, commit []byte) error {
		ln, ok := parseCommit(line{sum: checksum(commit), body: commit})
		switch {
		case place > m.Place:
			return ErrGone
		case !ok || ln.seq != m.Seq || ln.sum != s.sum:
			return fmt.Errorf("%s: %w: it does not go on from its snapshot %s. Was its disk set back? Nothing is written", name, ErrDiverged, m.Name)
		}
		return errThere
	})
	if err == nil {
		err = ErrGone
	}
	if !errors.Is(err, errThere) {
		return nil, err
	}
	return s, nil
}

// install makes a snapshot the copy. The lead and the file lock are held.
//
//	1  S.fetched := the document, fsync it
//	2  J.new := header with base N and no commits, fsync
//	3  J.prev := link to J; fsync the directory
//	4  rename J.new to J; fsync the directory
//	5  rename S.fetched to S; fsync the directory
//	6  S.prev := a second copy of S; remove J.prev
//
// J is switched before S, unlike in a compaction: the old J does not reach N, and nothing but the
// header of the new one has the checksum of commit N. Until step 5 the state is S with J.prev, the
// copy as it was, and a repair makes J of that. A name of its own for the document keeps a reader
// that finds no S from taking it for one that J goes on from. Another process may write S.new.
func (r *replica[S, E]) install(s *remoteSnapshot) error {
	state, err := r.l.mem.m.Decode(s.document)
	if err != nil {
		return fmt.Errorf("%s: %w: its snapshot is intact but not understood: %w", r.remote.Name(), ErrCorrupt, err)
	}
	l := r.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := r.emptyIfDamaged(); err != nil {
		l.mem.loaded = false
		return err
	}
	if err := l.j.replace(s); err != nil {
		l.mem.loaded = false // the files are somewhere between
		return err
	}
	l.mem.started, l.mem.torn, l.mem.lost, l.j.needsRepair = false, 0, nil, false
	l.mem.set(state)
	if err := l.j.secondCopy(l.j.n.fetched, s.document); err != nil {
		l.o.Logger.Warn("the snapshot has no second copy", "dir", l.j.path, "error", err)
	}
	return nil
}

// replace is steps 1 to 5.
func (j *journalFile) replace(s *remoteSnapshot) error {
	if err := j.makeReady(); err != nil { // J.prev must be there to say what the copy was
		return err
	}
	if err := j.write(j.n.fetched, s.document); err != nil {
		return err
	}
	h := j.pos.head
	h.Base, h.Prev, h.At = s.head.Seq, hexSum(s.sum), s.head.At
	p, err := j.writeNew(h, nil)
	if err != nil {
		return err
	}
	p.at, p.place = s.head.At, s.head.Place
	if err := j.keepPrev(j.n.journal, j.n.journalPrev); err != nil {
		return err
	}
	if err := j.sync(); err != nil { // J.prev must be there before J is another one
		return err
	}
	if err := j.switchToNew(p); err != nil {
		return err
	}
	if err := j.rename(j.n.fetched, j.n.snapshot); err != nil {
		return err
	}
	j.answered()
	return j.sync()
}

// compacted is S, after a compaction, and the header of J, which begins there.
func (r *replica[S, E]) compacted(ctx context.Context) (h header, document []byte, err error) {
	c, j := &r.l.compaction, &r.l.j
	err = c.alone(ctx, func(at files) error {
		if err := c.run(ctx, at); err != nil {
			return err
		}
		return c.exclusively(ctx, at, func() error {
			if r.l.mem.lossy() {
				return fmt.Errorf("%s: the copy has lost commits", j.path)
			}
			s, err := j.readSnapshot(j.n.snapshot)
			if err == nil && s != nil && s.good && s.head.Seq == j.pos.head.Base {
				h, document = j.pos.head, s.data
			}
			return err
		})
	})
	if err == nil && document == nil {
		err = fmt.Errorf("%s: there is no snapshot", j.path)
	}
	return h, document, err
}

// share makes the state of the copy a snapshot of the remote log. It returns the newest mark, which
// is the former one if that has all that the copy has. ErrConflict: another machine was first.
func (r *replica[S, E]) share(ctx context.Context, former Mark) (m Mark, err error) {
	h, document, err := r.compacted(ctx)
	if err != nil || h.Base <= former.Seq {
		return former, err
	}
	d, _ := sniff(document)
	s := &remoteSnapshot{
		head: remoteHeader{Log: r.remote.Name(), Schema: d.Schema, Seq: h.Base, At: h.At},
		sum:  h.prev(), document: document,
	}
	if former.Seq > 0 {
		text, err := r.remote.Load(ctx, former)
		if errors.Is(err, ErrGone) {
			return former, ErrConflict
		}
		if err != nil {
			return former, err
		}
		old, err := parseRemote(r.remote.Name(), former, math.MaxInt, text)
		if err != nil {
			return former, err
		}
		s.trail = old.trail
	}
	if err := r.extend(ctx, s, former); err != nil {
		if now, _, failed := r.remote.Newest(ctx); failed == nil && now.Revision != former.Revision {
			return former, ErrConflict
		}
		return former, err
	}
	text, err := s.text()
	if err != nil {
		return former, err
	}
	return r.remote.Save(ctx, former, Mark{Seq: s.head.Seq, Place: s.head.Place, Size: int64(len(text))}, text)
}

// extend adds to the trail the commits after the former snapshot, and finds the place.
func (r *replica[S, E]) extend(ctx context.Context, s *remoteSnapshot, former Mark) error {
	last, sum := former.Seq, uint32(0)
	if last > 0 {
		sum = s.at(last)
	}
	err := r.remote.Fetch(ctx, former.Place, func(place uint64, commit []byte) error {
		ln, ok := parseCommit(line{sum: checksum(commit), body: commit})
		switch {
		case ok && ln.seq == last && ln.sum == sum && place == former.Place:
		case ok && ln.seq == last+1 && ln.prev == sum:
			last, sum = ln.seq, ln.sum
			s.trail = binary.BigEndian.AppendUint32(s.trail, sum)
		default:
			return fmt.Errorf("%s: %w: what is at place %d does not follow commit %d", r.remote.Name(), ErrDiverged, place, last)
		}
		if last < s.head.Seq {
			return nil
		}
		if s.head.Place = place; sum != s.sum {
			return fmt.Errorf("%s: %w: another commit has number %d there", r.remote.Name(), ErrDiverged, last)
		}
		return errThere
	})
	if err == nil {
		err = fmt.Errorf("%s: %w: it ends at commit %d, the copy at %d", r.remote.Name(), ErrDiverged, last, s.head.Seq)
	}
	if errors.Is(err, errThere) {
		return nil
	}
	return err
}

// expungeTries is how often a snapshot is made for [Log.Expunge] if others make one too.
const expungeTries = 8

// Expunge takes the commits for which holds is true out of the remote log, and off the disk of its
// server. What they did is in a new snapshot. Its commit, and those after it, stay. A nil holds is
// for all. The other commits stay too: what was taken out cannot be written over any more. Expunge
// returns false if the remote log keeps every commit.
func (l *Log[S, E]) Expunge(ctx context.Context, holds func(commit []byte) bool) (done bool, err error) {
	r := l.replica
	if r == nil {
		return false, nil
	}
	for try := range expungeTries {
		select {
		case <-time.After(time.Duration(try) * fetchPause):
		case <-ctx.Done():
			return false, l.named(context.Cause(ctx))
		}
		former, each, err := r.remote.Newest(ctx)
		if err != nil || each == 0 {
			return false, l.named(err)
		}
		m, err := r.share(ctx, former)
		if errors.Is(err, ErrConflict) {
			continue
		}
		if err != nil {
			return false, l.named(err)
		}
		if err = r.remote.Expunge(ctx, m, holds); errors.Is(err, ErrConflict) {
			continue
		}
		return err == nil, l.named(err)
	}
	return false, l.named(fmt.Errorf("%s: %w", r.remote.Name(), ErrConflict))
}

// sharing is when the background makes the next snapshot of the remote log.
type sharing struct {
	next  uint64    // not before this commit
	again time.Time // nor before then: it failed
}

// bytesOfCommit is about what a commit takes in a remote log. Its commits may take as much room
// as its snapshot, and then a new one is made.
const bytesOfCommit = 512

// shareIf makes a snapshot of the remote log when there are many commits since the last.
func (r *replica[S, E]) shareIf(ctx context.Context, at *sharing) {
	seq := r.l.seq()
	if seq == 0 || seq < at.next || time.Now().Before(at.again) {
		return
	}
	m, each, err := r.remote.Newest(ctx)
	if err == nil && each == 0 {
		at.next = math.MaxUint64
		return
	}
	next := func() uint64 { return m.Seq + max(each, uint64(m.Size)/bytesOfCommit) }
	if err == nil && seq >= next() {
		if m, err = r.share(ctx, m); err == nil {
			err = r.remote.Trim(ctx, m)
		}
	}
	switch {
	case err == nil:
		at.next = next()
		return
	case ctx.Err() != nil || errors.Is(err, ErrConflict):
		return
	case errors.Is(err, ErrDiverged):
		r.l.warn(Warning{Kind: Diverged, File: r.l.j.n.snapshot, Text: fmt.Sprintf("no snapshot was made for the team: %v.", err)})
	default:
		r.l.o.Logger.Warn("snapshot for the team", "dir", r.l.j.path, "error", err)
	}
	at.again = time.Now().Add(retryAfter)
}

// Chained returns the number of a commit and the checksum of the one before it. ok is false for
// what is no commit.
func Chained(commit []byte) (seq uint64, prev uint32, ok bool) {
	ln, ok := parseCommit(line{body: commit})
	return ln.seq, ln.prev, ok
}
