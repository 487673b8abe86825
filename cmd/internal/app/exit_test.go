package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/op"
	"leanctx/internal/journal"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
)

func TestExitCode(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		ctx  context.Context
		err  error
		want int
	}{
		{t.Context(), nil, 0},
		{gone, nil, 0}, // it was done before the signal came
		{t.Context(), errors.New("no space left"), 1},
		{t.Context(), context.DeadlineExceeded, 1},
		{t.Context(), context.Canceled, 130},
		{gone, context.Canceled, 130},
		{gone, errors.New("no space left"), 1},
		{t.Context(), &refusal.HintError{Problem: "x"}, 2},
		{t.Context(), &refusal.HintError{Problem: "y"}, 2},
		{t.Context(), &op.UsageError{Problem: "x", Tool: &op.Tool{}}, 2},
		{t.Context(), &knowledge.ArgumentError{Argument: "value", Problem: "x"}, 2},
		{t.Context(), &knowledge.NotFoundError{What: "x"}, 3},
		{t.Context(), refusal.NotFound("x"), 3},
		{t.Context(), fs.ErrNotExist, 3},
		{t.Context(), journal.ErrLocked, 11},
		{t.Context(), journal.ErrCorrupt, 12},
		{t.Context(), journal.ErrNewer, 12},
		{t.Context(), fmt.Errorf("answer: %w", syscall.EPIPE), 0},
		// What says how a write ended comes before its cause.
		{t.Context(), fmt.Errorf("%w: %w", journal.ErrInDoubt, journal.ErrOffline), 1},
		{t.Context(), fmt.Errorf("%w: %w", journal.ErrInDoubt, fs.ErrNotExist), 1},
		{gone, fmt.Errorf("%w: %w", journal.ErrInDoubt, context.Canceled), 1},
		{t.Context(), fmt.Errorf("%w: %w", journal.ErrCorrupt, fs.ErrNotExist), 12},
	}
	for _, tt := range tests {
		if got := exitCode(tt.ctx, tt.err); got != tt.want {
			t.Errorf("%v: got %d, want %d", tt.err, got, tt.want)
		}
		if tt.err == nil {
			continue
		}
		if got := exitCode(tt.ctx, fmt.Errorf("knowledge: %w", tt.err)); got != tt.want {
			t.Errorf("wrapped %v: got %d, want %d", tt.err, got, tt.want)
		}
	}
}

func TestReport(t *testing.T) {
	for want, err := range map[string]error{
		"lean-ctx: error: no space left\n":                       errors.New("no space left\n"),
		"lean-ctx: error: a: b\nlean-ctx: hint: c\n":             fmt.Errorf("a: %w", &refusal.HintError{Problem: "b", Hint: "c"}),
		"lean-ctx: error: b\n":                                   &refusal.HintError{Problem: "b"},
		"lean-ctx: error: LOG: loud\nlean-ctx: hint: be quiet\n": &refusal.HintError{Problem: "LOG: loud", Hint: "be quiet"},
	} {
		var got bytes.Buffer
		r := run{errs: &got, globals: &cli.Globals{}}
		if r.report(err, 1); got.String() != want {
			t.Errorf("got %q, want %q", got.String(), want)
		}
	}
}

func TestReportAsJSON(t *testing.T) {
	home(t)
	for want, args := range map[string][]string{
		`{"error":"No fact found: [a] b","exit_code":3}`: {"knowledge", "remove", "a/b", "--json"},
		`{"error":"lean-ctx knowledge recall: unknown flag --nothing","hint":"lean-ctx knowledge recall --help lists the flags; -- ends them, for a value that begins with -","exit_code":2}`: {"knowledge", "recall", "--nothing", "--json"},
	} {
		if _, out, errs := do(t, "", args...); out != "" || errs != want+"\n" {
			t.Errorf("%q: got %s%s", args, out, errs)
		}
	}
}

func TestPanicIsAnError(t *testing.T) {
	err := execute(t.Context(), func(context.Context) error { panic("at the disco") })
	if exitCode(t.Context(), err) != failed || !strings.Contains(err.Error(), "internal error: at the disco\n") {
		t.Errorf("got %v", err)
	}
}
