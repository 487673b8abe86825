package app

import (
	"runtime"
	"runtime/debug"
)

// A command has done what it does before there is garbage worth collecting: the
// collections of one question among 100,000 facts took 6 of its 50 ms and found
// next to nothing. So the collector rests until the heap has grown to 128 MiB,
// which is 4 MiB times restingPercent, and works as ever from the first
// collection on. In a server, and in a command that follows what happens, it
// works from the start. To turn it off was rejected: an import or an export takes
// what it is given. So was a limit of memory in its stead: what needs more than
// that would be collected without end.
const (
	usualPercent   = 100
	restingPercent = 3200
)

// rest has the collector rest, unless the user has set it (GOGC).
func rest() {
	if before := debug.SetGCPercent(restingPercent); before != usualPercent {
		debug.SetGCPercent(before)
		return
	}
	garbage := new([64]byte) // the first collection finds it
	runtime.AddCleanup(garbage, func(struct{}) { awake() }, struct{}{})
}

// awake ends the rest. What an import has set meanwhile is left alone.
func awake() {
	if now := debug.SetGCPercent(usualPercent); now != restingPercent {
		debug.SetGCPercent(now)
	}
}
