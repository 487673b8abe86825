//go:build !linux

package jetstream_test

import (
	"errors"
	"testing"
)

func smallDisk(*testing.T, string, int) error { return errors.ErrUnsupported }
