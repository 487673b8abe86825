package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
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
	Name  string
	Seq   uint64 // its last commit
	Place uint64 // that commit's
	Size  int64  // of the text, in bytes
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

// image is the state of a remote log after its last commit.
type image[S any] struct {
	chain
	state S
	trail []byte

	from     Mark // the snapshot that it was replayed from
	document []byte
	start    position // of the snapshot's commit
}

const trailSize = 4 // bytes of a checksum in a trail

// checkOwn compares the image with the last commit of a copy, if it has come that far.
func (i *image[S]) checkOwn(own position) error {
	if own.seq == 0 || own.seq > i.pos.seq || binary.BigEndian.Uint32(i.trail[(own.seq-1)*trailSize:]) == own.prev {
		return nil
	}
	return divergedAt(own.seq)
}

// replay makes the image of the remote log. ErrGone means that there may be a newer snapshot soon.
func (r *replica[S, E]) replay(ctx context.Context) (*image[S], error) {
	r.l.mu.RLock()
	had, own := r.l.j.pos.seq, r.l.j.pos
	if r.damaged() {
		own = position{} // rebuilt from whatever is there: what is left is better than nothing
	}
	r.l.mu.RUnlock()
	m, _, err := r.remote.Newest(ctx)
	if err != nil {
		return nil, err
	}
	i := &image[S]{chain: chainFrom(position{}), state: r.l.mem.m.New()}
	if m.Seq > 0 {
		text, err := r.remote.Load(ctx, m)
		if err != nil {
			return nil, err
		}
		if i, err = r.parse(m, text); err != nil {
			return nil, err
		}
	}
	if err := i.checkOwn(own); err != nil {
		return nil, err
	}
	err = r.remote.Fetch(ctx, m.Place, func(place uint64, commit []byte) error {
		ln, known, err := i.next(place, commit)
		if err != nil || known {
			return err
		}
		i.trail = binary.BigEndian.AppendUint32(i.trail, ln.sum)
		one := &recovery{lines: []line{ln}}
		one.pos.at = i.pos.at
		if i.state, err = r.l.mem.fold(i.state, one); err != nil {
			return err
		}
		i.pos.at = one.pos.at
		return i.checkOwn(own)
	})
	switch {
	case err != nil:
		return nil, err
	case !i.joined:
		return nil, ErrGone
	case i.pos.seq < own.seq || i.pos.seq == 0 && had > 0:
		return nil, r.endsEarly(i.pos.seq)
	}
	return i, nil
}

// parse takes apart the text of a snapshot.
func (r *replica[S, E]) parse(m Mark, text []byte) (*image[S], error) {
	name, schema := r.remote.Name(), r.l.o.Schema
	damaged := func(what string) error { return fmt.Errorf("%s: %w: snapshot %s: %s", name, ErrCorrupt, m.Name, what) }
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	l, ok := parseLine(first, 0)
	var h remoteHeader
	if !ok || json.Unmarshal(l.body, &h) != nil {
		return nil, damaged("its first line")
	}
	if h.Snapshot > remoteFormat || h.Schema > schema {
		return nil, fmt.Errorf("%s: %w: snapshot %s has format %d and schema %d, this program knows %d and %d; install a newer one",
			name, ErrNewer, m.Name, h.Snapshot, h.Schema, remoteFormat, schema)
	}
	sum, ok := parseSum([]byte(h.Sum))
	if !ok || h.Log != name || h.Seq == 0 || h.Seq != m.Seq || h.Place != m.Place {
		return nil, damaged("it is another one")
	}
	if uint64(len(rest))/trailSize < h.Seq {
		return nil, damaged("it is cut")
	}
	own := position{seq: h.Seq, prev: sum, at: h.At, place: h.Place, placed: h.Seq}
	i := &image[S]{chain: chainFrom(own), trail: rest[: h.Seq*trailSize : h.Seq*trailSize], from: m, document: rest[h.Seq*trailSize:], start: own}
	if i.checkOwn(own) != nil {
		return nil, damaged("its checksums")
	}
	if d, ours := sniff(i.document); !ours || d.Seq != h.Seq || !hasChecksum(i.document) {
		return nil, damaged("its document")
	}
	if redact := r.l.o.redact(); redact != nil {
		i.document = withChecksum(RedactJSON(i.document, redact))
	}
	var err error
	if i.state, err = r.l.mem.decode(i.document, true); err != nil {
		return nil, fmt.Errorf("%s: %w: its snapshot is intact but not understood: %w", name, ErrCorrupt, err)
	}
	return i, nil
}

