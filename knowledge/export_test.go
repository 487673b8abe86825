package knowledge

// What tests look at beside the promises.
var Archivable = archivable

const (
	ArchivedAtOnce = archivedAtOnce
	SyncTail       = syncTail
	MaxQuery       = maxQuery
)

// Dir is where the store is kept.
func (s *Store) Dir() string { return s.dir }

// CloseSettled does what a command does after its answer.
func (s *Store) CloseSettled() { s.settle() }
