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
// A commit that holds a secret is redacted in the copy; it keeps the checksum that it has there.
//
//   - Update, under the lock: fetch what is new and append it to J, decide,
//     publish, append to J. If another machine published first, fetch and decide
//     again. A commit counts once the remote log has acknowledged it.
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
// the store has joined a team, or left one, cannot commit.
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
	// Save stores a text. It returns the mark of the newest snapshot: this one, or one of a later
	// commit that another machine has stored meanwhile.
	Save(ctx context.Context, m Mark, text []byte) (Mark, error)
	// Trim takes out of the log what the newest snapshot has: the older texts, which the server
	// writes over, and the commits before its own. If erased is not nil, only those commits for
	// which it is true, and the server writes over them. ErrConflict means that the snapshot is not
	// the newest one there.
	Trim(ctx context.Context, newest Mark, erased func(commit []byte) bool) error
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
		return j.errorf(j.names.journal, ErrElsewhere, "try again; if a team join or team leave broke off, run that again first")
	}
	return nil
}

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

// fetch is Fetch with the lead and the file lock held, and inflight set. It rebuilds a copy that
// the next commits do not continue. Another machine may make a newer snapshot meanwhile, and a
// server of a cluster may know an older one for a while. So it tries again, after a pause that
// doubles each time.
func (r *replica[S, E]) fetch(ctx context.Context) error {
	for try, wait := 1, fetchPause; ; try, wait = try+1, 2*wait {
		err := r.fetchOnce(ctx)
		if !errors.Is(err, ErrGone) {
			return err
		}
		if try == fetchTries {
			return fmt.Errorf("%s: %w: commits after %d are not there, nor in a snapshot. Nothing is written", r.remote.Name(), ErrDiverged, r.l.j.pos.seq)
		}
		if err := pause(ctx, wait); err != nil {
			return fmt.Errorf("%s: %w: %w", r.remote.Name(), ErrOffline, err)
		}
	}
}

func (r *replica[S, E]) fetchOnce(ctx context.Context) error {
	if !r.damaged() {
		if err := r.fetchLines(ctx); !errors.Is(err, ErrGone) {
			return err
		}
	}
	return r.renew(ctx)
}

const (
	fetchTries = 8
	fetchPause = 10 * time.Millisecond
)

// damaged reports whether the copy has lost commits.
func (r *replica[S, E]) damaged() bool {
	return r.l.mem.lossy() || r.l.j.f == nil && r.l.j.pos.seq > 0
}

// chain is commits of a remote log, each of which follows the one before.
type chain struct {
	pos    position // after the last one
	joined bool     // that one was seen there, or the next one
	last   uint64   // the last commit seen
}

func chainFrom(pos position) chain { return chain{pos: pos, joined: pos.seq == 0} }

// next takes the next commit that was fetched. known reports that the chain has it already.
func (c *chain) next(place uint64, commit []byte) (ln line, known bool, err error) {
	ln, ok := parseCommit(line{sum: checksum(commit), body: commit})
	if !ok {
		return ln, false, fmt.Errorf("%w: what is at place %d is no commit", ErrDiverged, place)
	}
	c.last = ln.seq
	switch {
	case ln.seq < c.pos.seq && !c.joined:
		return ln, true, nil
	case ln.seq == c.pos.seq && ln.sum == c.pos.prev:
		c.joined, known = true, true
	case ln.seq == c.pos.seq+1 && ln.prev == c.pos.prev:
		c.joined = true
		c.pos.pass(ln)
	case ln.seq > c.pos.seq+1:
		return ln, false, fmt.Errorf("%w: commit %d follows %d", ErrGone, ln.seq, c.pos.seq)
	default:
		return ln, false, divergedAt(ln.seq)
	}
	c.pos.place, c.pos.placed = place, ln.seq
	return ln, known, nil
}

func divergedAt(seq uint64) error {
	return fmt.Errorf("%w: another commit has number %d there. Was its disk set back? Nothing is written", ErrDiverged, seq)
}

func (r *replica[S, E]) endsEarly(last uint64) error {
	return fmt.Errorf("%s: %w: it ends at commit %d, the copy at %d. Was its disk set back? Nothing is written",
		r.remote.Name(), ErrDiverged, last, r.l.j.pos.seq)
}

// fetchedBytes is how much is fetched before it is written.
const fetchedBytes = 4 << 20

