package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Logs that several machines share
//
// With Options.Remote the commits of a log live in a remote log, such as a
// stream. The files here are a copy: each line of J is, byte for byte, the
// commit of the same seq there, so prev chains the remote log too.
//
//   - Update, under the lock: fetch what is new and append it to J, decide,
//     publish, append to J. If another machine published first, fetch and decide
//     anew. A commit counts once the remote log has acknowledged it.
//   - A crash between that acknowledgement and the append to J is healed by the
//     next fetch.
//   - A commit whose publish had no answer is noted in a file. Until another
//     commit was acknowledged each update fetches first, and [Detach] keeps it.
//   - View reads the copy. It asks for newer commits first, for
//     [Remote.Wait] at most, unless a goroutine follows the remote log
//     anyway. Without an answer it warns and reads what is there.
//   - The first commit fetched must be the last one of the copy, or follow it. If
//     the remote log ends earlier, or has another commit there, it is not the one
//     that the copy was made from, or its disk was set back: [ErrDiverged].
//     Nothing is written then, here or there.
//   - If the commits after the copy's last are not there any more, the copy starts
//     from a snapshot; see remotesnapshot.go.
//   - If the copy has lost a commit, it is made anew from the remote log.
//
// The header of J names the remote log. A log opened with another remote, or
// with none, does not write such files: a process that does not know yet that
// the store has joined a team, or left one, cannot make a commit of its own.
// [Detach] takes the name away.
//
// A commit is shared or it is not in this log. To keep private commits in the
// same J was rejected: they would need numbers that no other machine has, and
// the copy could no longer be compared with the stream, nor made anew from it.

// Remote is the log that a [Log] with Options.Remote is a copy of. A place is
// a number that grows with each commit, not always by one; 0 is before the
// first.
type Remote interface {
	// Name identifies the log among those of its server.
	Name() string
	// Wait is how long a view waits for newer commits; 0: it asks for none.
	Wait() time.Duration
	// Fetch calls take with each commit from a place on, in order, and stops at
	// its first error. The error wraps ErrOffline if there is no answer,
	// ErrDiverged if the log ends before that place, and ErrGone if a commit was
	// taken out meanwhile.
	Fetch(ctx context.Context, from uint64, take func(place uint64, commit []byte) error) error
	// Publish adds a commit if the last one is at the given place and the server
	// has been connected since the last Fetch, else it returns ErrConflict.
	// ErrInDoubt means that the commit may have been added. Any other error, such
	// as ErrFull, means that it was not.
	Publish(ctx context.Context, last uint64, commit []byte) (place uint64, err error)
	// Newest returns the mark of the newest snapshot, and after how many commits a new one is
	// worth it; 0: the log keeps every commit and has no snapshots. The mark may be an older one
	// for a while.
	Newest(ctx context.Context) (m Mark, each uint64, err error)
	// Load returns the text of a snapshot. ErrGone means that there is a newer one.
	Load(ctx context.Context, m Mark) ([]byte, error)
	// Save stores a text and makes it the newest snapshot if former still is that, else it returns
	// ErrConflict. It returns the mark with its name.
	Save(ctx context.Context, former, m Mark, text []byte) (Mark, error)
	// Trim takes out of the log what the newest snapshot has: the commits before its own and the
	// older texts. The server writes over the texts.
	Trim(ctx context.Context, newest Mark) error
	// Expunge has the server write over the commits before that of the newest snapshot for which
	// holds is true, all if it is nil, and over the older texts.
	Expunge(ctx context.Context, newest Mark, holds func(commit []byte) bool) error
	// Follow calls changed when there may be newer commits, until ctx ends. changed tells whether
	// they could be fetched.
	Follow(ctx context.Context, changed func() error)
}

// Team gives the remote logs of a project by their names. It is nil for a project
// that is kept on one machine.
type Team func(log string) Remote

// Log returns the remote log with the name, nil without a team.
func (t Team) Log(name string) Remote {
	if t == nil {
		return nil
	}
	return t(name)
}

