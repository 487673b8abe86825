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

// LimitVectors sets how many vectors a command makes.
func (s *Store) LimitVectors(n int) { s.vectors.maxLearn, s.vectors.maxLearnServer = n, n }

// Derives is what the process does that makes index and vectors, until done.
func (s *Store) Derives() (done func(error)) { done, _ = s.derives(); return done }

// StartDetached starts that process.
func (s *Store) StartDetached() { s.work.detach() }

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