// fetchLines fetches the commits after the copy's last one. ErrGone means that some of them are not
// there any more.
func (r *replica[S, E]) fetchLines(ctx context.Context) error {
	c := chainFrom(r.l.j.pos)
	var lines []line
	size := 0
	var kept error
	err := r.remote.Fetch(ctx, c.pos.place, func(place uint64, commit []byte) error {
		ln, known, err := c.next(place, commit)
		if err != nil || known {
			return err
		}
		lines = append(lines, r.l.o.withoutSecrets(ln))
		if size += len(commit); size >= fetchedBytes {
			kept = r.keep(lines, c.pos)
			lines, size = nil, 0
		}
		return kept
	})
	if err == nil && !c.joined {
		err = r.endsEarly(c.last)
	}
	if kept == nil { // else its lines may be in J already
		kept = r.keep(lines, c.pos)
	}
	switch {
	case kept != nil && !errors.Is(err, ErrDiverged):
		return kept
	}
	return err
}

// keep appends what was fetched to J and folds it. p is the position after it.
func (r *replica[S, E]) keep(lines []line, p position) error {
	l, j := r.l, &r.l.j
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(lines) == 0 {
		if j.pos.placed != p.placed {
			j.pos.place, j.pos.placed = p.place, p.placed
			j.answered()
		}
		return nil
	}
	commits := &recovery{lines: lines}
	commits.pos.at = j.pos.at
	err := j.makeReady()
	if err == nil {
		err = j.append(lines)
	}
	if err == nil {
		l.mem.ahead = true
		l.mem.state, err = l.mem.fold(l.mem.state, commits)
	}
	if err != nil {
		l.mem.loaded = false
		return err
	}
	j.pos.place, j.pos.placed = p.place, p.placed
	if commits.pos.at.After(j.pos.at) {
		j.pos.at = commits.pos.at
	}
	l.mem.set(l.mem.state)
	j.answered()
	for _, w := range commits.void { // once on each machine: who reads the copy later says nothing
		j.warn(w)
	}
	return nil
}

// fetchInterval is after how long a log that nobody follows, such as a diary in a
// server, fetches again for a view.
const fetchInterval = time.Second

// fetchForView fetches newer commits, unless somebody does that anyway.
func (r *replica[S, E]) fetchForView(ctx context.Context) {
	wait := r.remote.Wait()
	if wait <= 0 || r.l.o.LongLived {
		return
	}
	if last := r.viewed.Load(); last != 0 && time.Since(time.Unix(0, last)) < fetchInterval {
		return
	}
	defer func() { r.viewed.Store(time.Now().UnixNano()) }()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	r.warnFetch(r.l.Fetch(ctx))
}

