//go:build !linux

package main

import (
	"context"
	"errors"
	"io"
)

func runClones(context.Context, []string, io.Writer) error {
	return errors.New("clones: only on Linux, which tells a process's peak memory in a known unit")
}