// Errors of a remote log.
var (
	ErrOffline   = errors.New("offline")
	ErrConflict  = errors.New("another machine was first")
	ErrDiverged  = errors.New("the shared log is not the one that this copy was made from")
	ErrFull      = errors.New("full: the server's disk or a limit of it leaves no room")
	ErrElsewhere = errors.New("the store joined a team or left one")
)

// errUnplaced means that the fetch began after the copy's last commit.
var errUnplaced = errors.New("the place is wrong")

func (o *Options) remoteName() string {
	if o.Remote == nil {
		return ""
	}
	return o.Remote.Name()
}

// checkRemote refuses to write files that belong to another remote log. The file lock is held.
func (d *disk) checkRemote() error {
	if d.j != nil && d.pos.head.Remote != d.o.remoteName() {
		return d.errorf(d.n.journal, ErrElsewhere, "try again; if a team join or team leave broke off, run that again first")
	}
	return nil
}

// errThere ends a fetch: the remote log answers.
var errThere = errors.New("it answers")

// placed tells whether the place of the last commit is known.
func (p position) placed() bool { return p.place != 0 || p.seq == 0 }

// Fetch appends to the copy what is new in the remote log. Without a remote it does nothing.
func (l *Log[S, E]) Fetch(ctx context.Context) error {
	if l.o.Remote == nil {
		return nil
	}
	root, _, err := l.attach(true)
	if err == nil {
		err = l.exclusively(ctx, root, func() error { return l.fetch(ctx) })
	}
	return l.named(err)
}

// fetch is Fetch with the lead and the file lock held, and inflight set.
func (l *Log[S, E]) fetch(ctx context.Context) error {
	if l.lossy() || l.d.j == nil && l.d.pos.seq > 0 {
		if err := l.fetchAnew(ctx); err != nil {
			return err // what is left is better than nothing
		}
	}
	for try := 1; ; try++ {
		from := l.d.pos.place
		if from == 0 {
			from = l.d.readWitness().place
		}
		err := l.fetchFrom(ctx, from)
		if errors.Is(err, errUnplaced) {
			err = l.fetchFrom(ctx, 0) // the witness was that of another copy
		}
		if !errors.Is(err, ErrGone) || try == fetchTries {
			return err
		}
		s, err := l.newestFor(ctx, l.d.pos)
		if err == nil {
			err = l.install(s)
		}
		if err != nil {
			return err
		}
	}
}

// fetchTries is how often a fetch goes on from a snapshot. A newer one may be made meanwhile.
const fetchTries = 8

// fetchAnew empties a copy that has lost commits, once what it starts from is here.
func (l *Log[S, E]) fetchAnew(ctx context.Context) error {
	first := uint64(0)
	err := l.o.Remote.Fetch(ctx, 0, func(_ uint64, commit []byte) error {
		first, _, _ = Chained(commit)
		return errThere
	})
	if !errors.Is(err, errThere) && !errors.Is(err, ErrGone) {
		return err
	}
	m, _, err := l.o.Remote.Newest(ctx)
	if err != nil {
		return err
	}
	var s *remoteSnapshot
	if m.Seq > 0 || first != 1 { // the mark may be an older one, or none
		if s, err = l.newestFor(ctx, position{}); err != nil {
			return err
		}
	}
	if err := l.renew(); err != nil || s == nil {
		return err
	}
	return l.install(s)
}

// fetchedBytes is how much is fetched before it is written.
const fetchedBytes = 4 << 20

// fetchFrom fetches from the place of the copy's last commit or an earlier one. ErrGone means that
// commits after it are not in the remote log any more.
func (l *Log[S, E]) fetchFrom(ctx context.Context, from uint64) error {
	f := fetched{pos: l.d.pos, from: from, joined: l.d.pos.seq == 0}
	err := l.o.Remote.Fetch(ctx, from, func(place uint64, commit []byte) error {
		if err := f.take(place, commit); err != nil || len(f.text) < fetchedBytes {
			return err
		}
		return l.keep(&f)
	})
	if err == nil && !f.joined {
		err = fmt.Errorf("%s: %w: it ends at commit %d, the copy at %d. Was its disk set back? Nothing is written",
			l.o.Remote.Name(), ErrDiverged, f.last, f.pos.seq)
	}
	kept := l.keep(&f)
	switch {
	case kept != nil && (err == nil || errors.Is(err, ErrGone)):
		return kept
	case kept != nil && errors.Is(err, ErrOffline):
		return errors.Join(err, kept)
	}
	return err
}

