package jetstream

import "time"

// LookOnlyAtNews has followers look when a message says that there is something new, and at no other
// time.
func (s *Stream) LookOnlyAtNews() { s.look = 24 * time.Hour }
