package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Machine is how a state S is made, folded from events E, and
// written. S is usually a pointer.
type Machine[S, E any] interface {
	// New is the empty state.
	New() S
	// Fold applies one commit. It cannot fail, and may change s in place.
	Fold(s S, c Commit[E]) S
	// Clone is a shallow copy that later folds of the original do not change.
	Clone(s S) S
	// Encode writes a snapshot: one JSON object, indented, whose members
	// "schema" (the first), "checksum", "seq" and "generation" are as h has
	// them. They, and "updated_at" if there is one, come before any list or object.
	Encode(w io.Writer, s S, h Header) error
	// Decode is the reverse. It is called after schema and checksum were checked.
	Decode(data []byte) (S, error)
}

// Commit is one transaction: all of its events or none.
type Commit[E any] struct {
	Seq    uint64    `json:"seq"`
	At     time.Time `json:"at"` // recorded time
	Events []E       `json:"events"`
}

// Starter may be implemented by a [Machine] that keeps its state in another place too, such as
// an index on disk. Then a command that starts cold reads neither the snapshot nor the commits
// that the index has.
type Starter[S any] interface {
	// Start returns a state that a log can begin with. It calls reached with the Head that View
	// gave when the state was stored. It returns the state only if the answer is yes. Then the
	// log folds the commits after that Head into it. Start may try several states, the newest
	// first. If ok is false, the log reads the snapshot.
	//
	// Start is called whenever the files are read without the lock. A repair
	// and a compaction read the snapshot and give Encode a state made by
	// Decode. A machine whose stored state turns out damaged calls [Log.Forget]
	// and from then on returns false.
	Start(reached func(Head) bool) (s S, ok bool)
}

// Wary may be implemented by a [Machine] whose log several machines may write.
type Wary[E any] interface {
	// Others returns what counts of the events of a commit that came by a remote log. It may change
	// them in place. Each machine must return the same.
	Others(events []E) []E
}

// WaryOfStates is [Wary] for a snapshot that came by a remote log.
type WaryOfStates[S any] interface {
	OthersState(s S) S
}

// Head says which commit a state is at. It can be stored: two states with the
// same Seq, Sum and Repairs are folded from the same commits.
type Head struct {
	Seq        uint64    `json:"seq"`
	At         time.Time `json:"at"`         // recorded time of commit Seq; zero before the first
	Generation uint64    `json:"generation"` // how many times the journal was rewritten
	Sum        uint32    `json:"sum"`        // checksum of the commit's line, which covers the one before it
	Repairs    int       `json:"repairs"`    // how many of the rewrites lost a commit
	Offset     int64     `json:"offset"`     // where the line probably begins; 0 if it is in the snapshot
	Losses     int       `json:"-"`          // how often commits that this log had read vanished from the files
}

// Options of a [Log]. Nil and zero values work: a log named "state" of schema 1.
type Options struct {
	Name        string           // file stem: "knowledge" makes knowledge.json, knowledge.journal, knowledge.lock
	Schema      int              // the newest schema this program reads, and the one it writes; 1
	Now         func() time.Time // the clock; time.Now
	LockTimeout time.Duration    // how long to wait for another process; 5 s
	LongLived   bool             // compact in the background: when the journal has grown, and when idle
	Logger      *slog.Logger     // where background work and warnings are logged; nowhere

	Remote Remote // the log of several machines that this one is a copy of; see remote.go
	Fence  Fence  // who may write; nil: everybody

	// Fault is for tests, of other packages too. It is called before every operation that
	// changes a file. op is create, write, sync, truncate, rename, link or remove; the name of
	// a directory sync is ".". The operation fails with the error it returns, if any. Fault may
	// kill the process.
	Fault func(op, name string) error

	cutUnknown bool // the writer cuts the journal before a commit that is not understood, and keeps it aside
}