// fetched is commits that are not in J yet.
type fetched struct {
	pos    position // after them
	from   uint64   // where the fetch began
	joined bool     // the copy's last commit was seen, or the next one
	last   uint64   // the last commit seen
	lines  []line
	text   []byte
}

func (f *fetched) take(place uint64, commit []byte) error {
	ln, ok := parseCommit(line{sum: checksum(commit), body: commit})
	if !ok {
		return fmt.Errorf("%w: what is at place %d is no commit", ErrDiverged, place)
	}
	f.last = ln.seq
	exact := f.from > 0 && f.from == f.pos.place // the copy's last commit was there
	switch {
	case ln.seq < f.pos.seq && !f.joined && !exact:
		return nil
	case ln.seq == f.pos.seq && ln.sum == f.pos.prev:
		f.pos.place, f.joined = place, true
		return nil
	case ln.seq == f.pos.seq+1 && ln.prev == f.pos.prev:
		f.joined = true
	case ln.seq > f.pos.seq && !f.joined && !exact && f.from > 0:
		return errUnplaced
	case ln.seq > f.pos.seq+1:
		return fmt.Errorf("%w: commit %d follows %d", ErrGone, ln.seq, f.pos.seq)
	default:
		return fmt.Errorf("%w: another commit has number %d there. Was its disk set back? Nothing is written", ErrDiverged, ln.seq)
	}
	f.pos.seq, f.pos.prev, f.pos.place = ln.seq, ln.sum, place
	f.lines = append(f.lines, ln)
	f.text = ln.appendTo(f.text)
	return nil
}

// keep appends what was fetched to J and folds it.
func (l *Log[S, E]) keep(f *fetched) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(f.lines) == 0 {
		l.d.pos.place = f.pos.place
		return nil
	}
	r := &recovery{lines: f.lines}
	err := l.d.makeReadyIfNot()
	if err == nil {
		err = l.d.append(f.text, witness{seq: f.lines[0].seq, sum: f.lines[0].sum})
	}
	if err == nil {
		l.ahead = true
		l.state, err = l.fold(l.state, r)
	}
	if err != nil {
		l.loaded = false
		return err
	}
	p := &l.d.pos
	last := f.lines[len(f.lines)-1]
	p.off += int64(len(f.text))
	p.mark, p.sum, p.prev, p.seq, p.place = p.off-last.size(), last.sum, last.sum, last.seq, f.pos.place
	if r.pos.at.After(p.at) {
		p.at = r.pos.at
	}
	l.setState(l.state)
	l.d.writeWitness()
	f.lines, f.text = nil, nil
	return nil
}

func (d *disk) makeReadyIfNot() error {
	if d.ready() {
		return nil
	}
	return d.makeReady()
}

// renew empties a copy that has lost commits, or its journal. What was left of a
// damaged journal was set aside by the repair.
func (l *Log[S, E]) renew() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.d.closeJournal()
	l.head, l.former, l.loaded = Head{}, nil, false
	n := l.d.n
	for _, name := range []string{n.head, n.snapshotPrev, n.snapshotNew, n.fetched, n.journalPrev, n.snapshot, n.journal} {
		if err := removeIfThere(l.d.fs, name); err != nil {
			return err
		}
	}
	if err := l.load(true); err != nil {
		return err
	}
	return l.d.openForWriting()
}

// Detached is what [Detach] found.
type Detached struct {
	InDoubt int   // commits of this machine that the remote log may have or not; the logs have them
	Old     error // why newer commits could not be fetched
}

// Detach makes the copies in some directories ordinary logs. Each fetches first what is new, for
// wait at most. A commit in doubt that is not there then is added to the log: its writer was
// told that it may be kept. No process writes the copies meanwhile, since each sees the header.
func Detach(ctx context.Context, remote func(name string) Remote, wait time.Duration, dirs ...string) (d Detached, err error) {
	for _, dir := range dirs {
		names, _ := fs.Glob(os.DirFS(dir), "*.journal") // the pattern is well-formed
		for _, name := range names {
			if err := d.detach(ctx, remote, wait, dir, strings.TrimSuffix(name, ".journal")); err != nil {
				return d, err
			}
		}
	}
	return d, nil
}

