package atomicfile

import (
	"io/fs"
	"os"
	"time"
)

// settledAge is how old a file is whose time tells it from a later one of the same size. The clocks of file
// systems have steps of some milliseconds.
const settledAge = time.Second

// Settled reports whether a file was last written so long ago that a later write shows in its time. What was read
// of a younger one must be read again.
func Settled(info fs.FileInfo, now time.Time) bool {
	return info.ModTime().Before(now.Add(-settledAge))
}

// Unchanged reports whether a file is the one of an earlier look: neither replaced nor written. Both may be nil,
// where there is no file.
func Unchanged(before, now fs.FileInfo) bool {
	if before == nil || now == nil {
		return before == now
	}
	return os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}
