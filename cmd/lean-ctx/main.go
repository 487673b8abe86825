// Lean-ctx keeps facts over time for the agents of a project: an MCP server
// and a command line with the same operations.
package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"

	"leanctx/cmd/internal/app"
)

func main() {
	deferGC()
	os.Exit(app.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// deferGC has no garbage collected before the program uses 64 MB. Most commands end before that, and
// the collections would take a tenth of their processor time. After the first one all is as usual.
func deferGC() {
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(limit, 64<<20))
	runtime.AddCleanup(&struct{ unreachable *int }{}, func(struct{}) {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}, struct{}{})
}
