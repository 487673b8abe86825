package state

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/index"
)

// Options of a [Log]. The zero value works.
type Options struct {
	ProjectRoot, ProjectHash string // what the first commit names as the project; none without a hash

	LongLived bool             // a server: snapshots are written in the background
	Most      int              // of the bytes of a value that the index on disk lacks, how many are looked through; 0: all
	Now       func() time.Time // default time.Now
	Logger    *slog.Logger
	Fault     func(op, name string) error // for crash tests: called before each file operation
	Team      journal.Team                // the machines that share the facts; nil: this one alone
	Fence     journal.Fence               // of the facts while they move to a team or back; may be nil
}

// Log is the state of one directory, kept by a journal, and the text index that
// follows it. It is safe for concurrent use, by any number of processes.
type Log struct {
	dir  string
	opts Options

	mu      sync.Mutex
	some    *journal.Log[*State, Event] // begins at the index; nil where there is none, or once whole serves
	base    *starter                    // what some begins at
	whole   *journal.Log[*State, Event] // has all facts in memory; nil until it is needed
	loading sync.WaitGroup

	index follower
}

// Open opens the state kept in dir; nothing is created before the first
// commit. A server answers from the index at once, and has all facts in memory
// a little later.
func Open(dir string, o *Options) (*Log, error) {
	l := &Log{dir: dir}
	if o != nil {
		l.opts = *o
	}
	if l.opts.Logger == nil {
		l.opts.Logger = slog.New(slog.DiscardHandler)
	}
	l.index.dir = filepath.Join(dir, "index")
	l.index.logger, l.index.most = l.opts.Logger, l.opts.Most
	if err := l.openSome(); err != nil {
		return nil, err
	}
	if l.some == nil {
		_, err := l.wholeLog()
		return l, err
	}
	if l.opts.LongLived {
		l.loading.Go(l.load)
	}
	return l, nil
}

// openSome opens the log that begins at the index, if there is one that it can
// begin at.
func (l *Log) openSome() error {
	if !index.Exists(l.index.dir) {
		return nil
	}
	m := &starter{dir: l.index.dir, logger: l.opts.Logger, most: l.opts.Most}
	log, err := journal.Open(l.dir, m, l.options(false))
	if err != nil {
		return err
	}
	if m.index != nil {
		l.some, l.base, l.index.index = log, m, m.index.Fork()
		return nil
	}
	l.index.forget() // it is of another journal, or too old
	if l.opts.LongLived {
		return log.Close()
	}
	l.whole = log // it was read whole
	return nil
}

func (l *Log) options(longLived bool) *journal.Options {
	return &journal.Options{Name: "knowledge", Schema: formats.Schema, Now: l.opts.Now, LongLived: longLived, Logger: l.opts.Logger, Fault: l.opts.Fault, Remote: l.opts.Team.Log("knowledge"), Fence: l.opts.Fence}
}

// load reads all facts into memory. Later calls use them.
func (l *Log) load() {
	w, err := l.wholeLog()
	if err != nil {
		return // the next call that needs it gets the error
	}
	// From now on the index follows the whole state, which knows the changes
	// since its snapshot. Those before are brought to the index first.
	if some := l.someLog(); some != nil {
		_ = some.View(context.Background(), func(st *State, h journal.Head) error {
			x, err := l.index.follow(st, h)
			if err == nil {
				err = x.Close()
			}
			return err
		})
	}
	_ = w.View(context.Background(), func(*State, journal.Head) error { return nil })
	l.mu.Lock()
	some := l.some
	l.some = nil
	l.mu.Unlock()
	if some != nil {
		_ = some.Close() // it only read, or wrote what is synced
		l.base.close()
	}
}

// wholeLog opens the log that has all facts in memory.
func (l *Log) wholeLog() (*journal.Log[*State, Event], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.whole != nil {
		return l.whole, nil
	}
	w, err := journal.Open(l.dir, machine{}, l.options(l.opts.LongLived))
	if err != nil {
		return nil, err
	}
	l.whole = w
	return w, nil
}

func (l *Log) someLog() *journal.Log[*State, Event] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.some
}

// View runs f on the newest state with all facts, without waiting for any
// writer.
func (l *Log) View(ctx context.Context, f func(*State) error) error {
	w, err := l.wholeLog()
	if err != nil {
		return err
	}
	return w.View(ctx, func(st *State, _ journal.Head) error { return f(st) })
}

