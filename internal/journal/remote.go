package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
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
//   - View reads the copy. It fetches newer commits first, for
//     [Remote.Wait] at most, unless a goroutine follows the remote log
//     anyway. Without an answer it warns and reads what is there.
//   - The commits fetched must contain the last one of the copy, or follow it. If
//     the remote log ends earlier, or has another commit there, it is not the one
//     that the copy was made from, or its disk was set back: [ErrDiverged].
//     Nothing is written then, here or there.
//   - If the copy has lost a commit, or the commits after its last are not there any
//     more, it is rebuilt; see remotesnapshot.go.
//
// The header of J names the remote log. A log opened with another remote, or
// with none, does not write such files: a process that does not know yet that
// the store has joined a team, or left one, cannot make a commit of its own.
// [Detach] takes the name away.
//
// A commit is shared or it is not in this log. To keep private commits in the
// same J was rejected: they would need numbers that no other machine has, and
// the copy could no longer be compared with the stream, nor rebuilt from it.

// Remote is the log that a [Log] with Options.Remote is a copy of. A place is
// a number that grows with each commit, not always by one; 0 is before the
// first.
type Remote interface {
	// Name identifies the log among those of its server.
	Name() string
	// Wait is how long a view waits for newer commits; 0: it fetches none.
	Wait() time.Duration
	// Fetch calls take with each commit from a place on, in order, and stops at
	// its first error. The error wraps ErrOffline if there is no answer, and
	// ErrDiverged if the log ends before that place. It wraps ErrGone if a commit
	// was removed meanwhile.
	Fetch(ctx context.Context, from uint64, take func(place uint64, commit []byte) error) error
	// Publish adds a commit if the last one is at the given place and the connection
	// has held since the last Fetch. Else it returns ErrConflict.
	// ErrInDoubt means that the commit may have been added. Any other error, such
	// as ErrFull, means that it was not.
	Publish(ctx context.Context, last uint64, commit []byte) (place uint64, err error)
	// Newest returns the mark of the newest snapshot, and after how many commits a new one is
	// worth it. The mark may be an older one for a while.
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
	// Follow calls changed when there may be newer commits, until ctx ends. changed reports whether
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

func (o *Options) remoteName() string {
	if o.Remote == nil {
		return ""
	}
	return o.Remote.Name()
}

// checkRemote refuses to write files that belong to another remote log. The file lock is held.
func (j *journalFile) checkRemote() error {
	if j.f != nil && j.pos.head.Remote != j.o.remoteName() {
		return j.errorf(j.n.journal, ErrElsewhere, "try again; if a team join or team leave broke off, run that again first")
	}
	return nil
}

// errThere ends a fetch: the remote log answers.
var errThere = errors.New("it answers")

// placed reports whether the place of the last commit is known.
func (p position) placed() bool { return p.place != 0 || p.seq == 0 }

// replica is what makes a log a copy of a remote one.
type replica[S, E any] struct {
	l      *Log[S, E]
	remote Remote

	viewed   atomic.Int64  // when a view last fetched, in Unix nanoseconds
	conflict time.Time     // when another machine was last first
	round    time.Duration // how long the last publish took
}

// Fetch appends to the copy what is new in the remote log. Without a remote it does nothing.
func (l *Log[S, E]) Fetch(ctx context.Context) error {
	if l.replica == nil {
		return nil
	}
	return l.named(l.exclusively(ctx, func() error { return l.replica.fetch(ctx) }))
}

// fetch is Fetch with the lead and the file lock held, and inflight set. A copy that cannot go on
// with the next commits is rebuilt. A newer snapshot may be made meanwhile, and in a cluster a
// server may for a while know an older one. So it is tried again after a pause, doubled each time.
func (r *replica[S, E]) fetch(ctx context.Context) error {
	for try, pause := 1, fetchPause; ; try, pause = try+1, 2*pause {
		err := r.fetchLines(ctx)
		if errors.Is(err, ErrGone) {
			err = r.fetchSnapshot(ctx)
			if err == nil {
				continue
			}
		}
		if !errors.Is(err, ErrGone) || try >= fetchTries {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: %w", r.remote.Name(), ErrOffline, context.Cause(ctx))
		}
	}
}

const (
	fetchTries = 8
	fetchPause = 10 * time.Millisecond
)

// start is where a fetch begins: after the last commit of the copy, or with nothing if the copy has
// lost commits. Such a copy is emptied when something else is here: what is left is better than nothing.
func (r *replica[S, E]) start() position {
	if r.damaged() {
		return position{}
	}
	return r.l.j.pos
}

func (r *replica[S, E]) damaged() bool {
	return r.l.mem.lossy() || r.l.j.f == nil && r.l.j.pos.seq > 0
}

// fetchedBytes is how much is fetched before it is written.
const fetchedBytes = 4 << 20

// fetchLines fetches the commits after the copy's last one. ErrGone means that some of them are not
// there any more.
func (r *replica[S, E]) fetchLines(ctx context.Context) error {
	f := fetched{pos: r.start()}
	f.from, f.joined = f.pos.place, f.pos.seq == 0
	var kept error
	err := r.remote.Fetch(ctx, f.from, func(place uint64, commit []byte) error {
		if err := f.take(place, commit); err != nil || f.size < fetchedBytes {
			return err
		}
		kept = r.keep(&f)
		return kept
	})
	if has := r.l.j.pos.seq; err == nil && (!f.joined || f.last == 0 && has > 0) {
		err = fmt.Errorf("%s: %w: it ends at commit %d, the copy at %d. Was its disk set back? Nothing is written",
			r.remote.Name(), ErrDiverged, f.last, has)
	}
	if kept == nil { // else its lines may be in J already
		kept = r.keep(&f)
	}
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
	from   uint64   // the place where the fetch began
	joined bool     // the copy's last commit was seen, or the next one
	last   uint64   // the last commit seen
	lines  []line
	size   int // of their text
}

func (f *fetched) take(place uint64, commit []byte) error {
	ln, ok := parseCommit(line{sum: checksum(commit), body: commit})
	if !ok {
		return fmt.Errorf("%w: what is at place %d is no commit", ErrDiverged, place)
	}
	f.last = ln.seq
	switch {
	case ln.seq < f.pos.seq && !f.joined && f.from == 0:
		return nil
	case ln.seq == f.pos.seq && ln.sum == f.pos.prev:
		f.pos.place, f.joined = place, true
		return nil
	case ln.seq == f.pos.seq+1 && ln.prev == f.pos.prev:
		f.joined = true
	case ln.seq > f.pos.seq+1:
		return fmt.Errorf("%w: commit %d follows %d", ErrGone, ln.seq, f.pos.seq)
	default:
		return fmt.Errorf("%w: another commit has number %d there. Was its disk set back? Nothing is written", ErrDiverged, ln.seq)
	}
	f.pos.pass(ln)
	f.pos.place = place
	f.lines = append(f.lines, ln)
	f.size += len(commit)
	return nil
}

// keep appends what was fetched to J and folds it.
func (r *replica[S, E]) keep(f *fetched) error {
	l, j := r.l, &r.l.j
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(f.lines) == 0 {
		if j.pos.place != f.pos.place {
			j.pos.place = f.pos.place
			j.answered()
		}
		return nil
	}
	commits := &recovery{lines: f.lines}
	err := r.emptyIfDamaged()
	if err == nil {
		err = j.makeReady()
	}
	if err == nil {
		err = j.append(f.lines)
	}
	if err == nil {
		l.mem.ahead = true
		l.mem.state, err = l.mem.fold(l.mem.state, commits)
	}
	if err != nil {
		l.mem.loaded = false
		return err
	}
	j.pos.place = f.pos.place
	if commits.pos.at.After(j.pos.at) {
		j.pos.at = commits.pos.at
	}
	l.mem.set(l.mem.state)
	j.answered()
	f.lines, f.size = nil, 0
	return nil
}

// emptyIfDamaged removes a copy that has lost commits. What was left of a damaged journal was set
// aside by the repair. mu is held.
func (r *replica[S, E]) emptyIfDamaged() error {
	if !r.damaged() {
		return nil
	}
	l := r.l
	l.j.close()
	l.mem.head, l.mem.former, l.mem.loaded = Head{}, nil, false
	n := l.j.n
	for _, name := range []string{n.head, n.snapshotPrev, n.snapshotNew, n.fetched, n.journalPrev, n.snapshot, n.journal} {
		if err := l.j.remove(name); err != nil {
			return err
		}
	}
	if err := l.mem.load(true); err != nil {
		return err
	}
	return l.j.openForWriting()
}

// fetchAgain is after how long a log that nobody follows, such as a diary in a
// server, fetches again for a view.
const fetchAgain = time.Second

// fetchForView fetches newer commits, unless somebody does that anyway.
func (r *replica[S, E]) fetchForView(ctx context.Context) {
	wait := r.remote.Wait()
	if wait <= 0 || r.l.o.LongLived {
		return
	}
	if last := r.viewed.Load(); last != 0 && time.Since(time.Unix(0, last)) < fetchAgain {
		return
	}
	defer func() { r.viewed.Store(time.Now().UnixNano()) }()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	r.warnFetch(r.l.Fetch(ctx))
}

// warnFetch warns that the copy may be old. That another process writes the
// copy is no reason: it fetches too.
func (r *replica[S, E]) warnFetch(err error) {
	switch {
	case err == nil || errors.Is(err, ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, ErrLocked):
	case errors.Is(err, ErrOffline) || errors.Is(err, context.DeadlineExceeded):
		r.l.warn(offlineWarning(r.remote.Name(), err, r.l.Stats().At))
	default:
		r.l.warn(Warning{Kind: Diverged, File: r.l.j.n.journal, Text: err.Error() + "."})
	}
}

// follow keeps the copy of a long-lived log up to date until ctx ends.
func (r *replica[S, E]) follow(ctx context.Context) {
	r.remote.Follow(ctx, func() error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		before := r.l.seq()
		err := r.l.Fetch(ctx)
		r.warnFetch(err)
		if r.l.seq() > before {
			r.l.background.noteWrite()
		}
		return err
	})
}

