//go:build !(linux || darwin || freebsd || dragonfly || windows)

package natsserver

import "errors"

// diskFree is not known here.
func diskFree(string) (free, size uint64, err error) { return 0, 0, errors.ErrUnsupported }

// maxFiles is how many files this process may have open; 0: that is not known.
func maxFiles() int { return 0 }
