package fact

import "time"

// MostAhead is how far the newest commit may lie ahead of the wall clock and
// still be taken for the present.
const MostAhead = time.Hour

// Now is the instant that is the present: the wall clock, or the newest commit if
// that is a little later.
func Now(clock, newest time.Time) time.Time {
	if newest.After(clock) && newest.Sub(clock) <= MostAhead {
		return newest
	}
	return clock
}

// Present is the instant that a decision is about. It is the time at which it is recorded, or
// the wall clock if a commit far ahead pushed that time on.
func Present(clock, recorded time.Time) time.Time {
	if recorded.Sub(clock) > MostAhead {
		return clock
	}
	return recorded
}
