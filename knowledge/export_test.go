package knowledge

import "context"

// What tests look at beside the promises.
var Archivable = archivable

const (
	ArchivedAtOnce = archivedAtOnce
	SyncTail       = syncTail
	MaxQuery       = maxQuery
)

// Maintain is what a server does once a day, and consolidate each time.
func (s *Store) Maintain(ctx context.Context, force bool) (Maintained, error) {
	return maintenance{s, force}.run(ctx)
}

// SyncIndex is what a server does beside its answers.
func (s *Store) SyncIndex(ctx context.Context) error { return s.log.Sync(ctx, syncTail, nil) }

// CloseSettled does what a command does after its answer.
func (s *Store) CloseSettled() { s.work.settle() }

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