// encode returns the image as a snapshot in the files. It takes the place of the commits, of which any
// member may have written some. So it is read again before: the error wraps errUnreadable if it cannot be.
func (r *replica[S, E]) encode(i *image[S], generation uint64) ([]byte, error) {
	document, err := encodeSnapshot(r.l.mem.m, i.state, Header{Schema: r.l.o.Schema, Seq: i.pos.seq, Generation: generation, At: i.pos.at.UTC()})
	if err != nil {
		return nil, err
	}
	if _, err := r.l.mem.decode(document, true); err != nil {
		return nil, fmt.Errorf("%s: %w: as of commit %d: %w", r.remote.Name(), errUnreadable, i.pos.seq, err)
	}
	return document, nil
}

var errUnreadable = errors.New("what its commits make cannot be read once it is a snapshot, and took the place of nothing")

// renew rebuilds the copy. The lead and the file lock are held.
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
// copy as it was, and a repair makes J of that. The document has a separate name, so that a reader
// that finds no S does not take it for the S of J. Another process may write S.new.
//
// If the copy has lost commits, S.prev is removed, and S is switched before J, whose header says
// that commits are lost. Otherwise the new J could make an S that lacks them look complete.
func (r *replica[S, E]) renew(parent context.Context) error {
	ctx, cancel := WithoutLockTimeout(parent)
	defer cancel()
	i, err := r.replay(ctx)
	if err != nil && errors.Is(context.Cause(parent), context.DeadlineExceeded) { // ctx only says that it was canceled
		return fmt.Errorf("%s: %w: %w", r.remote.Name(), ErrOffline, context.DeadlineExceeded)
	}
	if err != nil {
		return err
	}
	l, at := r.l, i.pos
	document, err := r.encode(i, l.j.pos.head.Generation+1)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, errUnreadable) { // [Detach] knows no states
		if i.document == nil {
			return r.refill(ctx)
		}
		document, at = i.document, i.start
		i.state, err = l.mem.decode(document, true) // it has the commits since that snapshot too
	}
	if err == nil {
		err = r.install(document, at, i.state)
	}
	if err != nil || at.seq == i.pos.seq {
		return err
	}
	return r.fetchLines(ctx)
}

// refill rebuilds the copy from all the commits of a log that has no snapshot.
//
//	1  J := header that says that commits are lost, and all commits
//	2  remove S, S.prev and what else there is of former states
//	3  J := the same with a header that says that none is lost
//
// Until step 3 the copy counts as damaged: an S that lacks commits may still be there.
func (r *replica[S, E]) refill(ctx context.Context) error {
	c := chainFrom(position{})
	all := &recovery{}
	err := r.remote.Fetch(ctx, 0, func(place uint64, commit []byte) error {
		ln, known, err := c.next(place, commit)
		if err == nil && !known {
			all.lines = append(all.lines, r.l.o.withoutSecrets(ln))
		}
		return err
	})
	if err != nil {
		return err
	}
	l, j := r.l, &r.l.j
	l.mu.Lock()
	defer l.mu.Unlock()
	state, err := l.mem.fold(l.mem.m.New(), all)
	if err != nil {
		return err
	}
	c.pos.at = all.pos.at
	l.mem.loaded = false // until the files are in order
	h := header{Generation: j.pos.head.Generation, Prev: hexSum(0), Repairs: j.pos.head.Repairs + 1, Remote: j.o.remoteName()}
	if err := j.rewrite(h, all.lines, c.pos); err != nil {
		return err
	}
	for _, name := range []string{j.names.snapshotPrev, j.names.snapshotNew, j.names.fetched, j.names.journalPrev, j.names.snapshot} {
		if err := j.remove(name); err != nil {
			return err
		}
	}
	if err := j.sync(); err != nil {
		return err
	}
	h.Generation, h.Repairs = j.pos.head.Generation, 0
	if err := j.rewrite(h, all.lines, c.pos); err != nil {
		return err
	}
	r.whole(state)
	j.answered()
	return nil
}

// whole makes the state that of a copy that was rebuilt.
func (r *replica[S, E]) whole(state S) {
	mem := &r.l.mem
	mem.started, mem.torn, mem.lost, mem.former, r.l.j.needsRepair = false, 0, nil, nil, false
	mem.set(state)
}

func (r *replica[S, E]) install(document []byte, at position, state S) error {
	l := r.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.j.replace(document, at, r.damaged()); err != nil {
		l.mem.loaded = false // the files are somewhere between
		return err
	}
	r.whole(state)
	if err := l.j.secondCopy(l.j.names.fetched, document); err != nil {
		l.o.Logger.Warn("the snapshot has no second copy", "dir", l.j.path, "error", err)
	}
	return nil
}

// WithoutLockTimeout returns a context that ends with parent, unless parent ends because
// [Options.LockTimeout] has passed. A fetch that takes longer would otherwise start over each time.
func WithoutLockTimeout(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		if cause := context.Cause(parent); cause != errLockTimeout {
			cancel(cause)
		}
	})
	return ctx, func() { stop(); cancel(nil) }
}

