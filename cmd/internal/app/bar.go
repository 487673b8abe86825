package app

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/op"
)

const barWidth = 30

// withBar has a long operation's progress drawn on a terminal. Elsewhere nobody
// is told.
func withBar(ctx context.Context, errs io.Writer) context.Context {
	if !cli.Terminal(errs) {
		return ctx
	}
	return op.WithProgress(ctx, bar(errs, time.Second))
}

// bar draws a bar, from some time after the first call on, and takes it away at
// the end.
func bar(out io.Writer, after time.Duration) func(done, total int) {
	var start, last time.Time
	return func(done, total int) {
		now := time.Now()
		if start.IsZero() {
			start = now
		}
		drawn := !last.IsZero()
		switch {
		case done >= total:
			if drawn {
				fmt.Fprint(out, "\r\033[K")
			}
			start, last = time.Time{}, time.Time{}
		case now.Sub(start) >= after && (!drawn || now.Sub(last) >= 100*time.Millisecond):
			last = now
			full := done * barWidth / total
			fmt.Fprintf(out, "\r[%s%s] %d of %d", strings.Repeat("#", full), strings.Repeat(" ", barWidth-full), done, total)
		}
	}
}
