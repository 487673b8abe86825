package ledger

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"leanctx/internal/journal"
	"leanctx/knowledge/table"
)

// SyncKeys writes the key table of the snapshot if there is none yet and the
// snapshot is large enough for one. It is for whoever is in no hurry: it reads
// all of the snapshot, though never more than a piece of it at a time.
func (l *Log) SyncKeys(ctx context.Context) error {
	h, size, ok := l.log.SnapshotHeader()
	if !ok || size < l.parts.from || l.parts.names() == snapshotOf(h, size) {
		return nil
	}
	return l.writeKeys(ctx)
}

// SettleKeys writes the key table that was missing, or no good, when the state
// was read: the next command shall find one. There is nothing to do otherwise.
func (l *Log) SettleKeys(ctx context.Context) error {
	if !l.parts.refused.Load() && l.parts.made.Load() == nil {
		return nil
	}
	return l.writeKeys(ctx)
}

// writeKeys writes the key table of the snapshot, whatever stands there.
func (l *Log) writeKeys(ctx context.Context) error {
	if err := l.parts.writable(); err != nil {
		return err // before all of the snapshot is read for nothing
	}
	data, of, err := l.buildKeys(ctx)
	if err != nil {
		return err
	}
	if err := l.parts.write(data); err != nil {
		return err
	}
	// The snapshot may have been replaced meanwhile, because a fact was erased:
	// then its name must not stay here. Who erases deletes the table after that,
	// so one of the two sees what the other did.
	if h, size, ok := l.log.SnapshotHeader(); !ok || snapshotOf(h, size) != of {
		return l.parts.drop()
	}
	return nil
}

// buildKeys is the table of the snapshot, the one that was made to read from it if there is one.
func (l *Log) buildKeys(ctx context.Context) (data []byte, of table.Snapshot, err error) {
	if made := l.parts.made.Swap(nil); made != nil {
		if h, size, ok := l.log.SnapshotHeader(); ok && snapshotOf(h, size) == made.of {
			return made.data, made.of, nil
		}
	}
	err = l.log.ReadSnapshot(func(r io.Reader, size int64, h journal.Header) (err error) {
		of = snapshotOf(h, size)
		data, err = table.Build(ctx, r, of)
		return err
	})
	return data, of, err
}

// names is the snapshot that the table on disk says it is of.
func (p *partials) names() table.Snapshot {
	f, err := os.Open(p.path())
	if err != nil {
		return table.Snapshot{}
	}
	defer f.Close()
	var start [table.HeaderSize]byte
	n, _ := f.ReadAt(start[:], 0)
	of, _ := table.Names(start[:n])
	return of
}

// writable makes the directory and the file that a table is written to first.
func (p *partials) writable() error {
	if err := os.MkdirAll(filepath.Dir(p.path()), 0o700); err != nil {
		return err
	}
	return os.WriteFile(p.path()+".new", nil, 0o600)
}

// write puts a table in its place, whole. It needs no fsync: one that did not
// reach the disk is found out by its checksum.
func (p *partials) write(data []byte) error {
	temp := p.path() + ".new"
	err := os.WriteFile(temp, data, 0o600)
	if err == nil {
		err = os.Rename(temp, p.path())
	}
	if err != nil {
		return errors.Join(err, p.drop())
	}
	return nil
}

// drop takes the table off the disk.
func (p *partials) drop() error {
	var all error
	for _, name := range []string{p.path(), p.path() + ".new"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}