// publish decides one call and publishes what it decides, on the newest state.
// A call that decides nothing has seen the newest state too.
func (b *batch[S, E]) publish(ctx context.Context, c *call[S, E]) error {
	r, j := b.l.replica, &b.l.j
	newest, doubtful := false, j.doubtful()
	for try := 1; ; try++ {
		if try > 1 && context.Cause(ctx) == errLate {
			return j.errorf(j.n.lock, ErrLocked, "other machines write to %s all the time; try again", r.remote.Name())
		}
		start := time.Now()
		if !newest && (doubtful || !j.pos.placed()) {
			if err := b.fetch(ctx); err != nil {
				return err
			}
			newest = true
		}
		c.err = nil
		if err := b.decide(c); err != nil {
			return err
		}
		if len(b.lines) == 0 && (newest || c.panic != nil) {
			return nil
		}
		b.unlock() // views go on during the publish
		if len(b.lines) > 0 {
			commit := b.lines[0]
			place, err := r.remote.Publish(ctx, j.pos.place, commit.body)
			if err == nil {
				r.round = time.Since(start)
				return b.published(place, doubtful)
			}
			b.lines, b.pending, b.pos = nil, nil, j.pos // it was not folded
			if errors.Is(err, ErrInDoubt) {
				return errors.Join(err, j.keepDoubt(commit))
			}
			if !errors.Is(err, ErrConflict) {
				return err
			}
			r.conflict = time.Now()
		}
		if err := b.fetch(ctx); err != nil {
			return err
		}
		newest = true
	}
}

