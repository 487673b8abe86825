package state

import (
	"context"
	"io"
	"log/slog"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
)

// Options of a [Log]. The zero value works.
type Options struct {
	ProjectRoot, ProjectHash string // what the first commit names as the project; none without a hash

	LongLived bool             // a server: snapshots are written in the background
	Now       func() time.Time // default time.Now
	Logger    *slog.Logger
	Fault     func(op, name string) error // for crash tests: called before each file operation
}

// Log is the state of one directory, kept by a journal. It is safe for
// concurrent use, by any number of processes.
type Log struct {
	log  *journal.Log[*State, Event]
	opts Options
}

// Open opens the state kept in dir; nothing is created before the first
// commit.
func Open(dir string, o *Options) (*Log, error) {
	l := &Log{}
	if o != nil {
		l.opts = *o
	}
	log, err := journal.Open(dir, machine{}, &journal.Options{
		Name: "knowledge", Schema: formats.Schema, Now: l.opts.Now, LongLived: l.opts.LongLived, Logger: l.opts.Logger, Fault: l.opts.Fault,
	})
	if err != nil {
		return nil, err
	}
	l.log = log
	return l, nil
}

// View runs f on the newest state, without waiting for any writer.
func (l *Log) View(ctx context.Context, f func(*State) error) error {
	return l.log.View(ctx, func(st *State, _ journal.Head) error { return f(st) })
}

// Update commits what decide returns for the newest state, all of it or
// nothing; no events is no commit. decide may run more than once. The time is
// that of the commit, later than any before.
func (l *Log) Update(ctx context.Context, decide func(*State, time.Time) ([]Event, error)) error {
	_, err := l.log.Update(ctx, func(st *State, now time.Time) ([]Event, error) {
		events, err := decide(st, now.UTC())
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

// Compact writes the state into its one readable file.
func (l *Log) Compact(ctx context.Context) error { return l.log.Compact(ctx) }

// Purge writes everything anew and deletes what held it before, so that what
// was erased is on the disk no more.
func (l *Log) Purge(ctx context.Context) error { return l.log.Purge(ctx) }

// Stats tells the sizes of the files.
func (l *Log) Stats() journal.Stats { return l.log.Stats() }

// Warnings tells what was found damaged.
func (l *Log) Warnings() []journal.Warning { return l.log.Warnings() }

// Close ends background work and closes the files.
func (l *Log) Close() error { return l.log.Close() }

// machine tells the journal how the state is made, folded and written.
type machine struct{}

var _ journal.Machine[*State, Event] = machine{}

func (machine) New() *State { return New() }

func (machine) Fold(s *State, c journal.Commit[Event]) *State {
	for _, e := range c.Events {
		s.fold(e)
	}
	s.seq, s.at = c.Seq, c.At
	return s
}

func (machine) Clone(s *State) *State { return s.clone() }

func (machine) Encode(w io.Writer, s *State, h journal.Header) error {
	return formats.EncodeNative(w, s.Document(h))
}

func (machine) Decode(data []byte) (*State, error) {
	d, err := formats.DecodeNative(data)
	if err != nil {
		return nil, err
	}
	return fromDocument(d), nil
}
