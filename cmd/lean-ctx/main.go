// Lean-ctx keeps facts over time for the agents of a project: an MCP server
// and a command line with the same operations.
package main

import (
	"context"
	"os"

	"leanctx/cmd/internal/app"
)

func main() {
	os.Exit(app.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