// published writes what was published to the copy. doubtful reports whether there were commits in doubt.
func (b *batch[S, E]) published(place uint64, doubtful bool) error {
	commit := b.lines[0]
	b.pos.place = place
	err := b.write()
	if err != nil {
		err = fmt.Errorf("%w: the commit is in %s, but could not be written to the copy: %w", ErrInDoubt, b.l.replica.remote.Name(), err)
		err = errors.Join(err, b.l.j.keepDoubt(commit)) // before a view may open another directory
	}
	b.unlock()
	if err != nil {
		return err
	}
	if doubtful {
		_ = b.l.j.forgetDoubts() // what stays has a number that is taken
	}
	return nil
}

func (b *batch[S, E]) fetch(ctx context.Context) error {
	err := b.l.replica.fetch(ctx)
	if err == nil {
		b.pos = b.l.j.pos
	}
	return err
}

// yield lets other machines be first after a commit, when they want to be. A
// writer that has just published knows the newest state and would win again
// against those that must fetch it first: without a pause of about as long as a
// fetch and a publish take, one of 32 writers waited 44 times the median.
// The file lock is held, so that the whole machine pauses.
func (r *replica[S, E]) yield(ctx context.Context) {
	if time.Since(r.conflict) > contended {
		return
	}
	t := time.NewTimer(r.round + rand.N(r.round+1))
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// contended is how long after a conflict other machines are believed to be writing.
const contended = time.Second
