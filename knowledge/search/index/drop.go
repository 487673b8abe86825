package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// sweep takes away what no one will open any more: older generations, and what a killed Sync left. Another
// process that has not yet read what it needs of an older one finds it gone and opens the newest. Called under
// the lock.
func (x *Index) sweep(newest uint64) {
	entries, err := os.ReadDir(x.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		n, mapping, ok := parseGeneration(e.Name())
		old := ok && mapping <= mappingVersion && n < newest
		if old || strings.HasPrefix(e.Name(), tempPrefix) || e.Name() == partName {
			if err := os.RemoveAll(filepath.Join(x.dir, e.Name())); err != nil {
				x.logger.Debug("old index generation stays", "error", err)
			}
		}
	}
}

// dropWait is how long Drop waits for a Sync under way.
const dropWait = 5 * time.Second

// Drop takes all generations off the disk and forgets what was read of them; what is in memory stays. It
// waits for a Sync of another process, five seconds at most.
func (x *Index) Drop() error {
	x.mu.Lock()
	x.stored, x.removed = nil, map[string]bool{}
	x.mu.Unlock()
	if _, err := os.Stat(x.dir); x.dir == "" || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	unlock, err := waitLock(context.Background(), filepath.Join(x.dir, lockName), dropWait)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(x.dir)
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == lockName })
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(x.dir, e.Name())))
	}
	return errors.Join(err, unlock())
}

// errBusy says that another process holds index.lock.
var errBusy = errors.New("the index is being written by another process; try again")

func waitLock(ctx context.Context, path string, patience time.Duration) (unlock func() error, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%s: %w", path, errBusy))
	defer cancel()
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		unlock, held, err := lock(path)
		if err != nil || held {
			tick.Stop()
			return unlock, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			tick.Stop()
			return nil, context.Cause(ctx)
		}
	}
}