// leaveTimeout is how long Detach waits for a write, which may wait for its answer.
const leaveTimeout = 15 * time.Second

func (d *Detached) detach(ctx context.Context, remote func(name string) Remote, wait time.Duration, dir, stem string) error {
	data, err := os.ReadFile(filepath.Join(dir, stem+".journal"))
	if err != nil {
		return err
	}
	h := scan(data, 0).head
	if _, err := os.Stat(filepath.Join(dir, namesOf(stem).doubt)); err != nil && h.Remote == "" {
		return nil // it is no copy
	}
	o := &Options{Name: stem, Schema: h.Schema, LockTimeout: leaveTimeout}
	if h.Remote != "" {
		o.Remote = remote(h.Remote)
	}
	l, err := Open(dir, blank{}, o)
	if err != nil {
		return err
	}
	var events []json.RawMessage
	n := 0
	root, _, err := l.attach(false)
	if err == nil {
		err = l.exclusively(ctx, root, func() error {
			if h.Remote != "" && d.Old == nil {
				asked, cancel := context.WithTimeout(ctx, wait)
				defer cancel()
				if d.Old = l.fetch(asked); !l.loaded {
					return d.Old // the copy could not be written
				}
			}
			events, n = l.d.readDoubts()
			if l.o.Remote = nil; l.d.ready() {
				return nil
			}
			return l.d.makeReady()
		})
	}
	if err == nil && n > 0 {
		_, err = l.Update(ctx, func(struct{}, time.Time) ([]json.RawMessage, error) { return events, nil })
	}
	if err == nil {
		d.InDoubt += n
		err = l.d.forgetDoubts()
	}
	return errors.Join(err, l.Close())
}

// keepDoubt notes a commit whose publish had no answer.
func (d *disk) keepDoubt(ln line) error {
	text, err := readName(d.fs, d.n.doubt)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return writeName(d.fs, d.n.doubt, ln.appendTo(text))
}

// doubtful tells whether there may be commits in doubt.
func (d *disk) doubtful() bool {
	_, err := d.fs.stat(d.n.doubt)
	return err == nil
}

// readDoubts returns the events of the commits in doubt that may be the next one, and how many
// commits that are. When another commit has their number they are in the log or never will be.
func (d *disk) readDoubts() (events []json.RawMessage, n int) {
	text, _ := readName(d.fs, d.n.doubt) // mostly there is none
	for _, ln := range scan(text, 0).lines {
		var c Commit[json.RawMessage]
		if ln.seq == d.pos.seq+1 && ln.prev == d.pos.prev && DecodeDocument(ln.body, &c) == nil {
			events, n = append(events, c.Events...), n+1
		}
	}
	return events, n
}

func (d *disk) forgetDoubts() error { return removeIfThere(d.fs, d.n.doubt) }

// blank is a machine without a state.
type blank struct{}

func (blank) New() struct{}                                       { return struct{}{} }
func (blank) Fold(s struct{}, _ Commit[json.RawMessage]) struct{} { return s }
func (blank) Clone(s struct{}) struct{}                           { return s }
func (blank) Encode(io.Writer, struct{}, Header) error            { return errors.ErrUnsupported }
func (blank) Decode([]byte) (struct{}, error)                     { return struct{}{}, nil }

// fetchAgain is after how long a log that nobody follows, such as a diary in a
// server, fetches again for a view.
const fetchAgain = time.Second

// fetchForView asks for newer commits, unless somebody does that anyway.
func (l *Log[S, E]) fetchForView(ctx context.Context) {
	wait := l.o.Remote.Wait()
	if wait <= 0 || l.o.LongLived {
		return
	}
	if last := l.asked.Load(); last != 0 && time.Since(time.Unix(0, last)) < fetchAgain {
		return
	}
	defer func() { l.asked.Store(time.Now().UnixNano()) }()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	l.tellFetch(l.Fetch(ctx))
}