// warnFetch warns that the copy may be old, but not if another process writes the
// copy: that one fetches too.
func (r *replica[S, E]) warnFetch(err error) {
	if _, ok := errors.AsType[*unknownCommitError](err); ok {
		return // whoever reads the copy is warned of it
	}
	switch {
	case err == nil || errors.Is(err, ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, ErrLocked):
	case errors.Is(err, ErrOffline) || errors.Is(err, context.DeadlineExceeded):
		r.l.warn(offlineWarning(r.remote.Name(), err, r.l.Stats().At))
	default:
		r.l.warn(Warning{Kind: Diverged, File: r.l.j.names.journal, Text: err.Error() + "."})
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

// publish decides one call on the newest state and publishes its commit. It also fetches the
// newest state for a call that commits nothing. The returned error is that of all calls that are not
// answered yet. If only this call fails, because its context has ended or its commit is in doubt, c
// has the error.
func (b *batch[S, E]) publish(c *call[S, E]) error {
	r, j := b.l.replica, &b.l.j
	newest, doubtful, patient := false, j.doubtful(), false
	wait := b.l.o.LockTimeout
	ctx, cancel := context.WithTimeoutCause(c.ctx, wait, errLockTimeout)
	defer func() { cancel() }()
	renew := func() {
		cancel()
		ctx, cancel = context.WithTimeoutCause(c.ctx, wait, errLockTimeout)
	}
	fetch := func() error {
		if err := r.fetch(ctx); err != nil {
			return err
		}
		if !newest && context.Cause(ctx) == errLockTimeout { // there was much to fetch: an import of another machine
			renew()
		}
		b.pos, newest = j.pos, true
		return nil
	}
	for try := 1; c.ctx.Err() == nil; try++ {
		if try > 1 && context.Cause(ctx) == errLockTimeout {
			return j.errorf(j.names.lock, ErrLocked, "other machines write to %s all the time; try again", r.remote.Name())
		}
		start := time.Now()
		if !newest && (doubtful || j.pos.placed != j.pos.seq) {
			if err := fetch(); err != nil {
				return b.failIfCanceled(c, err)
			}
		}
		c.err = nil
		if err := b.decide(c); err != nil {
			return err
		}
		if len(b.lines) == 0 && (newest || c.panic != nil) {
			return nil
		}
		b.unlock() // views may run during the publish
		if len(b.lines) > 0 && len(b.lines[0].body) > large && !patient {
			took := time.Since(start) + time.Duration(len(b.lines[0].body)/large)*time.Second
			wait += largeTries * took
			renew()
			if patient = true; !newest {
				b.lines, b.pending, b.pos = nil, nil, j.pos
			}
		}
		if len(b.lines) > 0 {
			commit := b.lines[0]
			place, err := r.remote.Publish(ctx, j.pos.place, commit.body)
			if err == nil {
				r.round = time.Since(start)
				return b.published(c, place, doubtful)
			}
			b.lines, b.pending, b.pos = nil, nil, j.pos // it was not folded
			if errors.Is(err, ErrInDoubt) {
				c.fail(b.l.named(errors.Join(err, j.keepDoubt(commit))))
				if context.Cause(ctx) != errLockTimeout {
					return nil
				}
				b.answer() // the others would wait as long, one after another
				return fmt.Errorf("%s: %w: the write before this one had no answer; nothing was sent", r.remote.Name(), ErrOffline)
			}
			if !errors.Is(err, ErrConflict) {
				return b.failIfCanceled(c, err)
			}
			r.conflict = time.Now()
		}
		if err := fetch(); err != nil {
			return b.failIfCanceled(c, err)
		}
	}
	c.fail(context.Cause(c.ctx)) // it is not sent
	return nil
}

// large is the least rate at which a commit is sent, in bytes a second. A larger commit is sent
// only after a fetch: otherwise the conflict with another machine would be found after sending it.
const large = 1 << 20

// largeTries is for how many tries to decide and send a large commit the timeout is extended:
// that time is not spent waiting for others.
const largeTries = 3

// published appends the commit of c, which was published, to the copy. doubtful says whether there were
// commits in doubt.
func (b *batch[S, E]) published(c *call[S, E], place uint64, doubtful bool) error {
	commit := b.lines[0]
	b.pos.place, b.pos.placed = place, commit.seq
	err := b.write()
	if err == nil {
		b.unlock()
	} else {
		in := b.l.replica.remote.Name()
		doubt := fmt.Errorf("%w: the commit is in %s, but could not be written to the copy: %w", ErrInDoubt, in, err)
		c.fail(b.l.named(errors.Join(doubt, b.l.j.keepDoubt(commit)))) // before a view may open another directory
		b.unlock()
		b.answer()
		return fmt.Errorf("%s: the write before this one could not be written to the copy; nothing was sent: %v", in, err) // that one alone may be done
	}
	if doubtful {
		_ = b.l.j.forgetDoubts() // what stays has a number that is taken
	}
	return nil
}

// failIfCanceled returns err, which ends the batch. If the caller's context ended before the server
// answered, only this call fails, and the batch continues.
func (b *batch[S, E]) failIfCanceled(c *call[S, E], err error) error {
	left := errors.Is(err, ErrOffline) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Cause(c.ctx))
	if c.ctx.Err() == nil || !left {
		return err
	}
	c.fail(b.l.named(err))
	b.pos = b.l.j.pos // some commits may have been fetched
	return nil
}

// yield pauses after a conflict, so that another machine can publish first. A writer
// that has just published knows the newest state, and would win again against those
// that must fetch it. Without a pause of about a fetch and a publish, one of 32
// writers waited 44 times the median. The file lock is held, so the whole machine
// pauses.
func (r *replica[S, E]) yield(ctx context.Context) {
	if time.Since(r.conflict) < contentionPeriod {
		_ = pause(ctx, r.round+rand.N(r.round+1))
	}
}

// contentionPeriod is how long after a conflict we assume that other machines write.
const contentionPeriod = time.Second