// Fence lets an update in until it calls leave. The error is [ErrLocked] while the commits are
// being moved to another log, and [ErrElsewhere] afterwards. A process that makes a new fence must
// close it and then make one update. After that no earlier update is running, since each calls
// its fence with the file lock held.
type Fence func() (leave func(), err error)

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Name = cmp.Or(c.Name, "state")
	c.Schema = cmp.Or(c.Schema, 1)
	c.LockTimeout = cmp.Or(c.LockTimeout, 5*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Errors that callers branch on. A returned error wraps one of them and says
// which file it is about and what to do.
var (
	ErrLocked  = errors.New("locked")
	ErrCorrupt = errors.New("corrupt")
	ErrNewer   = errors.New("written by a newer version")
	ErrForeign = errors.New("written by another program")
	ErrInDoubt = errors.New("in doubt")
	ErrClosed  = fs.ErrClosed
)

// pathError says what is wrong with a file, and what to do.
func pathError(dir, name string, kind error, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %w", filepath.Join(dir, name), kind, fmt.Errorf(format, args...))
}

// Log is a state folded from commits that many processes make. Several goroutines may use it.
// The functions passed to View and Update must not call the Log.
type Log[S, E any] struct {
	o Options

	// mu guards the state and its position in the files. Holders of
	// the lead and the file lock also write the files.
	mu     sync.RWMutex
	mem    memory[S, E]
	j      journalFile
	closed bool

	// inflight is set, with mu held, from when a writer of this log has caught up
	// until what it wrote is folded. Meanwhile there is nothing new in the files
	// that a view may see, and their position is the writer's to use without mu.
	inflight atomic.Bool
	wrote    atomic.Bool // this log committed something, see [Log.Settle]

	looked atomic.Int64 // when the last look at the files began: see [Once]

	lead       token    // held by the one goroutine that writes
	lock       fileLock // held by the one process that writes the journal or switches files
	queue      queue[S, E]
	compaction compaction[S, E]
	background background[S, E]
	replica    *replica[S, E] // nil: this log is no copy of a remote one

	notes struct {
		sync.Mutex
		warnings
	}
}

// Open reads a log. It creates nothing; a directory that does not exist is an
// empty log. The error may wrap ErrNewer, ErrForeign or ErrCorrupt.
func Open[S, E any](dir string, m Machine[S, E], o *Options) (*Log[S, E], error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	l := &Log[S, E]{o: o.withDefaults(), lead: newToken()}
	n := namesOf(l.o.Name)
	l.j = journalFile{directory: &directory{path: dir, o: &l.o, names: n}, warn: l.warn}
	l.mem = memory[S, E]{m: m, o: &l.o, j: &l.j}
	l.lock = fileLock{dir: dir, name: n.lock}
	l.compaction = compaction[S, E]{l: l, busy: newToken(), lock: fileLock{dir: dir, name: n.compactLock}}
	if l.o.Remote != nil {
		l.replica = &replica[S, E]{l: l, remote: l.o.Remote}
	}
	if err := l.refresh(); err != nil {
		l.j.close()
		l.j.detach()
		return nil, l.named(err)
	}
	if l.o.LongLived {
		l.background.start(l)
	}
	return l, nil
}

// OpenOwn is [Open] in a directory where another program may have files of the
// same names. If the snapshot is that program's, it is left alone, and the log
// gets the name with "-own" appended.
func OpenOwn[S, E any](dir string, m Machine[S, E], o *Options) (*Log[S, E], error) {
	log, err := Open(dir, m, o)
	if !errors.Is(err, ErrForeign) {
		return log, err
	}
	own := *o
	own.Name += "-own"
	return Open(dir, m, &own)
}

// named adds the directory to an error that does not name it.
func (l *Log[S, E]) named(err error) error {
	for _, kind := range []error{nil, ErrLocked, ErrCorrupt, ErrNewer, ErrForeign, ErrInDoubt, ErrOffline, ErrDiverged, ErrGone, ErrConflict, ErrFull, ErrElsewhere, context.Canceled, context.DeadlineExceeded} {
		if err == kind || kind != nil && errors.Is(err, kind) {
			return err
		}
	}
	return fmt.Errorf("store %s: %w", l.j.path, err)
}

// View calls f with the newest committed state, which f must not change nor
// keep. It takes no lock between processes, and works in a
// read-only directory. Errors of f are returned as they are.
func (l *Log[S, E]) View(ctx context.Context, f func(S, Head) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.replica != nil {
		l.replica.fetchForView(ctx)
	}
	if err := l.readNewest(ctx); err != nil {
		return l.named(err)
	}
	defer l.mu.RUnlock()
	return f(l.mem.state, l.mem.head)
}

// Once returns a context whose views share one look at the files of each log. They see what was
// committed before it was made, and what this process commits; of what other processes commit later,
// they may see nothing. It is for one answer that reads several times, not for one that waits for news.
func Once(ctx context.Context) context.Context {
	if ctx.Value(onceKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, onceKey{}, clock())
}

type onceKey struct{}

// clock is a time that only goes forward.
func clock() int64 { return 1 + int64(time.Since(begin)) }

var begin = time.Now()

// readNewest catches up and leaves with mu held for reading, unless it fails.
func (l *Log[S, E]) readNewest(ctx context.Context) error {
	now := clock()
	once, shared := ctx.Value(onceKey{}).(int64)
	current := func() bool {
		if l.inflight.Load() || shared && l.looked.Load() >= once {
			return true
		}
		if !l.j.current() {
			return false
		}
		l.looked.Store(now)
		return true
	}
	for {
		l.mu.RLock()
		if l.closed {
			l.mu.RUnlock()
			return ErrClosed
		}
		if l.mem.loaded && current() {
			return nil
		}
		l.mu.RUnlock()
		if err := l.refresh(); err != nil {
			return err
		}
		l.looked.Store(now)
		// Not checked again: with busy writers it would never be current.
		current = func() bool { return true }
	}
}

func (l *Log[S, E]) refresh() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	if l.inflight.Load() { // nobody else can have written, and the writer needs the directory as it is
		if l.mem.loaded {
			return nil
		}
	} else if err := l.attach(false); err != nil {
		return err
	}
	return l.mem.catchUp(false)
}