// tellFetch warns that the copy may be old. That another process writes the
// copy is no reason: it fetches too.
func (l *Log[S, E]) tellFetch(err error) {
	switch {
	case err == nil || errors.Is(err, ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, ErrLocked):
	case errors.Is(err, ErrOffline) || errors.Is(err, context.DeadlineExceeded):
		l.warn(offlineWarning(l.o.Remote.Name(), err, l.Stats().At))
	default:
		l.warn(Warning{Kind: Diverged, File: l.d.n.journal, Text: err.Error() + "."})
	}
}

// follow keeps the copy of a long-lived log up to date until ctx ends.
func (l *Log[S, E]) follow(ctx context.Context) {
	l.o.Remote.Follow(ctx, func() error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		before := l.seq()
		err := l.Fetch(ctx)
		l.tellFetch(err)
		if l.seq() > before {
			l.noteWrite()
		}
		return err
	})
}

// publish decides one call and publishes what it decides, on the newest state.
// A call that decides nothing has seen the newest state too.
func (b *batch[S, E]) publish(ctx context.Context, c *call[S, E]) error {
	fresh, doubtful, installs := false, b.l.d.doubtful(), b.l.installs
	for try := 1; ; try++ {
		if b.l.installs > installs && context.Cause(ctx) == errLate { // the download took long; nobody else was at fault
			late, cancel := unhurried(ctx)
			defer cancel()
			ctx, cancel = context.WithTimeoutCause(late, b.l.o.LockTimeout, errLate)
			defer cancel()
		}
		installs = b.l.installs
		if try > 1 && context.Cause(ctx) == errLate {
			return b.l.d.errorf(b.l.d.n.lock, ErrLocked, "other machines write to %s all the time; try again", b.l.o.Remote.Name())
		}
		start := time.Now()
		if !fresh && (doubtful || !b.l.d.pos.placed()) {
			if err := b.fetch(ctx); err != nil {
				return err
			}
			fresh = true
		}
		c.err = nil
		if err := b.decide(c); err != nil {
			return err
		}
		if len(b.text) == 0 && (fresh || c.panic != nil) {
			return nil
		}
		b.unlock() // views go on during the publish
		if len(b.text) > 0 {
			place, err := b.l.o.Remote.Publish(ctx, b.l.d.pos.place, b.line.body)
			if err == nil {
				b.l.round = time.Since(start)
				b.pos.place = place
				err := b.write()
				b.unlock()
				if err != nil {
					err = fmt.Errorf("%w: the commit is in %s, but could not be written to the copy: %w", ErrInDoubt, b.l.o.Remote.Name(), err)
					return errors.Join(err, b.l.d.keepDoubt(b.line))
				}
				if doubtful {
					_ = b.l.d.forgetDoubts() // what stays has a number that is taken
				}
				return nil
			}
			b.undo()
			if errors.Is(err, ErrInDoubt) {
				return errors.Join(err, b.l.d.keepDoubt(b.line))
			}
			if !errors.Is(err, ErrConflict) {
				return err
			}
			b.l.conflict = time.Now()
		}
		if err := b.fetch(ctx); err != nil {
			return err
		}
		fresh = true
	}
}

// undo forgets the commit that was decided but not published. It was not folded.
func (b *batch[S, E]) undo() {
	b.text, b.pending, b.pos = nil, nil, b.l.d.pos
}

func (b *batch[S, E]) fetch(ctx context.Context) error {
	err := b.l.fetch(ctx)
	b.pos = b.l.d.pos
	return err
}

// yield lets other machines be first after a commit, when they want to be. A
// writer that has just published knows the newest state and would win again
// against those that must fetch it first: without a rest of about as long as a
// fetch and a publish take, one of 32 writers waited 44 times the median.
// The file lock is held, so that the whole machine rests.
func (b *batch[S, E]) yield(ctx context.Context) {
	if time.Since(b.l.conflict) > contended {
		return
	}
	t := time.NewTimer(b.l.round + rand.N(b.l.round+1))
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// contended is how long after a conflict other machines are believed to be writing.
const contended = time.Second