// replace is steps 1 to 5.
func (j *journalFile) replace(document []byte, at position, damaged bool) error {
	if !damaged { // J.prev must be there to say what the copy was
		if err := j.makeReady(); err != nil {
			return err
		}
	}
	if err := j.write(j.names.fetched, document); err != nil {
		return err
	}
	h := j.pos.head
	h.Base, h.Prev, h.At, h.Repairs, h.Remote = at.seq, hexSum(at.prev), at.at, 0, j.o.remoteName()
	p, err := j.writeNew(h, nil, at)
	if err != nil {
		return err
	}
	if err := j.keepPrev(j.names.journal, j.names.journalPrev); err != nil {
		return err
	}
	if damaged {
		err = j.remove(j.names.snapshotPrev)
	}
	if err == nil {
		err = j.sync() // J.prev must be there before J is another one
	}
	if err != nil {
		return err
	}
	switchSnapshot := func() error {
		if err := j.rename(j.names.fetched, j.names.snapshot); err != nil {
			return err
		}
		return j.sync()
	}
	if damaged {
		err = switchSnapshot()
	}
	if err == nil {
		err = j.switchToNew(p)
	}
	if err == nil && !damaged {
		err = switchSnapshot()
	}
	if err == nil {
		j.answered()
	}
	return err
}

// share makes a snapshot of the remote log. It returns the newest mark, which is the one before if
// there were no commits since.
func (r *replica[S, E]) share(ctx context.Context) (Mark, error) {
	i, err := r.replay(ctx)
	if err != nil {
		return Mark{}, err
	}
	if i.pos.seq == i.from.Seq {
		return i.from, nil
	}
	h := remoteHeader{
		Snapshot: remoteFormat, Log: r.remote.Name(), Schema: r.l.o.Schema,
		Seq: i.pos.seq, Sum: hexSum(i.pos.prev), Place: i.pos.place, At: i.pos.at,
	}
	document, err := r.encode(i, 0)
	if err != nil {
		return Mark{}, err
	}
	text := append(jsonLine(h).appendTo(nil), i.trail...)
	text = append(text, document...)
	return r.remote.Save(ctx, Mark{Seq: h.Seq, Place: h.Place, Size: int64(len(text))}, text)
}

// expungeTries is how often a snapshot is made for [Log.Expunge] if others make one too.
const expungeTries = 8

// Expunge removes the commits for which holds is true from the remote log, if there is one, and
// from the disk of its server. A nil holds means all. A new snapshot has their effect. Its commit
// and those after it stay. The other commits stay too, because only what is still in the log can
// be written over later.
func (l *Log[S, E]) Expunge(ctx context.Context, holds func(commit []byte) bool) error {
	r := l.replica
	if r == nil {
		return nil
	}
	if holds == nil {
		holds = func([]byte) bool { return true }
	}
	var err error
	for try := range expungeTries {
		if err := pause(ctx, time.Duration(try)*fetchPause); err != nil {
			return l.named(err)
		}
		var m Mark
		if m, err = r.share(ctx); err == nil {
			err = r.remote.Trim(ctx, m, holds)
		}
		if !errors.Is(err, ErrConflict) && !errors.Is(err, ErrGone) {
			break
		}
	}
	return l.named(err)
}

// sharing is when the background makes the next snapshot of the remote log.
type sharing struct {
	next  uint64    // not before this commit
	again time.Time // nor before then: it failed
}

// bytesOfCommit is about the size of a commit in a remote log. A new snapshot is made when the
// commits since the last one are as large as that one.
const bytesOfCommit = 512

// shareIf makes a snapshot of the remote log when there are many commits since the last.
func (r *replica[S, E]) shareIf(ctx context.Context, at *sharing) {
	seq := r.l.seq()
	if seq == 0 || seq < at.next || time.Now().Before(at.again) {
		return
	}
	m, each, err := r.remote.Newest(ctx)
	next := func() uint64 { return m.Seq + max(each, uint64(m.Size)/bytesOfCommit) }
	if err == nil && seq >= next() {
		if m, err = r.share(ctx); err == nil {
			err = r.remote.Trim(ctx, m, nil)
		}
	}
	switch {
	case err == nil:
		at.next = next()
		return
	case ctx.Err() != nil:
		return
	case errors.Is(err, ErrConflict) || errors.Is(err, ErrGone): // another machine makes one
	case errors.Is(err, ErrDiverged):
		r.l.warn(Warning{Kind: Diverged, File: r.l.j.names.snapshot, Text: fmt.Sprintf("no snapshot was made for the team: %v.", err)})
	default:
		r.l.o.Logger.Warn("snapshot for the team", "dir", r.l.j.path, "error", err)
	}
	at.again = time.Now().Add(retryAfter)
}

// SeqOf returns the number of a commit; 0 for what is none.
func SeqOf(commit []byte) uint64 {
	ln, _ := parseCommit(line{body: commit})
	return ln.seq
}
