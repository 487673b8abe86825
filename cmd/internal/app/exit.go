package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
)

// The exit codes, and the only place that knows them.
const (
	done        = 0
	failed      = 1
	usage       = 2
	notFound    = 3
	warned      = 4 // only under --strict
	locked      = 11
	unreadable  = 12 // corrupt, or written by a newer version
	interrupted = 130
)

// exitCode is what err means to a shell.
func exitCode(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return done
	case errors.Is(err, syscall.EPIPE):
		// Whoever read the output has seen enough; what was to be done is done.
		return done
	case is[*cli.UsageError](err), is[*config.Error](err):
		return usage
	case errors.Is(err, fs.ErrNotExist):
		return notFound
	}
	switch op.Classify(err) {
	case op.Usage:
		return usage
	case op.NotFound:
		return notFound
	case op.Locked:
		return locked
	case op.Unreadable:
		return unreadable
	case op.Interrupted:
		return interrupted
	}
	return failed
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// hinted is an error that knows what to do about it.
type hinted interface {
	error
	Hint() string
}

// report prints what went wrong and, apart, what to do about it.
func report(w io.Writer, err error) {
	fmt.Fprintf(w, "%s: error: %s\n", cli.Name, strings.TrimRight(err.Error(), "\n"))
	if h, ok := errors.AsType[hinted](err); ok && h.Hint() != "" {
		fmt.Fprintf(w, "%s: hint: %s\n", cli.Name, h.Hint())
	}
}
