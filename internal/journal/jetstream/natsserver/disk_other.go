//go:build !(linux || darwin || freebsd || dragonfly || windows)

package natsserver

import "errors"

// diskFree is not known here.
func diskFree(string) (free, size uint64, err error) { return 0, 0, errors.ErrUnsupported }
