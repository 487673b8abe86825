// Measure says how good lean-ctx's answers are and how long they take. It is not
// part of the program that is shipped.
//
//	go build -o build/ ./cmd/lean-ctx ./cmd/measure/empty
//	go run ./cmd/measure eval -program build/lean-ctx ../eval    quality, on sets with known answers
//	go run ./cmd/measure bench -program build/lean-ctx           time and space, beside floors
//	go run ./cmd/measure clones -program build/lean-ctx          a session's start in clones made to stall it
//	go run ./cmd/measure table                                   makes the table of the built-in encoder
//
// Both eval and bench use the program as its users do: as a command, or as an MCP
// server on its standard input and output. They work in a temporary directory with
// their own data directory and read nothing of the user's. Each command prints a
// table, or JSON with -json; -h lists its flags. For the size of the program that
// is shipped, build it with the flags of .goreleaser.yaml.
//
// We measure from outside because that is what a user waits for, and because the
// packages inside may then change without a change here. The price is that a call
// of a server includes some 0.1 ms of pipes and JSON; its floor includes a ping
// over the same pipes.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"leanctx/cmd/measure/table"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

const usage = "usage: measure eval -program FILE DIR | bench -program FILE | clones -program FILE | table (-h lists the flags of each)"

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	switch args[0] {
	case "eval":
		return runEval(ctx, args[1:], out)
	case "bench":
		return runBench(ctx, args[1:], out)
	case "clones":
		return runClones(ctx, args[1:], out)
	case "table":
		return table.Main(args[1:])
	}
	return errors.New(usage)
}

// list is a flag that may be repeated, or hold several values with commas.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*l = append(*l, part)
		}
	}
	return nil
}

func progress(format string, a ...any) { fmt.Fprintf(os.Stderr, "measure: "+format+"\n", a...) }

// show prints a report as text or as JSON.
func show(out io.Writer, report interface{ Text() string }, asJSON bool) error {
	text := report.Text()
	if asJSON {
		data, err := json.MarshalIndent(report, "", " ")
		if err != nil {
			return err
		}
		text = string(data) + "\n"
	}
	_, err := io.WriteString(out, text)
	return err
}
