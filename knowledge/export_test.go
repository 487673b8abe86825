package knowledge

// What tests look at beside the promises.
var Archivable = archivable

const (
	ArchivedAtOnce = archivedAtOnce
	SyncTail       = syncTail
	MaxQuery       = maxQuery
)

// CloseSettled does what a command does after its answer.
func (s *Store) CloseSettled() { s.settle() }

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
