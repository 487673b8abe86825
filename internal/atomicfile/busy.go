//go:build !windows

package atomicfile

// RetryBusy runs do once: a file that another program has open can be renamed and removed here.
func RetryBusy(do func() error) error { return do() }