// ViewSome runs f on the newest state, for callers that need few facts. They may come
// from the index. f may run twice.
func (l *Log) ViewSome(ctx context.Context, f func(Reader) error) error {
	return l.viewSome(ctx, func(st *State, _ journal.Head) error { return f(st.Reader()) })
}

// viewSome runs f on a state that may read facts from the index (a base).
func (l *Log) viewSome(ctx context.Context, f func(*State, journal.Head) error) error {
	return l.either(func(log *journal.Log[*State, Event]) error {
		return log.View(ctx, func(st *State, h journal.Head) error { return st.checked(f(st, h)) })
	})
}

// either runs f on the log that begins at the index, if there is one. Where that cannot
// answer, or there is none, f runs on the log that has all facts in memory.
func (l *Log) either(f func(*journal.Log[*State, Event]) error) error {
	if some := l.someLog(); some != nil {
		if err := f(some); !l.unusable(err) {
			return err
		}
	}
	w, err := l.wholeLog()
	if err != nil {
		return err
	}
	return f(w)
}

// unusable reports whether an error comes from the index. If so, later calls use all facts in
// memory instead.
func (l *Log) unusable(err error) bool {
	if errors.Is(err, journal.ErrClosed) {
		return l.someLog() == nil // closed since it was asked for
	}
	if _, ok := errors.AsType[*baseError](err); !ok {
		return false
	}
	l.opts.Logger.Warn("the index could not be read; the fact file is read instead", "dir", l.dir, "error", err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.some = nil // not closed: others may be reading
	return true
}

// baseError says that a fact could not be read from the index.
type baseError struct{ reason error }

func (e *baseError) Error() string { return "the index: " + e.reason.Error() }
func (e *baseError) Unwrap() error { return e.reason }

// checked is err, unless the state could not give an answer.
func (s *State) checked(err error) error {
	if reason := s.base.failed(); reason != nil {
		return &baseError{reason}
	}
	return err
}

// UpdateSome commits what decide returns for the newest state, all of it or
// nothing; no events is no commit. It is for decisions that need few facts.
// decide may run more than once. The time is that of the commit, later than any
// before.
func (l *Log) UpdateSome(ctx context.Context, decide func(Reader, time.Time) ([]Event, error)) error {
	return l.either(func(log *journal.Log[*State, Event]) error {
		return l.update(ctx, log, func(st *State, now time.Time) ([]Event, error) {
			events, err := decide(st.Reader(), now)
			return events, st.checked(err)
		})
	})
}

// Update is [Log.UpdateSome] for decisions that need all facts.
func (l *Log) Update(ctx context.Context, decide func(*State, time.Time) ([]Event, error)) error {
	w, err := l.wholeLog()
	if err != nil {
		return err
	}
	return l.update(ctx, w, decide)
}

func (l *Log) update(ctx context.Context, log *journal.Log[*State, Event], decide func(*State, time.Time) ([]Event, error)) error {
	_, err := log.Update(ctx, func(st *State, now time.Time) ([]Event, error) {
		events, err := decide(st, now.UTC())
		if err == nil && l.opts.Team != nil && slices.ContainsFunc(events, Event.local) {
			err = errLocal
		}
		if err != nil || len(events) == 0 {
			return nil, err
		}
		if st.hash == "" && l.opts.ProjectHash != "" {
			events = append([]Event{{Open: &Opened{l.opts.ProjectRoot, l.opts.ProjectHash}}}, events...)
		}
		return events, nil
	})
	return err
}

// errLocal refuses a commit with a local fact in a team. Each commit there is the
// stream's, byte for byte, so that a copy can be compared with it and rebuilt.
// Private commits between them would need numbers that no other machine has.
var errLocal = errors.New("this project is in a team, which would get the fact: a local fact cannot be kept here; nothing was written")

// any is a log that is open.
func (l *Log) any() *journal.Log[*State, Event] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.whole != nil {
		return l.whole
	}
	return l.some
}

// Compact writes the state into its one readable file.
func (l *Log) Compact(ctx context.Context) error { return l.any().Compact(ctx) }

// Settle writes the readable file before the end, where it is due: see [journal.Log.Settle].
func (l *Log) Settle() {
	l.loading.Wait()
	l.mu.Lock()
	logs := []*journal.Log[*State, Event]{l.some, l.whole}
	l.mu.Unlock()
	for _, log := range logs {
		if log != nil {
			log.SettleOrLog()
		}
	}
}

// Purge rewrites everything and deletes what held it before. Then what was erased is no
// longer on the disk, nor in the index.
func (l *Log) Purge(ctx context.Context) error {
	return errors.Join(l.any().Purge(ctx), l.index.remove())
}

