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
