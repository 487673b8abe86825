package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
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

// report prints what went wrong and, apart, what to do about it. Under --json it
// is one object; the flag counts also where the command line could not be read.
func (r *run) report(err error, code int) {
	text, hint := strings.TrimRight(err.Error(), "\n"), ""
	if h, ok := errors.AsType[hinted](err); ok {
		hint = h.Hint()
	}
	if r.globals.JSON || slices.Contains(r.args, "--json") {
		e := json.NewEncoder(r.errs)
		e.SetEscapeHTML(false)
		_ = e.Encode(struct { // nobody is left to be told of an error
			Error string `json:"error"`
			Hint  string `json:"hint,omitempty"`
			Code  int    `json:"exit_code"`
		}{text, hint, code})
		return
	}
	fmt.Fprintf(r.errs, "%s: error: %s\n", cli.Name, text)
	if hint != "" {
		fmt.Fprintf(r.errs, "%s: hint: %s\n", cli.Name, hint)
	}
}