// attach opens the directory; create says whether to make a missing one. mu is held.
func (l *Log[S, E]) attach(create bool) error {
	changed, err := l.j.attach(create)
	if changed {
		l.mem.loaded = false
	}
	return err
}

// Forget drops the state. It is reloaded at the next use.
func (l *Log[S, E]) Forget(ctx context.Context) error {
	if err := l.lead.take(ctx); err != nil { // a write that is under way counts on the state
		return err
	}
	defer l.lead.release()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mem.forget()
	return nil
}

// seq is the last commit of the state.
func (l *Log[S, E]) seq() uint64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.mem.head.Seq
}

// Warnings returns what was found and done since Open that people should know.
func (l *Log[S, E]) Warnings() []Warning {
	l.notes.Lock()
	defer l.notes.Unlock()
	return slices.Clone(l.notes.list)
}

func (l *Log[S, E]) warn(w Warning) {
	l.notes.Lock()
	defer l.notes.Unlock()
	if l.notes.add(w) {
		l.o.Logger.Warn(w.Text, "kind", w.Kind, "dir", l.j.path, "file", w.File)
	}
}

// Stats is how large a log is.
type Stats struct {
	SnapshotBytes, JournalBytes int64
	Seq, Generation             uint64
	At                          time.Time
	Lost                        []uint64 // commits since the snapshot that are damaged and lost
	SetAside                    []string // names of torn writes and damaged files that are kept
	Torn                        string   // a sentence about an unfinished write at the journal's end; empty if there is none
}

// Limit is the length of the journal in bytes from which a long-lived log writes a new
// snapshot. It is 1 MiB, or a quarter of a snapshot that is larger than 4 MiB.
func (s Stats) Limit() int64 { return max(growth, s.SnapshotBytes/growthShare) }

// Stats looks at the files as they are now; the head is that of the last View or Update.
func (l *Log[S, E]) Stats() Stats {
	l.mu.RLock()
	defer l.mu.RUnlock()
	s := Stats{Seq: l.mem.head.Seq, Generation: l.mem.head.Generation, At: l.mem.head.At, Lost: slices.Clone(l.mem.lost)}
	if l.j.root == nil || l.closed {
		return s
	}
	s.SnapshotBytes, s.JournalBytes = l.j.size(l.j.names.snapshot), l.j.size(l.j.names.journal)
	s.SetAside, _ = l.j.listAside() // without the list there is nothing to name
	if l.mem.loaded && l.mem.torn > 0 && s.JournalBytes == l.j.pos.off+int64(l.mem.torn) {
		s.Torn = fmt.Sprintf("an unfinished write of %d bytes is at the end of %s; the next write sets it aside.", l.mem.torn, l.j.names.journal)
	}
	return s
}

// Close waits for a write that is under way and for background work. It may
// be called more than once.
func (l *Log[S, E]) Close() error {
	l.background.stop()
	for _, t := range []token{l.compaction.busy, l.lead} {
		t <- struct{}{}
		defer t.release()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed, l.mem.loaded = true, false
	l.j.close()
	l.j.detach()
	return errors.Join(l.lock.close(), l.compaction.lock.close())
}
