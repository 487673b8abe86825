package knowledge

import (
	"context"
	"time"
)

// What tests look at beside the promises.
var Archivable = archivable

const (
	ArchivedAtOnce = archivedAtOnce
	SyncTail       = syncTail
	MaxQuery       = maxQuery
)

// Maintain is what a server does once a day, and consolidate each time.
func (s *Store) Maintain(ctx context.Context, force bool) (Maintained, error) {
	return s.runMaintenance(ctx, force)
}

// SyncIndex is what a server does beside its answers.
func (s *Store) SyncIndex(ctx context.Context) error { return s.syncIndex(ctx) }

// CloseSettled does what a command does after its answer.
func (s *Store) CloseSettled() { s.settle() }

// Writing has the store take n others to write at this moment, and the last look for
// conflicts to have taken so long.
func (s *Store) Writing(n int64, look time.Duration) {
	s.remembering.Store(n)
	s.advised, s.adviceTook = time.Now(), look
}

// FindingSays tells whether a text is unsure, or says that something is solved.
func FindingSays(text string) string {
	switch {
	case isUnsure(text):
		return "unsure"
	case saysSolved(text):
		return "solved"
	}
	return ""
}
