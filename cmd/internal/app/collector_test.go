package app

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// percent is what the collector is set to.
func percent() int {
	p := debug.SetGCPercent(usualPercent)
	debug.SetGCPercent(p)
	return p
}

// A command's collector rests until its first collection; a server's does not;
// and what a user has set stays.
func TestCollector(t *testing.T) {
	before := debug.SetGCPercent(usualPercent)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	deferGC()
	if got := percent(); got != deferredPercent {
		t.Errorf("a command begins with %d, want %d", got, deferredPercent)
	}
	runtime.GC()
	for until := time.Now().Add(time.Minute); percent() != usualPercent; runtime.Gosched() {
		if time.Now().After(until) {
			t.Fatalf("after a collection it is %d, want %d", percent(), usualPercent)
		}
	}
	deferGC()
	if restoreGC(); percent() != usualPercent {
		t.Errorf("a server begins with %d, want %d", percent(), usualPercent)
	}
	const chosen = 70
	debug.SetGCPercent(chosen)
	deferGC()
	if percent() != chosen {
		t.Errorf("rest made %d of %d", percent(), chosen)
	}
	restoreGC()
	if percent() != chosen {
		t.Errorf("awake made %d of %d", percent(), chosen)
	}
}