// Expunge removes from the team's server the commits that may contain versions of an erased
// fact. If no version is known any more, it removes all commits. A snapshot of the state takes
// their place.
func (l *Log) Expunge(ctx context.Context, gone []*fact.Version) error {
	if len(gone) == 0 {
		return l.any().Expunge(ctx, nil)
	}
	return l.any().Expunge(ctx, commitsOf(gone))
}

// commitsOf tells which commits may hold what some versions say: those about the same facts, and
// those with a value or an id of theirs.
func commitsOf(vs []*fact.Version) func(commit []byte) bool {
	names, texts := map[string]bool{}, [][]byte{}
	for _, v := range vs {
		names[keyOf(v.Category, v.Key)] = true
		for _, text := range []string{v.ID, v.Value} {
			quoted, _ := journal.Encode(text) // a string always encodes
			if len(text) >= minPart {
				quoted = quoted[1 : len(quoted)-1]
			}
			texts = append(texts, quoted)
		}
	}
	return func(commit []byte) bool {
		if slices.ContainsFunc(texts, func(t []byte) bool { return bytes.Contains(commit, t) }) {
			return true
		}
		var c journal.Commit[Event]
		if journal.DecodeDocument(commit, &c) != nil {
			return true
		}
		return slices.ContainsFunc(c.Events, func(e Event) bool {
			return slices.ContainsFunc(e.kind().touches, func(name string) bool { return names[name] })
		})
	}
}

// minPart is how long a value is that is looked for inside other texts too.
const minPart = 8

// Fetch brings the copy of a team's facts up to date. Without a team it does nothing.
func (l *Log) Fetch(ctx context.Context) error { return l.any().Fetch(ctx) }

// Stats tells the sizes of the files.
func (l *Log) Stats() journal.Stats { return l.any().Stats() }

// Warnings tells what was found damaged.
func (l *Log) Warnings() (all []journal.Warning) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, log := range []*journal.Log[*State, Event]{l.some, l.whole} {
		if log != nil {
			for _, w := range log.Warnings() {
				if !slices.ContainsFunc(all, func(x journal.Warning) bool { return x.Text == w.Text }) {
					all = append(all, w)
				}
			}
		}
	}
	return all
}

// Close ends background work and closes the files.
func (l *Log) Close() error {
	l.loading.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, log := range []*journal.Log[*State, Event]{l.some, l.whole} {
		if log != nil {
			errs = append(errs, log.Close())
		}
	}
	if l.base != nil {
		l.base.close()
	}
	return errors.Join(append(errs, l.index.close())...)
}

// machine tells the journal how the state is made, folded and written.
type machine struct{}

func (machine) New() *State { return New() }

func (machine) Fold(s *State, c journal.Commit[Event]) *State {
	s.next(c.Seq, c.At)
	before := formerOf(c)
	for _, e := range c.Events {
		k := e.kind()
		before.keep(s, k)
		k.fold(s)
	}
	s.committed(before, c.Events)
	return s
}

func (machine) Clone(s *State) *State { return s.clone() }

func (machine) Encode(w io.Writer, s *State, h journal.Header) error {
	return fact.EncodeFile(w, s.Document(h))
}

func (machine) Decode(data []byte) (*State, error) {
	d, err := fact.DecodeFile(data)
	if err != nil {
		return nil, err
	}
	return fromDocument(d), nil
}

// starter is a machine whose state begins at the index. That is opened for the
// state alone and never brought further: the facts below a state must be those of
// the commit where it began.
type starter struct {
	machine
	dir    string
	logger *slog.Logger
	most   int          // see [index.Options]
	index  *index.Index // of the newest state; nil: it was read whole
}

var (
	_ journal.Machine[*State, Event] = machine{}
	_ journal.Starter[*State]        = (*starter)(nil)
)

// Start is [journal.Starter.Start]. No view is running then.
func (m *starter) Start(reached func(journal.Head) bool) (*State, bool) {
	m.close()
	x, err := index.Open(m.dir, &index.Options{Log: m.logger, Most: m.most})
	if err != nil {
		return nil, false
	}
	if _, ok := x.OnDisk(); ok {
		if s, at, err := fromIndex(x); err == nil && reached(at) {
			m.index = x
			return s, true
		}
	}
	_ = x.Close() // it was only read
	return nil, false
}

func (m *starter) close() {
	if m.index != nil {
		_ = m.index.Close() // it was only read
		m.index = nil
	}
}
