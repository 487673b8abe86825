package ledger

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/table"
)

// Options of a [Log]. The zero value works.
type Options struct {
	ProjectRoot, ProjectHash string // what the first commit names as the project; none without a hash

	LongLived bool             // a server: snapshots are written in the background
	Now       func() time.Time // default time.Now
	Logger    *slog.Logger
	Fault     func(op, name string) error // for crash tests: called before each file operation

	KeysFrom int64 // the size in bytes of the smallest snapshot with a key table; 0: 1 MiB
}

// Log is the ledger of one directory. It is safe for concurrent use, by any
// number of processes.
type Log struct {
	log   *journal.Log[*State, Event]
	parts *partials
	opts  Options
}

// Open opens the ledger kept in dir; nothing is created before the first
// commit.
func Open(dir string, o *Options) (*Log, error) {
	l := &Log{}
	if o != nil {
		l.opts = *o
	}
	if l.opts.Logger == nil {
		l.opts.Logger = slog.New(slog.DiscardHandler)
	}
	l.parts = &partials{dir: dir, from: cmp.Or(l.opts.KeysFrom, tableFrom)}
	log, err := journal.Open(dir, machine{l.parts}, &journal.Options{
		Name: "knowledge", Schema: formats.Schema, Now: l.opts.Now, LongLived: l.opts.LongLived, Logger: l.opts.Logger, Fault: l.opts.Fault,
	})
	if err != nil {
		return nil, err
	}
	l.log = log
	return l, nil
}

// View runs f on the newest state, without waiting for any writer. When f asks
// a partial state for what cannot be read, it runs again, on a whole one.
func (l *Log) View(ctx context.Context, f func(*State, journal.Head) error) error {
	return l.wholly(ctx, func() error {
		return l.log.View(ctx, func(st *State, h journal.Head) error {
			err := partly(st, nil)
			if err == nil {
				err = partly(st, f(st, h))
			}
			return err
		})
	})
}

// Peek is [Log.View] for what may come to nothing: f runs once, whether what it
// asks for can be read or not.
func (l *Log) Peek(ctx context.Context, f func(*State, journal.Head) error) error {
	return l.log.View(ctx, f)
}

// Update commits what decide says on the newest state, all of it or nothing;
// nothing to say is no commit. decide may run more than once. The time is that
// of the commit, later than any before.
func (l *Log) Update(ctx context.Context, decide func(*State, time.Time) ([]Event, error)) error {
	return l.wholly(ctx, func() error {
		_, err := l.log.Update(ctx, func(st *State, now time.Time) ([]Event, error) {
			events, err := decide(st, now.UTC())
			if err = partly(st, err); err != nil || len(events) == 0 {
				return nil, err
			}
			if st.hash == "" && l.opts.ProjectHash != "" {
				events = append([]Event{{Open: &Opened{l.opts.ProjectRoot, l.opts.ProjectHash}}}, events...)
			}
			return events, nil
		})
		return err
	})
}

// wholly does what do does, and if a partial state was not enough for it, does
// it again on a whole one: until it is through, [Log.Refit] in the background
// makes no partial one either.
func (l *Log) wholly(ctx context.Context, do func() error) error {
	err := do()
	if _, partial := errors.AsType[*partialError](err); !partial {
		return err
	}
	l.parts.refused.Store(true) // the next one shall find a good table
	l.parts.whole.Store(true)
	l.parts.again.Add(1)
	defer l.parts.again.Add(-1)
	if err := l.log.Forget(ctx); err != nil {
		return err
	}
	return do()
}

// Refit has a long-lived ledger read from the newest snapshot, in parts: what
// was committed since the one that it reads from is in memory, and so is
// everything when there was no key table.
func (l *Log) Refit(ctx context.Context) error {
	write := l.SyncKeys
	if l.parts.refused.Load() {
		write = l.writeKeys
	}
	if err := write(ctx); err != nil {
		return err
	}
	l.parts.refused.Store(false)
	h, size, ok := l.log.SnapshotHeader()
	now := snapshotOf(h, size)
	if !ok || size < l.parts.from {
		return nil
	}
	partial, err := l.inParts(ctx)
	on := l.parts.on.Load()
	tried := l.parts.tried.Swap(&now)
	switch {
	case err != nil:
		return err
	case partial && on != nil && *on == now:
		return nil
	case !partial && tried != nil && *tried == now:
		return nil // it would be read whole again
	}
	l.parts.whole.Store(false)
	if err := l.log.Forget(ctx); err != nil {
		return err
	}
	_, err = l.inParts(ctx)
	debug.FreeOSMemory() // of the state before, and of what a new snapshot and its table took
	return err
}

// inParts tells whether the state is a partial one. If it is, its key table is
// loaded, since another one may take its place at any time.
func (l *Log) inParts(ctx context.Context) (bool, error) {
	var keys *table.Table
	err := l.View(ctx, func(st *State, _ journal.Head) error {
		if keys = nil; st.base != nil {
			keys = st.base.keys
		}
		return nil
	})
	if keys == nil {
		return false, err
	}
	keys.Load()
	return true, err
}

// Compact writes all that is known into one snapshot, and its key table.
func (l *Log) Compact(ctx context.Context) error {
	if err := l.log.Compact(ctx); err != nil {
		return err
	}
	if err := l.SyncKeys(ctx); err != nil { // the facts are safe; the table is only a cache
		l.opts.Logger.Debug("the key table was not written", "error", err)
	}
	return nil
}

// Unload writes a snapshot of what is in memory and reads from there. The
// state, which is most of the memory, goes before the table comes, which takes
// as much for a moment.
func (l *Log) Unload(ctx context.Context) error {
	if err := l.log.Compact(ctx); err != nil {
		return err
	}
	if err := l.log.Forget(ctx); err != nil {
		return err
	}
	debug.FreeOSMemory()
	return l.Refit(ctx)
}

// Purge writes everything anew and deletes what held it before, so that what
// was erased is on the disk no more.
func (l *Log) Purge(ctx context.Context) error { return l.log.Purge(ctx) }

// Stats tells the sizes of the files.
func (l *Log) Stats() journal.Stats { return l.log.Stats() }

// Warnings tells what was found damaged.
func (l *Log) Warnings() []journal.Warning { return l.log.Warnings() }

// Close ends background work and closes the files.
func (l *Log) Close() error { return l.log.Close() }
